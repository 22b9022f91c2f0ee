"""Plain differences along a direction, within the bounds of the parameter."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool
from torch import Tensor

from app.engine.tile import Tile

SHRINK = 4.0
# The first step, in units of the parameter's scale.
FIRST = 0.1


def scale_of(tile: Tile, direction: Tensor) -> float:
    """How far a parameter may be moved along a direction to be moved notably.

    The size of the entries that the direction moves, but no more than the declared range; where
    they are near 0, a part of that; where there is none, 1.
    """
    declared, moved = tile.declared, direction != 0
    size = float(tile.value[moved].abs().max()) if bool(moved.any()) else 0.0
    if declared.low is not None and declared.high is not None:
        extent = declared.high - declared.low
        size = min(max(size, 0.01 * extent), extent)
    return (size or 1.0) / max(float(direction.abs().max()), 1e-300)


def side_of(tile: Tile, direction: Tensor, step: float) -> int:
    """1 or -1 where a parameter at a bound may be moved to this side alone; 0 where to both.

    0 as well where it may be moved to neither, as a vector with entries at either bound.
    """
    ahead, behind = (tile.declared.allows(tile.value + sign * step * direction) for sign in (1, -1))
    return int(ahead) - int(behind)


def inwards(tile: Tile, direction: Tensor, step: float) -> list[tuple[Tensor, int]]:
    """A direction in parts, each with the side to which it may be moved; 0 for both.

    A vector may have entries at either bound: those are moved apart from each other.
    """
    low, high = tile.declared.low, tile.declared.high
    if low is None and high is None:
        return [(direction, 0)]
    ahead, behind = (_allowed(tile, tile.value + move * direction) for move in (step, -step))
    forwards, backwards = ahead & ~behind, behind & ~ahead
    if not bool(forwards.any() | backwards.any()):
        return [(direction, 0)]
    none = torch.zeros_like(direction)
    parts = [(torch.where(backwards, none, direction), 1)] if bool(forwards.any()) else []
    if not parts:
        return [(direction, -1)]
    return [*parts, (torch.where(backwards, direction, none), -1)] if backwards.any() else parts


def _allowed(tile: Tile, value: Tensor) -> Bool[Tensor, "*entries"]:
    low, high = tile.declared.low, tile.declared.high
    above = torch.ones_like(value, dtype=torch.bool) if low is None else value >= low
    return above if high is None else above & (value <= high)


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
