"""A spiral galaxy of anisotropic 2D Gaussians, composited front to back."""

import math

import torch
from torch import Tensor

from renderers import Pixels, param, renderer

ARMS, PER_ARM, BULGE = 2, 88, 16
CHUNK = 16  # splats whose footprints are held at once: the memory knob
SPACE = (0.004, 0.006, 0.018)


@renderer(channels="rgb")
class Gaussians:
    """A shipped set of 192 Gaussian splats, the nearest composited first.

    With `m_i`, `S_i` and `z_i` the mean, covariance and depth of splat `i` in the picture plane::

        q_i   = shift + scale R(rotation) (m_i + camera / z_i)        centre on the frame
        a_i   = opacity o_i exp(-1/2 (p - q_i)^T (size^2 scale^2 R S_i R^T)^-1 (p - q_i))
        T_i   = product of (1 - a_j) over the splats in front
        image = gain sum_i T_i a_i c_i + T_end space

    Moving the camera shifts near splats more than far ones (parallax); the order in depth does
    not change. The picture is a spiral galaxy, drawn once from a fixed seed.

    Sources: B. Kerbl et al., "3D Gaussian splatting for real-time radiance field rendering", 2023,
    doi:10.1145/3592433; M. Zwicker et al., "EWA volume splatting", 2001,
    doi:10.1109/VISUAL.2001.964490.

    Smooth in every parameter within the bounds: nothing is culled, clamped or re-sorted.
    """

    def __init__(self, device: torch.device, dtype: torch.dtype) -> None:
        """Place the splats on the device, sorted by depth."""
        splats = torch.cat([_arms(), _bulge()])
        splats = splats[torch.argsort(splats[:, 2])].to(device=device, dtype=dtype)
        self.mean, self.depth = splats[:, 0:2], splats[:, 2]
        self.angle, self.axes = splats[:, 3], splats[:, 4:6]
        self.opacity, self.colour = splats[:, 6], splats[:, 7:10]

    def render(
        self,
        pixels: Pixels,
        scale: Tensor = param(1.0, low=0.3, high=3.0, help="of the whole picture"),
        size: Tensor = param(1.0, low=0.3, high=2.5, help="of each splat about its centre"),
        rotation: Tensor = param(0.0, low=-math.pi, high=math.pi, unit="rad", help="to the left"),
        shift: Tensor = param((0.0, 0.0), low=-2.0, high=2.0, unit="scene unit", help="x and y"),
        camera: Tensor = param(
            (0.0, 0.0), low=-0.5, high=0.5, unit="scene unit", help="sideways, for parallax"
        ),
        opacity: Tensor = param(0.85, low=0.0, high=1.0, help="of every splat"),
        gain: Tensor = param((1.0, 1.0, 1.0), low=0.0, high=4.0, help="of red, green and blue"),
    ) -> Tensor:
        """The image at the pixels, shape `(*pixels, 3)`."""
        cos, sin = torch.cos(rotation), torch.sin(rotation)
        moved = self.mean - camera / self.depth[:, None]
        qx = shift[0] + scale * (cos * moved[:, 0] - sin * moved[:, 1])
        qy = shift[1] + scale * (sin * moved[:, 0] + cos * moved[:, 1])
        turned, reach = self.angle + rotation, 1.0 / (scale * size * self.axes)
        ux, uy = torch.cos(turned), torch.sin(turned)
        along, across = reach[:, 0], reach[:, 1]
        whitened = torch.stack([ux * along, uy * along, -uy * across, ux * across, qx, qy])

        clear = torch.ones_like(pixels.x)
        light = [torch.zeros_like(pixels.x) for _ in range(3)]
        for start in range(0, len(self.depth), CHUNK):
            alphas = self._alphas(pixels, whitened, opacity, slice(start, start + CHUNK))
            for i, alpha in enumerate(alphas.unbind()):
                weight = clear * alpha
                light = [c + weight * self.colour[start + i, k] for k, c in enumerate(light)]
                clear = clear - weight
        return torch.stack([gain[k] * light[k] + clear * SPACE[k] for k in range(3)], dim=-1)

    def _alphas(self, pixels: Pixels, whitened: Tensor, opacity: Tensor, chunk: slice) -> Tensor:
        """Opacity of each splat of a chunk at each pixel, shape `(splats, *pixels)`."""
        shape = (-1,) + (1,) * pixels.x.dim()
        ax, ay, bx, by, qx, qy = (row.reshape(shape) for row in whitened[:, chunk].unbind())
        x, y = pixels.x - qx, pixels.y - qy
        a, b = ax * x + ay * y, bx * x + by * y
        bell = torch.exp(-0.5 * (a * a + b * b))
        peak = (opacity * self.opacity[chunk]).reshape(shape)
        return bell * peak


def _arms() -> Tensor:
    """Splats along two logarithmic spirals: blue stars, and some pink clouds of gas."""
    draw = torch.Generator().manual_seed(7)
    count = ARMS * PER_ARM
    uniform = torch.rand(count, 6, generator=draw, dtype=torch.float64)
    along = (torch.arange(count) % PER_ARM + uniform[:, 0]) / PER_ARM
    arm = torch.arange(count) // PER_ARM * (math.tau / ARMS)
    radius = 0.12 * torch.exp(2.0 * along) + 0.16 * (0.3 + along) * (uniform[:, 1] - 0.5)
    angle = arm + 4.6 * along + 0.35 * (uniform[:, 2] - 0.5)
    length, breadth = 0.03 + 0.06 * along, 0.012 + 0.03 * along * (0.4 + uniform[:, 3])
    blue = torch.tensor((0.42, 0.62, 1.0), dtype=torch.float64)
    pink = torch.tensor((1.0, 0.36, 0.55), dtype=torch.float64)
    gas = (uniform[:, 4:5] < 0.22).double()
    small = 1.0 - 0.55 * gas[:, 0]
    colour = (1.15 - 0.5 * along[:, None]) * (blue + gas * (pink - blue))
    opacity = (0.30 + 0.45 * uniform[:, 5]) * (1.1 - 0.6 * along)
    return _inclined(radius, angle, length * small, breadth * small, opacity, colour)


def _bulge() -> Tensor:
    """Splats around the centre: old, yellow stars."""
    draw = torch.Generator().manual_seed(11)
    uniform = torch.rand(BULGE, 4, generator=draw, dtype=torch.float64)
    radius, angle = 0.12 * uniform[:, 0], math.tau * uniform[:, 1]
    length = 0.03 + 0.13 * uniform[:, 2]
    yellow = torch.tensor((1.0, 0.80, 0.50), dtype=torch.float64)
    colour = yellow * (0.7 + 0.6 * (0.3 - radius[:, None]))
    return _inclined(radius, angle, length, 0.7 * length, 0.16 + 0.25 * uniform[:, 3], colour)


def _inclined(
    radius: Tensor, angle: Tensor, length: Tensor, breadth: Tensor, opacity: Tensor, colour: Tensor
) -> Tensor:
    """One row a splat (mean 2, depth, angle, axes 2, opacity, colour 3) on a disc seen aslant."""
    x, y = radius * torch.cos(angle), radius * torch.sin(angle)
    tangent = torch.atan2(0.62 * torch.cos(angle - 0.35), -torch.sin(angle - 0.35))
    columns = (x, 0.62 * y, 2.0 + 0.78 * y, tangent, length, breadth, opacity)
    return torch.cat([torch.stack(columns, dim=1), colour], dim=1)
