"""Derivatives by differences, with an estimate of their own error.

Central differences at a ladder of steps are extrapolated (Ridders 1982, doi 10.1016/S0141-1195(82)
80057-0): a large step errs by curvature, a small one by rounding, and where neighbouring
extrapolations agree best, both are small. Parameters of 2e4 and of 1e-6 need no different care.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool
from torch import Tensor

from app.engine.tile import Tile

SHRINK = 4.0
LEVELS = 8
# The first step, in units of the parameter's scale.
FIRST = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """A derivative by differences.

    Attributes:
        values: the derivative, of the image's shape.
        error: what it may be off by, of the image's shape.
        leap: the smallest change of the image that was met, and 0 where it never moved.
        step: the step whose plain central difference is best over all pixels.
    """

    values: Tensor
    error: Tensor
    leap: Tensor
    step: float


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


def central(tile: Tile, direction: Tensor, step: float) -> Tensor:
    """The central difference along a direction; at a bound, that of equal order to one side."""
    value, side = tile.value, side_of(tile, direction, step)
    if side:
        one, two = value + side * step * direction, value + 2 * side * step * direction
        return side * (4 * tile(one) - tile(two) - 3 * tile(value)) / (2 * step)
    return (tile(value + step * direction) - tile(value - step * direction)) / (2 * step)


def estimate(tile: Tile, direction: Tensor) -> Estimate:
    """The derivative along a direction, extrapolated, each pixel at the steps that suit it."""
    scale = scale_of(tile, direction)
    steps = [FIRST * scale / SHRINK**level for level in range(LEVELS)]
    plain = torch.stack([central(tile, direction, step) for step in steps])
    better = (SHRINK**2 * plain[1:] - plain[:-1]) / (SHRINK**2 - 1)
    # An extrapolation is believed as far as its neighbour and its own parts agree with it.
    parts = (better - plain[1:]).abs()
    neighbours = (better[1:] - better[:-1]).abs()
    error = torch.maximum(neighbours, torch.minimum(parts[1:], parts[:-1]))
    error = torch.nan_to_num(error, nan=torch.inf)
    # Rounding agrees with itself here and there by chance: no pixel is surer than most that move.
    error = torch.maximum(error, _typical(error, (plain != 0).any(dim=0)))
    least, level = error.min(dim=0)
    values = better[1:].gather(0, level[None])[0]
    step = steps[_best_step(plain, values, least)]
    return Estimate(values, least, _leap(plain, steps), step)


def kinks(tile: Tile, direction: Tensor, reference: Estimate) -> Bool[Tensor, "*pixels"]:
    """Where the derivatives from either side differ, whatever the step: a kink in the parameter."""
    value, here = tile.value, tile(tile.value)
    if side_of(tile, direction, SHRINK**2 * reference.step):
        return torch.zeros(here.shape[:-1], dtype=torch.bool, device=here.device)
    size = torch.nan_to_num(reference.values).abs().max()
    far, near = (
        (tile(value + step * direction) - 2 * here + tile(value - step * direction)).abs() / step
        for step in (SHRINK**2 * reference.step, reference.step)
    )
    # Of a smooth image the gap shrinks with the step; of a kink it stays.
    return ((near > 0.5 * far) & (near > 0.01 * size)).any(-1)


def _typical(error: Tensor, moving: Tensor) -> Tensor:
    """At each step the median error over the pixels that move at one step or another."""
    known = torch.where(moving & torch.isfinite(error), error, torch.nan)
    median = torch.nan_to_num(known.flatten(1).nanmedian(dim=1).values)
    return median.reshape(-1, *[1] * (error.ndim - 1))


def _leap(plain: Tensor, steps: list[float]) -> Tensor:
    """The smallest change of the image that a step makes, of those that make one."""
    widths = torch.tensor(steps, dtype=plain.dtype, device=plain.device)
    change = plain.abs() * 2 * widths.reshape(-1, *[1] * (plain.ndim - 1))
    least = torch.where(change > 0, change, torch.inf).amin(dim=0)
    return torch.nan_to_num(least, posinf=0.0)


def _best_step(plain: Tensor, values: Tensor, error: Tensor) -> int:
    """The step whose plain difference is nearest to the extrapolated values over all pixels."""
    finite = torch.isfinite(values) & torch.isfinite(error)
    off = torch.where(finite, plain - values, 0).abs().flatten(1)
    off = torch.nan_to_num(off, nan=torch.inf)
    # The largest deviations count, but not those of the few pixels that lie on a kink.
    return int(off.quantile(0.98, dim=1).argmin())
