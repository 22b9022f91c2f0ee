"""Where an image leaps as its parameter moves: what no derivative sees, and small steps step over.

A leap is the same however small the step across it: where a difference at one step and at another
are off by the same change of the image, there may be one, and halving the way that the parameter
goes shows whether it is. What is smooth, however steep, changes less in the end.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from app.engine.differences import FIRST, inwards, reach_of, scale_of
from app.engine.extrapolation import Estimate, column
from app.engine.tile import Tile
from renderers import Pixels

# What a leap keeps of itself from one step to the next, a quarter of it; a smooth change keeps a
# sixty-fourth of itself, and one across a kink no more than a quarter.
KEPT = (0.7, 1.4)
# How often the way across is halved, and the part of the change that a leap keeps in the end, which
# a change over a hundred-thousandth of the way does not.
HALVINGS = 20
LEFT = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """A straight way of the parameter, as far as its bounds allow."""

    start: Tensor
    stop: Tensor

    def halves(self) -> "tuple[Tensor, Way, Way]":
        """The middle, and the ways to it and from it."""
        middle = (self.start + self.stop) / 2
        return middle, Way(self.start, middle), Way(middle, self.stop)


def unexplained(reference: Estimate) -> Float[Tensor, "steps *pixels channels"]:
    """By how much each step changes the image beyond what the derivative explains."""
    width = column(reference.steps, reference.plain)
    off = (reference.plain - reference.values).abs() * 2 * width
    return torch.nan_to_num(off, nan=0.0, posinf=0.0)


def seen_twice(reference: Estimate, least: float) -> Float[Tensor, "steps *pixels channels"]:
    """Changes that are likely leaps, by the smaller of the two steps that met each; else 0."""
    change = unexplained(reference)
    larger, smaller = change[:-1], change[1:]
    low, high = KEPT
    same = (smaller > low * larger) & (smaller < high * larger) & (smaller > least)
    return torch.where(same, smaller, 0)


def leaps(tile: Tile, direction: Tensor, reference: Estimate, least: float) -> bool:
    """Whether the image leaps somewhere by at least some size, within the steps of an estimate."""
    likely = seen_twice(reference, least).amax(-1).flatten(1)
    levels = likely.any(dim=1).nonzero()
    if not len(levels):
        return False
    # On the shortest way there is least beside the leap.
    level = int(levels[-1])
    way = across(tile, direction, reference.steps[level + 1])
    return is_leap(tile, way, int(likely[level].argmax()))


def across(tile: Tile, direction: Tensor, step: float) -> Way:
    """The way of the parameter from one side of its value to the other; from a bound, inwards."""
    parts = inwards(tile, direction, step)
    sided = any(side for _, side in parts)
    along: Tensor = sum(
        (part * (side or 1) for part, side in parts), start=torch.zeros_like(direction)
    )
    back = 0.0 if sided else step
    return Way(tile.value - back * along, tile.value + step * along)


def is_leap(tile: Tile, way: Way, pixel: int) -> bool:
    """Whether what changes a pixel on a way is a leap."""
    if isinstance(tile.where, Pixels) and tile.loaded.spec.halo is not None:
        tile, pixel = tile.part(slice(pixel, pixel + 1)), 0

    def at(value: Tensor) -> Tensor:
        return tile(value).flatten(0, -2)[pixel]

    first, last = at(way.start), at(way.stop)
    whole = float((last - first).abs().max())
    for _ in range(HALVINGS):
        middle, before, after = way.halves()
        between = at(middle)
        if float((between - first).abs().max()) >= float((last - between).abs().max()):
            way, last = before, between
        else:
            way, first = after, between
    return float((last - first).abs().max()) > LEFT * whole > 0


def first_leap(tile: Tile, direction: Tensor, here: Tensor) -> float | None:
    """The least step at which an image leaps that rests at smaller ones; None where it does not.

    Steps grow to the scale of the parameter, or a quarter of its range, which there is on one side
    at least: an edge between two pixels meets the next of them when it has gone as far as that.
    """
    scale = scale_of(tile, direction)
    reach = reach_of(tile, direction) or scale
    step = FIRST * scale
    while step < reach:
        step = min(2 * step, reach)
        way = across(tile, direction, step)
        for end in (way.start, way.stop):
            change = torch.nan_to_num((tile(end) - here).abs().amax(-1)).flatten()
            if bool(change.any()):
                leap = is_leap(tile, Way(tile.value, end), int(change.argmax()))
                return step if leap else None
    return None
