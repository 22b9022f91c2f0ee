"""Vectors of scene space as three tensors, one an axis.

Pointwise operations on whole axes keep a pixel's bits independent of its neighbours and are
several times faster than reductions over a last axis of three.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from renderers._positions import Pixels


class Vector(NamedTuple):
    """A vector a pixel, or one for all: x to the right, y up, z towards the viewer."""

    x: Tensor
    y: Tensor
    z: Tensor


def dot(a: Vector, b: Vector) -> Tensor:
    """Inner product."""
    return a.x * b.x + a.y * b.y + a.z * b.z


def along(origin: Vector, distance: Tensor | float, direction: Vector) -> Vector:
    """The point at a distance from the origin along a direction."""
    return Vector(
        origin.x + distance * direction.x,
        origin.y + distance * direction.y,
        origin.z + distance * direction.z,
    )


def scaled(vector: Vector, factor: Tensor) -> Vector:
    """The vector times a number."""
    return Vector(vector.x * factor, vector.y * factor, vector.z * factor)


def unit(vector: Vector, floor: float = 1e-12) -> Vector:
    """The vector at length 1; a vector shorter than `sqrt(floor)` only grows by a fixed factor."""
    return scaled(vector, torch.rsqrt(torch.clamp(dot(vector, vector), min=floor)))


def from_entries(tensor: Tensor) -> Vector:
    """The vector whose entries a tensor of shape `(3,)` holds."""
    return Vector(tensor[0], tensor[1], tensor[2])


def colour(entries: tuple[float, float, float], like: Tensor) -> Tensor:
    """A fixed colour, shape `(3,)`, on the device and in the dtype of another tensor."""
    return torch.tensor(entries, device=like.device, dtype=like.dtype)


def constant(vector: Vector) -> Vector:
    """The same vector as a constant, in forward and reverse mode alike."""
    return Vector(vector.x.detach(), vector.y.detach(), vector.z.detach())


def orbit(
    pixels: Pixels, *, distance: Tensor, elevation: Tensor, azimuth: Tensor, view: Tensor
) -> tuple[Vector, Vector]:
    """Eye and unit view directions of a pinhole camera that circles the origin and looks at it.

    Args:
        pixels: where in the frame.
        distance: from the eye to the origin, scene units.
        elevation: of the eye above the horizon, degrees, less than 90.
        azimuth: of the eye around the vertical, degrees; at 0 it looks along -z.
        view: angle that the shorter side of the frame spans, degrees.
    """
    rise, turn = elevation * (math.pi / 180), azimuth * (math.pi / 180)
    back = Vector(
        torch.cos(rise) * torch.sin(turn), torch.sin(rise), torch.cos(rise) * torch.cos(turn)
    )
    right = Vector(torch.cos(turn), torch.zeros_like(turn), -torch.sin(turn))
    up = Vector(
        -torch.sin(rise) * torch.sin(turn), torch.cos(rise), -torch.sin(rise) * torch.cos(turn)
    )
    reach = torch.tan(view * (math.pi / 360))
    x, y = pixels.x * reach, pixels.y * reach
    ray = Vector(
        x * right.x + y * up.x - back.x,
        y * up.y - back.y,
        x * right.z + y * up.z - back.z,
    )
    return scaled(back, distance), unit(ray)
