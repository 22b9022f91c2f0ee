"""Sphere tracing of a solid given by a distance field, with derivatives where they belong.

Searches (the march, the nearest sample of a shadow) run on constants: a derivative through them
would cost as much as the search and carry its noise. What they find is then evaluated once with
derivatives.
"""

from typing import Protocol, Self

import torch
from torch import Tensor

from renderers._smooth import safe_sqrt, soft_step
from renderers._vectors import Vector, along, constant, dot

MARCH_STEPS, NEWTON_STEPS = 40, 4
TOLERANCE = 1e-4  # a ray that ends farther than this from the surface has missed it, scene units
STEEPEST = -0.02  # Newton steps divide by no cosine nearer to 0: grazing rays stay in place
CHORD_STEPS, CHORD_STEP, CLEAR = 8, 0.03, 0.004  # the way out of a grazed solid, scene units
CHORD_GROWTH = 1.15  # longer and longer steps: 0.41 in all, where surfaces cover what is behind
SHADOW_SAMPLES, SHADOW_NEAR, SHADOW_FAR = 24, 0.04, 2.6
TAPS = (0.12, 0.45)  # distances at which ambient occlusion looks around


class Solid(Protocol):
    """A distance field that depends on parameters: negative inside, slope at most 1."""

    def distance(self, point: Vector) -> Tensor:
        """Distance to the surface, or less."""

    def gradient(self, point: Vector) -> Vector:
        """Gradient of `distance` with respect to the point."""

    def still(self) -> Self:
        """The same solid as a constant."""


def first_hit(
    solid: Solid, origin: Vector, ray: Vector, bound: float, after: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Distance at which each ray enters the solid, and whether it does (1 or 0, a constant).

    The distance carries the derivative of the implicit function `t(p)` with `f(o + t d; p) = 0`:
    one Newton step `t = t* - f(o + t* d; p) / (grad f . d)*` with the starred held constant.

    Args:
        solid: what is looked for.
        origin: common start of the rays.
        ray: unit directions.
        bound: the solid lies within this distance of the scene's origin.
        after: look behind the entry at this distance, where the ray grazed the solid there; go on
            looking for it where the ray has not arrived yet.
    """
    still, eye, way = solid.still(), constant(origin), constant(ray)
    centre = safe_sqrt(dot(eye, eye))
    far = centre + bound
    if after is None:
        t = torch.clamp(centre - bound, min=0.0) + torch.zeros_like(way.x)
    else:
        t = _exit(still, eye, way, after.detach())
    for _ in range(MARCH_STEPS):
        t = torch.minimum(t + still.distance(along(eye, t, way)), far)
    for _ in range(NEWTON_STEPS):
        t = torch.minimum(t - _newton_step(still, along(eye, t, way), way), far)
    found = along(eye, t, way)
    hit = (torch.abs(still.distance(found)) < TOLERANCE).to(t.dtype)
    slope = torch.clamp(dot(still.gradient(found), way), max=STEEPEST)
    return t - solid.distance(along(origin, t, ray)) * hit / slope, hit


def _exit(still: Solid, eye: Vector, way: Vector, t: Tensor) -> Tensor:
    """Go on through a short chord until the solid is clearly left behind.

    A march that ran out of steps beside one part of the solid may stand just before or within the
    next part. There is no chord to leave then: going on would open a gap to what lies behind both.
    """
    start = along(eye, t, way)
    arrives = dot(still.gradient(start), way) < STEEPEST
    stays = arrives & (torch.abs(still.distance(start)) > TOLERANCE)
    for i in range(CHORD_STEPS):
        depth = -still.distance(along(eye, t, way))
        onwards = t + torch.clamp(depth, min=CHORD_STEP * CHORD_GROWTH**i)
        t = torch.where(stays | (depth < -CLEAR), t, onwards)
    return t


def _newton_step(still: Solid, point: Vector, ray: Vector) -> Tensor:
    slope = torch.clamp(dot(still.gradient(point), ray), max=STEEPEST)
    return torch.clamp(still.distance(point) / slope, -0.05, 0.05)


def light_seen(solid: Solid, point: Vector, towards: Vector, penumbra: Tensor) -> Tensor:
    """Part of an extended light that a point sees past the solid, 0 to 1.

    The smallest of `distance / s` along the ray to the light, in units of `penumbra` (radians),
    through a soft step. Which sample is the smallest is found on constants; by the envelope
    theorem its own derivative is that of the minimum.
    """
    still, start, way = solid.still(), constant(point), constant(towards)
    growth = (SHADOW_FAR / SHADOW_NEAR) ** (1.0 / (SHADOW_SAMPLES - 1))
    nearest = torch.full_like(start.x, SHADOW_FAR)
    smallest = still.distance(along(start, SHADOW_FAR, way)) / SHADOW_FAR
    for i in range(SHADOW_SAMPLES - 1):
        s = SHADOW_NEAR * growth**i
        angle = still.distance(along(start, s, way)) / s
        nearest = torch.where(angle < smallest, s, nearest)
        smallest = torch.minimum(angle, smallest)
    angle = solid.distance(along(point, nearest, towards)) / nearest
    return soft_step(0.5 + 0.5 * angle / penumbra)


def openness(solid: Solid, point: Vector, normal: Vector) -> Tensor:
    """Part of the sky that a point sees past the solid, 0 to 1: distances compared with taps."""
    seen = [soft_step(solid.distance(along(point, h, normal)) / h) for h in TAPS]
    return sum(seen[1:], seen[0]) / len(seen)
