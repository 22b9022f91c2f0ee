"""A ball melting into a ring, sphere-traced, with soft shadow and ambient occlusion."""

from typing import NamedTuple, Self

import torch
from torch import Tensor

from renderers import Pixels, param, renderer
from renderers._smooth import logistic, safe_sqrt, soft_min, soft_relu, soft_step
from renderers._tracing import first_hit, light_seen, openness
from renderers._vectors import Vector, along, dot, from_entries, orbit, unit

GROUND = -0.62  # height of the floor, scene units
BOUND = 1.9  # everything but the floor is nearer to the origin, scene units
HAZE = 9.0  # distance over which the floor turns into the backdrop, scene units
FLOOR, SKY, DUSK = (0.36, 0.35, 0.36), (0.50, 0.68, 1.00), (0.42, 0.40, 0.44)


class BallInRing(NamedTuple):
    """Exponential smooth union of a ball at the origin and a ring that lies on the floor."""

    ball: Tensor
    ring: Tensor
    thickness: Tensor
    blend: Tensor

    def still(self) -> Self:
        """The same solid as a constant."""
        return type(self)(*(number.detach() for number in self))

    def parts(self, point: Vector) -> tuple[Tensor, Tensor]:
        """Distances to the ball and to the ring."""
        axis2 = point.x * point.x + point.z * point.z
        out, up = safe_sqrt(axis2) - self.ring, point.y - (self.thickness + GROUND)
        ball = safe_sqrt(axis2 + point.y * point.y) - self.ball
        return ball, safe_sqrt(out * out + up * up) - self.thickness

    def distance(self, point: Vector) -> Tensor:
        """Lower bound of the distance to the surface."""
        return soft_min(*self.parts(point), self.blend)

    def gradient(self, point: Vector) -> Vector:
        """Gradient of `distance`."""
        return self.gradient_and_share(point)[0]

    def gradient_and_share(self, point: Vector) -> tuple[Vector, Tensor]:
        """Gradient of `distance`, and the weight of the ring in it, 0 to 1."""
        axis2 = point.x * point.x + point.z * point.z
        axis, radius = safe_sqrt(axis2), safe_sqrt(axis2 + point.y * point.y)
        out, up = axis - self.ring, point.y - (self.thickness + GROUND)
        tube = safe_sqrt(out * out + up * up)
        share = logistic(((radius - self.ball) - (tube - self.thickness)) / self.blend)
        of_ball, of_ring = (1.0 - share) / radius, share / tube
        outwards = of_ball + of_ring * out / axis
        gradient = Vector(point.x * outwards, point.y * of_ball + up * of_ring, point.z * outwards)
        return gradient, share


@renderer(channels="rgb")
def sdf_scene(  # noqa: PLR0913 - the arguments are the declaration
    pixels: Pixels,
    ball: Tensor = param(0.55, low=0.2, high=0.9, unit="scene unit", help="radius of the ball"),
    ring: Tensor = param(0.66, low=0.4, high=1.0, unit="scene unit", help="radius of the ring"),
    thickness: Tensor = param(
        0.16, low=0.05, high=0.35, unit="scene unit", help="half the ring's thickness"
    ),
    blend: Tensor = param(
        0.05, low=0.01, high=0.25, unit="scene unit", help="width over which ball and ring melt"
    ),
    light: Tensor = param((-0.7, 1.0, 0.55), low=-2.0, high=2.0, help="direction to the light"),
    penumbra: Tensor = param(
        0.18, low=0.02, high=0.6, unit="rad", help="angle over which a shadow begins"
    ),
    ball_colour: Tensor = param((0.95, 0.32, 0.10), low=0.0, high=1.0, help="paint of the ball"),
    ring_colour: Tensor = param((0.06, 0.33, 0.46), low=0.0, high=1.0, help="paint of the ring"),
    gloss: Tensor = param(70.0, low=4.0, high=400.0, help="exponent of the highlight"),
    ambient: Tensor = param(0.45, low=0.0, high=2.0, help="light from the sky"),
    exposure: Tensor = param(1.1, low=-4.0, high=4.0, unit="EV", help="doublings of brightness"),
    distance: Tensor = param(4.2, low=2.5, high=8.0, unit="scene unit", help="eye to the origin"),
    elevation: Tensor = param(27.0, low=5.0, high=80.0, unit="degree", help="of the eye"),
    azimuth: Tensor = param(20.0, low=-180.0, high=180.0, unit="degree", help="of the eye"),
    view: Tensor = param(32.0, low=10.0, high=70.0, unit="degree", help="angle of view"),
    softness: Tensor = param(
        0.15, low=0.05, high=0.5, help="cosine of view and normal at which silhouettes fade"
    ),
) -> Tensor:
    """A ball and a ring under an exponential smooth union `f`, on a floor that fades into haze.

    Rays `o + t d` are marched by `t += f` (sphere tracing) and polished by Newton steps, all
    without derivatives. One last Newton step carries them::

        t = t* - f(o + t* d; p) / (grad f . d)*        (* held constant)

    whose derivative is that of the implicit function `t(p)`, at the cost of one evaluation. The
    shadow looks along the light at fixed distances `s` for the smallest `f / s`, again without
    derivatives, and evaluates only that one with them (envelope theorem).

    Sources: J. C. Hart, "Sphere tracing", 1996, doi:10.1007/s003710050084; M. Niemeyer et al.,
    "Differentiable volumetric rendering", 2020, doi:10.1109/CVPR42600.2020.00356, and L. Yariv
    et al., "Multiview neural surface reconstruction", 2020, arXiv:2003.09852 (implicit step);
    I. Quilez, https://iquilezles.org/articles/rmshadows/ and .../smin/.

    Silhouettes have a derivative: the object fades where the view grazes it, with the coverage
    `step((n.d)^2 / softness^2)`, and two layers are traced, so that what it hides shows through,
    be it floor, backdrop or the object itself.

    Not differentiable where three layers meet in a contour: the third is not traced; nor where
    the view grazes the object over more than 0.4 scene units, for what is behind shows or not. The
    derivative with respect to anything that moves the shadow jumps where another of its fixed
    distances becomes the nearest. Nor at a `light` of length 0.
    """
    solid = BallInRing(ball, ring, thickness, blend)
    eye, ray = orbit(pixels, distance=distance, elevation=elevation, azimuth=azimuth, view=view)
    lamp = Lamp(unit(from_entries(light)), penumbra, ambient)
    coat = Coat(ball_colour, ring_colour, gloss, softness)

    near, hit = first_hit(solid, eye, ray, BOUND)
    far, hit_again = first_hit(solid, eye, ray, BOUND, after=near)
    colours = _floor(solid, eye, ray, lamp)
    for t, found in ((far, hit_again), (near, hit)):
        front, coverage = coat.seen(solid, along(eye, t, ray), ray, lamp)
        cover = found * coverage
        colours = [c + cover * (f - c) for c, f in zip(colours, front, strict=True)]
    gain = -torch.exp2(exposure)
    return torch.stack([1.0 - torch.exp(gain * c) for c in colours], dim=-1)


