"""Intervals of lines, in each of which the image jumps, and how they are made narrow."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

# A jump J upon a smooth change g keeps (J + g / 2) / (J + g) of its contrast when the interval is
# halved, and smooth variation alone keeps one half: jumps down to a ninth of the change are kept.
KEPT_BY_HALVING = 0.55
# Four more halvings leave a sixteenth of a smooth change, a quarter of a square root's, a jump.
KEPT_BY_SIXTEENTH = 0.75
# A jump that is seen again may have changed by so much of itself: shades vary along an edge.
ALIKE = 0.5
# Differences below are rounding: a few operations on either side.
ROUNDING = 64


@dataclass(frozen=True, slots=True, eq=False)
class Brackets:
    """Intervals of lines that run along the columns or along the rows, any number at once.

    Attributes:
        axis: 0 where the line runs from left to right, 1 where it runs from top to bottom.
        across: the row of the former, the column of the latter.
        low: where the interval starts on its line.
        high: where it ends.
        below: the image at its start.
        above: the image at its end.
    """

    axis: Int[Tensor, " n"]
    across: Float[Tensor, " n"]
    low: Float[Tensor, " n"]
    high: Float[Tensor, " n"]
    below: Float[Tensor, "n channels"]
    above: Float[Tensor, "n channels"]

    def __len__(self) -> int:
        """How many there are."""
        return len(self.axis)

    @property
    def middle(self) -> Float[Tensor, " n"]:
        """The best guess of where the image jumps; right to half the interval."""
        return (self.low + self.high) / 2

    @property
    def rise(self) -> Float[Tensor, "n channels"]:
        """By how much the image changes along the interval."""
        return self.above - self.below

    @property
    def contrast(self) -> Float[Tensor, " n"]:
        """The same as one number, over all channels."""
        return self.rise.abs().sum(-1)

    def joined(self, other: "Brackets") -> "Brackets":
        """These and others."""
        pairs = ((getattr(self, field.name), getattr(other, field.name)) for field in fields(self))
        return Brackets(*map(torch.cat, pairs))

    def off(self, rise: Float[Tensor, "n channels"]) -> Float[Tensor, " n"]:
        """By how much the change along the interval is another than `rise`, in parts of that."""
        return (self.rise - rise).abs().sum(-1) / rise.abs().sum(-1)

    def pick(self, chosen: Tensor) -> "Brackets":
        """Some of them, by a mask or by indices."""
        return Brackets(*(getattr(self, field.name)[chosen] for field in fields(self)))


Ask = Callable[[Tensor, Tensor, Tensor], Tensor]
"""The image at points of lines: `axis, across, along`, all `(n,)`, to `(n, channels)`."""


def visible(brackets: Brackets) -> Bool[Tensor, " n"]:
    """Where the image changes by more than rounding."""
    size = brackets.below.abs().sum(-1) + brackets.above.abs().sum(-1)
    return brackets.contrast > ROUNDING * torch.finfo(size.dtype).eps * size


def halve(brackets: Brackets, ask: Ask, like: Tensor | None = None) -> Brackets:
    """The half of each interval along which the image changes more, or most like something."""
    middle = brackets.middle
    image = ask(brackets.axis, brackets.across, middle)
    first, second = image - brackets.below, brackets.above - image
    if like is None:
        early = first.abs().sum(-1) >= second.abs().sum(-1)
    else:
        early = (first - like).abs().sum(-1) <= (second - like).abs().sum(-1)
    return Brackets(
        brackets.axis,
        brackets.across,
        torch.where(early, brackets.low, middle),
        torch.where(early, middle, brackets.high),
        torch.where(early[:, None], brackets.below, image),
        torch.where(early[:, None], image, brackets.above),
    )


def narrow(brackets: Brackets, ask: Ask, halvings: int) -> tuple[Brackets, Int[Tensor, " kept"]]:
    """Halve the intervals again and again, and drop those that hold no jump.

    A jump does not shrink when the distance does. So smooth variation costs one or two evaluations.
    Returns the narrow intervals, and which of the given ones they come from.
    """
    kept = torch.arange(len(brackets), device=brackets.axis.device)
    for _ in range(halvings):
        if not len(brackets):
            break
        halved = halve(brackets, ask)
        jumps = visible(halved) & (halved.contrast >= KEPT_BY_HALVING * brackets.contrast)
        brackets, kept = halved.pick(jumps), kept[jumps]
    return brackets, kept


def jumps(brackets: Brackets, ask: Ask, halvings: int) -> tuple[Brackets, Int[Tensor, " kept"]]:
    """The jumps in the intervals, found to `2^-halvings` of their length; at least 4 halvings."""
    near, kept = narrow(brackets, ask, halvings - 4)
    found, again = narrow(near, ask, 4)
    hard = found.contrast >= KEPT_BY_SIXTEENTH * near.contrast[again]
    return found.pick(hard), kept[again][hard]


def rests(around: Brackets, found: Brackets) -> Brackets:
    """What is left of intervals before and after the jumps that were found in them."""
    before = replace(around, high=found.low, above=found.below)
    return before.joined(replace(around, low=found.high, below=found.above))


def reopen(
    found: Brackets, ask: Ask, across: Float[Tensor, " n"], radius: float, parts: int
) -> tuple[Brackets, Bool[Tensor, " n"]]:
    """Look for jumps again within `radius` of where they were, on lines or in images nearby.

    Of so many parts of the way from end to end, the one along which the image changes most nearly
    as it did: other edges may be as near as a part is long. Also whether it is near enough.
    """
    steps = torch.arange(parts + 1, device=across.device, dtype=across.dtype)
    along = found.middle[:, None] + radius * (2 * steps / parts - 1)
    nodes = [ask(found.axis, across, at) for at in along.unbind(1)]
    image = torch.stack(nodes, dim=1)
    best = (image.diff(dim=1) - found.rise[:, None]).abs().sum(-1).argmin(dim=1)
    each = torch.arange(len(best), device=best.device)
    opened = Brackets(
        found.axis,
        across,
        along[each, best],
        along[each, best + 1],
        image[each, best],
        image[each, best + 1],
    )
    return opened, opened.off(found.rise) <= ALIKE


def settle(
    opened: Brackets, ask: Ask, halvings: int, like: Float[Tensor, "n channels"]
) -> Brackets:
    """Narrow intervals around the jumps that are most like the given ones."""
    for _ in range(halvings):
        opened = halve(opened, ask, like)
    return opened
