"""Plain differences along a direction, within the bounds of the parameters."""

from dataclasses import dataclass

import torch
from torch import Tensor

from app.engine.directions import Directions
from app.engine.tile import Tile
from renderers import Param

SHRINK = 4.0
# The first step, in units of the parameter's scale.
FIRST = 0.1


def scale_of(tile: Tile, direction: Tensor) -> float:
    """How far the parameters may be moved along a direction for one of them to be moved notably.

    See `natural_scale`; 1 for a direction that moves nothing.
    """
    reaches = []
    for _, declared, part in tile.entries():
        moved = direction[part] != 0
        if bool(moved.any()):
            size = natural_scale(declared, tile.value[part][moved])
            reaches.append(size / max(float(direction[part].abs().max()), 1e-300))
    return min(reaches, default=1.0)


def natural_scale(declared: Param, entries: Tensor) -> float:
    """A notable change of a parameter whose entries have these values.

    Their size, but no more than the declared range; where they are near 0, a part of that; where
    there is none, 1.
    """
    size = float(entries.detach().abs().max())
    if declared.low is not None and declared.high is not None:
        extent = declared.high - declared.low
        size = min(max(size, 0.01 * extent), extent)
    return size or 1.0


def reach_of(tile: Tile, direction: Tensor) -> float | None:
    """A quarter of the range along a direction; None where there is no range."""
    reaches = [
        (declared.high - declared.low) / (4 * max(float(direction[part].abs().max()), 1e-300))
        for _, declared, part in tile.entries()
        if declared.low is not None and declared.high is not None and bool(direction[part].any())
    ]
    return min(reaches, default=None)


def mixed(tile: Tile, directions: Directions) -> tuple[Tensor, Tensor]:
    """Weights for directions, `(n,)`, and their sum, `(size,)`: one in which each takes part.

    The weights cannot cancel, and make changes of different parameters comparable.
    """
    ramp = torch.linspace(1.0, 0.5, len(directions), dtype=torch.float64)
    if directions.matrix is None:
        scales = torch.ones(directions.size, dtype=torch.float64)
        for _, declared, part in tile.entries():
            scales[part] = natural_scale(declared, tile.value[part])
        ramp = ramp * (scales / scales.max())[directions.entries] / directions.scales
    return ramp, directions.combined(ramp)


def side_of(tile: Tile, direction: Tensor, step: float) -> int:
    """1 or -1 where a parameter at a bound may be moved to this side alone; 0 where to both.

    0 as well where it may be moved to neither, as a vector with entries at either bound.
    """
    ahead, behind = (
        bool(tile.within(tile.value + sign * step * direction).all()) for sign in (1, -1)
    )
    return int(ahead) - int(behind)


def inwards(tile: Tile, direction: Tensor, step: float) -> list[tuple[Tensor, int]]:
    """A direction in parts, each with the side to which it may be moved; 0 for both.

    A vector may have entries at either bound: those are moved apart from each other.
    """
    if not tile.bounded:
        return [(direction, 0)]
    ahead, behind = (tile.within(tile.value + move * direction) for move in (step, -step))
    forwards, backwards = ahead & ~behind, behind & ~ahead
    if not bool(forwards.any() | backwards.any()):
        return [(direction, 0)]
    none = torch.zeros_like(direction)
    parts = [(torch.where(backwards, none, direction), 1)] if bool(forwards.any()) else []
    if not parts:
        return [(direction, -1)]
    return [*parts, (torch.where(backwards, direction, none), -1)] if backwards.any() else parts


@dataclass(frozen=True, slots=True, eq=False)
class Difference:
    """A plain central difference.

    Attributes:
        values: the derivative, to the step's error.
        gap: what the two sides' derivatives differ by; None at a bound, where there is one side.
    """

    values: Tensor
    gap: Tensor | None


def difference(tile: Tile, direction: Tensor, step: float, here: Tensor | None) -> Difference:
    """The central difference along a direction; at a bound, that of equal order to one side.

    Args:
        tile: the renderer at some positions.
        direction: along what.
        step: how far to either side.
        here: the image, where it is known; it is asked for where it is not, and is needed.
    """
    value, parts = tile.value, inwards(tile, direction, step)
    if parts[0][1] == 0:
        ahead, behind = tile(value + step * direction), tile(value - step * direction)
        gap = None if here is None else (ahead - 2 * here + behind) / step
        return Difference((ahead - behind) / (2 * step), gap)
    here = tile(value) if here is None else here
    sided = (
        side * (4 * tile(value + side * step * part) - tile(value + 2 * side * step * part))
        - side * 3 * here
        for part, side in parts
    )
    total: Tensor = sum(sided, start=torch.zeros_like(here))
    return Difference(total / (2 * step), None)


def central(tile: Tile, direction: Tensor, step: float) -> Tensor:
    """The values of `difference`."""
    return difference(tile, direction, step, None).values
