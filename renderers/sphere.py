"""A shaded, banded sphere with a soft silhouette."""

import torch
from torch import Tensor

from renderers import Pixels, param, renderer
from renderers._smooth import safe_sqrt, soft_relu, soft_step
from renderers._vectors import Vector, dot, from_entries, unit

BAND = (0.96, 0.88, 0.72)  # colour between the bands of `albedo`
RIM = (0.10, 0.22, 0.42)  # light of the sky that grazes the edge
GLOW, EDGE = (0.16, 0.20, 0.29), (0.03, 0.04, 0.07)  # backdrop, middle and far
TERMINATOR = 0.15  # width, as a cosine, over which the shadow side begins


@renderer(channels="rgb")
def sphere(  # noqa: PLR0913 - the arguments are the declaration
    pixels: Pixels,
    radius: Tensor = param(0.7, low=0.1, high=1.5, unit="scene unit", help="radius of the sphere"),
    centre: Tensor = param((0.0, 0.0), low=-1.5, high=1.5, unit="scene unit", help="x and y"),
    light: Tensor = param((-0.6, 0.7, 0.65), low=-2.0, high=2.0, help="direction to the light"),
    albedo: Tensor = param((0.80, 0.26, 0.12), low=0.0, high=1.0, help="colour of the bands"),
    ambient: Tensor = param(0.10, low=0.0, high=1.0, help="light from everywhere"),
    diffuse: Tensor = param(1.0, low=0.0, high=2.0, help="strength of the light"),
    specular: Tensor = param(0.6, low=0.0, high=2.0, help="strength of the highlight"),
    shininess: Tensor = param(60.0, low=2.0, high=400.0, help="exponent of the highlight"),
    frequency: Tensor = param(11.0, low=0.0, high=40.0, unit="rad/radius", help="of the bands"),
    contrast: Tensor = param(0.8, low=0.0, high=1.0, help="of the bands"),
    exposure: Tensor = param(0.6, low=-4.0, high=4.0, unit="EV", help="doublings of brightness"),
    softness: Tensor = param(
        0.02, low=0.002, high=0.2, unit="scene unit", help="width of the silhouette, inwards"
    ),
) -> Tensor:
    """A banded sphere under one light, seen in parallel projection.

    With `n` the unit normal, `l` and `h` the unit vectors to the light and half-way between
    light and viewer, `m` the bands and `c` the coverage::

        surface  = colour(m) (ambient + diffuse max(n.l, 0)) + specular exp(shininess (n.h - 1))
        image    = background + c (1 - exp(-2^exposure surface) - background)
        c        = step((1 - |p - centre|^2 / radius^2) radius / (2 softness))

    `max` is rounded and the highlight is the spherical Gaussian that equals `(n.h)^shininess`
    near its peak, so that both are smooth. The silhouette lies inside the radius: `c` is 0 with
    its slope where `n` turns edge-on, which hides the infinite slope of the normal there.

    Sources: B. T. Phong, "Illumination for computer generated pictures", 1975,
    doi:10.1145/360825.360839; J. Wang et al., "All-frequency rendering of dynamic,
    spatially-varying reflectance", 2009, doi:10.1145/1618452.1618479 (Gaussian lobe).

    Not differentiable at a `light` of length zero. The second derivative jumps where the
    coverage reaches 0 and 1.
    """
    normal, inside = _normal(pixels, radius, centre)
    coverage = soft_step(inside * (radius / (2.0 * softness)))

    towards = unit(from_entries(light))
    facing = dot(normal, towards)
    lit = ambient + diffuse * soft_relu(facing, TERMINATOR)
    lobe = shininess * ((facing + normal.z) * torch.rsqrt(2.0 + 2.0 * towards.z) - 1.0)
    highlight = specular * torch.exp(torch.clamp(lobe, max=0.0))  # above 0 outside the sphere
    rim = (1.0 - normal.z) ** 2

    bands = _bands(normal, frequency, contrast)
    gain = -torch.exp2(exposure)
    glow = torch.exp(-0.9 * (pixels.x * pixels.x + pixels.y * pixels.y))

    def channel(i: int) -> Tensor:
        paint = bands * (albedo[i] - BAND[i]) + BAND[i]
        surface = lit * paint + (highlight + rim * RIM[i])
        background = glow * (GLOW[i] - EDGE[i]) + EDGE[i]
        return background + coverage * ((1.0 - background) - torch.exp(surface * gain))

    return torch.stack([channel(i) for i in range(3)], dim=-1)


def _normal(pixels: Pixels, radius: Tensor, centre: Tensor) -> tuple[Vector, Tensor]:
    """Unit normal, and the square of its z that goes on below 0 outside the sphere."""
    x, y = (pixels.x - centre[0]) / radius, (pixels.y - centre[1]) / radius
    inside = 1.0 - (x * x + y * y)
    return Vector(x, y, safe_sqrt(inside, 1e-6)), inside


def _bands(normal: Vector, frequency: Tensor, contrast: Tensor) -> Tensor:
    """Amount of `albedo` in the paint: parallels of latitude, stirred by a slower wave."""
    stir = torch.sin(0.3 * frequency * (normal.x + 0.6 * normal.z))
    wave = torch.sin(frequency * (normal.y + 0.12 * normal.x) + 1.6 * stir)
    return 1.0 - contrast * (0.5 - 0.5 * wave)
