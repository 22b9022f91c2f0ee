"""Steps of the parameter, from large to small, of which each crossing takes the one that suits."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from app.engine.edges.asking import Asker
from app.engine.edges.bracket import Ask
from app.engine.tile import Tile

RATIO = 4.0
LARGEST = 1 / 16  # of the parameter's range: periodic parameters must not come round
SMALLER = 12
# A step must stand above the rounding of the parameter's own value.
ROUNDING = 64


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """A ladder of steps along one direction in parameter space.

    Attributes:
        value: the parameter's value.
        direction: the direction.
        sizes: the steps, from large to small, each a quarter of the one before.
        first: which one is tried first.
    """

    value: Tensor
    direction: Tensor
    sizes: tuple[float, ...]
    first: int

    def moved(self, size: float) -> Tensor:
        """The parameter after a step, in its own dtype."""
        return self.value + size * self.direction

    def length(self, size: float) -> float:
        """The step that is made from `-size` to `size`, as the parameter's dtype rounds it."""
        difference = self.moved(size).double() - self.moved(-size).double()
        along = self.direction.double()
        return float((difference * along).sum() / (along * along).sum())


def ladder(asker: Asker, direction: Tensor) -> Steps:
    """The steps for a direction.

    The first guess takes an edge across the frame within the parameter's range, and moves it by a
    sixteenth of a pixel. It depends on the frame and the parameter alone: a tile takes the steps
    that the whole frame takes.
    """
    tile, where = asker.tile, asker.where
    extent = _extent(tile, direction)
    guess = extent / (16 * max(where.width, where.height, 16))
    rounding = ROUNDING * torch.finfo(tile.value.dtype).eps
    least = max(guess * RATIO**-SMALLER, rounding * _largest_value(tile, direction))
    sizes, first = [guess], 0
    while sizes[0] * RATIO <= extent * LARGEST:
        sizes.insert(0, sizes[0] * RATIO)
        first += 1
    while sizes[-1] / RATIO >= least:
        sizes.append(sizes[-1] / RATIO)
    return Steps(tile.value, direction, tuple(sizes), first)


def _extent(tile: Tile, direction: Tensor) -> float:
    """The step that takes a parameter through its range; through its value where it has none."""
    extents = []
    for _, declared, part in tile.entries():
        size = float(direction[part].abs().max())
        if not size:
            continue
        if declared.low is not None and declared.high is not None:
            extents.append((declared.high - declared.low) / size)
        else:
            moved = tile.value[part][direction[part] != 0]
            extents.append((float(moved.abs().max()) or 1.0) / size)
    return min(extents, default=1.0)


def _largest_value(tile: Tile, direction: Tensor) -> float:
    """Of the entries that move, in steps: what rounding is measured by."""
    sizes = [
        float(tile.value[part][direction[part] != 0].double().abs().max())
        / float(direction[part].abs().max())
        for _, _, part in tile.entries()
        if bool(direction[part].any())
    ]
    return max(sizes, default=0.0)


def ask_after(asker: Asker, steps: Steps, rungs: Int[Tensor, " n"], sign: float) -> Ask:
    """The image at points of lines after steps: one step for each point."""
    groups = [
        (torch.where(rungs == rung)[0], steps.moved(sign * steps.sizes[rung]))
        for rung in sorted(set(rungs.tolist()))
    ]

    def ask(axis: Tensor, across: Tensor, along: Tensor) -> Tensor:
        columns, rows = points(axis, across, along)
        parts = [asker(columns[rows_], rows[rows_], value) for rows_, value in groups]
        image = torch.cat(parts) if parts else asker(columns, rows, steps.value)
        back = torch.empty_like(image)
        for (chosen, _), part in zip(groups, parts, strict=True):
            back[chosen] = part
        return back

    return ask


def ask_at(asker: Asker, value: Tensor) -> Ask:
    """The image at points of lines, with the differentiated parameter at one value."""

    def ask(axis: Tensor, across: Tensor, along: Tensor) -> Tensor:
        return asker(*points(axis, across, along), value)

    return ask


def points(axis: Tensor, across: Tensor, along: Tensor) -> tuple[Tensor, Tensor]:
    """Columns and rows of points of lines."""
    level = axis == 0
    return torch.where(level, along, across), torch.where(level, across, along)


Fits = Callable[[Tensor, Tensor], Bool[Tensor, " n"]]


def choose(steps: Steps, count: int, fits: Fits, device: torch.device) -> Int[Tensor, " n"]:
    """The largest step that suits each of `count` crossings, or -1 where none does.

    `fits(chosen, rungs)` says which of the chosen ones suit. Larger steps are tried one by one from
    the first guess, so that a crossing is not mistaken for one that lies a long way off.
    """
    rung = torch.full((count,), -1, dtype=torch.long, device=device)
    trying = torch.arange(count, device=device)
    for size in range(steps.first, len(steps.sizes)):
        if not len(trying):
            break
        suits = fits(trying, torch.full_like(trying, size))
        rung[trying[suits]] = size
        trying = trying[~suits]
    trying = torch.where(rung == steps.first)[0]
    for size in range(steps.first - 1, -1, -1):
        if not len(trying):
            break
        trying = trying[fits(trying, torch.full_like(trying, size))]
        rung[trying] = size
    return rung