class Lamp(NamedTuple):
    """A distant lamp of some angular size, under an even sky."""

    towards: Vector
    penumbra: Tensor
    ambient: Tensor

    def on(self, solid: BallInRing, point: Vector, normal: Vector) -> tuple[Tensor, Tensor]:
        """Light of the lamp and of the sky that arrives at a surface."""
        sun = soft_relu(dot(normal, self.towards), 0.05)
        sky = self.ambient * (0.6 + 0.4 * normal.y)
        seen = light_seen(solid, point, self.towards, self.penumbra)
        return sun * seen, sky * openness(solid, point, normal)


class Coat(NamedTuple):
    """Paint of the solid, its gloss, and how it fades where the view grazes it."""

    ball: Tensor
    ring: Tensor
    gloss: Tensor
    softness: Tensor

    def seen(
        self, solid: BallInRing, point: Vector, ray: Vector, lamp: Lamp
    ) -> tuple[list[Tensor], Tensor]:
        """Red, green and blue light from a point of the surface, and its coverage."""
        gradient, share = solid.gradient_and_share(point)
        normal = unit(gradient)
        facing = torch.clamp(dot(normal, ray), max=0.0)
        sun, sky = lamp.on(solid, point, normal)
        shine = sun * _highlight(normal, ray, lamp.towards, self.gloss)
        shine = shine + sky * _sheen(normal, ray, facing)
        paint = [self.ball[i] + share * (self.ring[i] - self.ball[i]) for i in range(3)]
        colours = [p * (sun + sky * s) + shine for p, s in zip(paint, SKY, strict=True)]
        return colours, soft_step((facing / self.softness) ** 2)


def _highlight(normal: Vector, ray: Vector, towards: Vector, gloss: Tensor) -> Tensor:
    """Gaussian lobe around the half-way vector, close to `(n.h)^gloss`."""
    half = unit(Vector(towards.x - ray.x, towards.y - ray.y, towards.z - ray.z))
    return torch.exp(gloss * (dot(normal, half) - 1.0))


def _sheen(normal: Vector, ray: Vector, facing: Tensor) -> Tensor:
    """Mirror image of a bright upper half space, by Schlick's Fresnel factor (with a cube)."""
    upwards = ray.y - 2.0 * facing * normal.y
    fresnel = 0.06 + 0.7 * (1.0 + facing) ** 3
    return fresnel * logistic(9.0 * upwards)


def _floor(solid: BallInRing, eye: Vector, ray: Vector, lamp: Lamp) -> list[Tensor]:
    """Light from the floor, which the haze turns into the backdrop."""
    reach = (eye.y - GROUND) / torch.clamp(-ray.y, min=1e-2)
    clear = torch.exp(-((reach / HAZE) ** 2))
    upwards = Vector(torch.zeros_like(ray.y), torch.ones_like(ray.y), torch.zeros_like(ray.y))
    sun, sky = lamp.on(solid, along(eye, reach, ray), upwards)
    height = logistic(8.0 * ray.y + 1.0)
    backdrop = [d + height * (s - d) for s, d in zip(SKY, DUSK, strict=True)]
    floor = [f * (sun + sky * s) for s, f in zip(SKY, FLOOR, strict=True)]
    return [b + clear * (f - b) for b, f in zip(backdrop, floor, strict=True)]
