"""Where a parameter is moved to for a difference, within its bounds."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from renderers import Param


@dataclass(frozen=True, slots=True, eq=False)
class Move:
    """A difference along a direction: `sum(weight * image(at))` is the derivative.

    Attributes:
        at: values of the parameter; the first is where the derivative is taken.
        slope: weight of each image in the derivative.
        gap: weight of each in what the two sides' derivatives differ by; all 0 at a bound.
        step: how far it is moved, in units of the direction.
    """

    at: tuple[Tensor, ...]
    slope: tuple[float, ...]
    gap: tuple[float, ...]
    step: float


def scale_of(value: Tensor, declared: Param, direction: Tensor) -> float:
    """How far a parameter may be moved along a direction to be moved notably.

    The size of the entries that the direction moves, but no more than the declared range; where
    they are near 0, a part of that; where there is none, 1.
    """
    moved = direction != 0
    size = float(value[moved].abs().max()) if bool(moved.any()) else 0.0
    if declared.low is not None and declared.high is not None:
        extent = declared.high - declared.low
        size = min(max(size, 0.01 * extent), extent)
    return (size or 1.0) / max(float(direction.abs().max()), 1e-300)


def move(value: Tensor, declared: Param, direction: Tensor, step: float) -> Move:
    """The central difference; at a bound, the one of equal order to one side.

    A vector may have entries at either bound: those are moved apart from each other.
    """
    ahead = _allowed(declared, value + step * direction) | (direction == 0)
    behind = _allowed(declared, value - step * direction) | (direction == 0)
    forwards, backwards = ahead & ~behind, behind & ~ahead
    if not bool((forwards | backwards).any()):
        at = (value, value + step * direction, value - step * direction)
        one = 1 / step
        return Move(at, (0.0, 0.5 * one, -0.5 * one), (-2 * one, one, one), step)
    none = torch.zeros_like(direction)
    parts = [(torch.where(backwards, none, direction), 1)]
    parts.append((torch.where(backwards, direction, none), -1))
    places, slope = [value], [0.0]
    for part, side in parts:
        if bool(part.any()):
            places += [value + side * step * part, value + 2 * side * step * part]
            slope += [side * 4 / (2 * step), -side / (2 * step)]
            slope[0] -= side * 3 / (2 * step)
    return Move(tuple(places), tuple(slope), (0.0,) * len(places), step)


def mixed_directions(
    value: Tensor, entries: Sequence[int]
) -> tuple[Float[Tensor, "*entries"], ...]:
    """Directions in which some entries all take part: with weights that cannot cancel, and signs.

    A mistake in one entry shows in both, and two that hide each other in the first do not in the
    second.
    """
    weights = torch.linspace(1.0, 0.5, len(entries), dtype=value.dtype)
    generator = torch.Generator().manual_seed(0)
    signs = 2 * torch.randint(2, weights.shape, generator=generator) - 1
    each = (weights,) if len(entries) == 1 else (weights, weights * signs)
    return tuple(_placed(value, entries, some) for some in each)


def positions(entries: Sequence[int]) -> Int[Tensor, " entries"]:
    """Positions of entries as a tensor; of an image there are millions, in a row."""
    if isinstance(entries, range):
        return torch.arange(entries.start, entries.stop, entries.step)
    return torch.tensor(list(entries))


def _placed(value: Tensor, entries: Sequence[int], numbers: Tensor) -> Tensor:
    """A tensor of a parameter's shape with numbers at some entries, and 0 elsewhere."""
    flat = torch.zeros(value.numel(), dtype=value.dtype)
    flat[positions(entries)] = numbers
    return flat.reshape(value.shape).to(value.device)


def _allowed(declared: Param, value: Tensor) -> Bool[Tensor, "*entries"]:
    allowed = torch.ones_like(value, dtype=torch.bool)
    if declared.low is not None:
        allowed &= value >= declared.low
    if declared.high is not None:
        allowed &= value <= declared.high
    return allowed
