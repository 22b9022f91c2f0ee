"""Hard edges that move with the parameter: what no automatic derivative sees.

Between two neighbouring pixels a smooth image changes a little in every part of the way; a hard
edge changes all of it in one part, and again in one part of that part. Where such a jump stands, a
small change of the parameter moves it away, and the values on its two sides become one.

A renderer of hundreds of operations takes as long for a few pixels as for a thousand, so it is
called once where no way is suspected, and three or four times where some are.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from app.engine.differences import side_of
from app.engine.tile import Tile
from renderers import Pixels

# Parts of the way from a pixel to the next: each way is looked at coarsely, and where nearly all of
# the change is in one part, that part is looked at finely.
COARSE = 8
FINE = 16
# Of the image's range: a smaller step from pixel to pixel is no silhouette.
NOTABLE = 0.02
# Of the change over all fine parts a jump keeps this much in one of them; a smooth flank, 1 / FINE.
KEPT = 0.7
# How far the parameter is moved, in steps of differences, to see whether a jump goes with it.
NUDGES = 64.0


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """Straight ways between two positions each, `(ways,)`."""

    x: Float[Tensor, " ways"]
    y: Float[Tensor, " ways"]
    dx: Float[Tensor, " ways"]
    dy: Float[Tensor, " ways"]

    def part(self, index: Int[Tensor, " ways"], parts: int) -> "Way":
        """The ways shrunk to one of their parts each."""
        share = index / parts
        x, y = self.x + share * self.dx, self.y + share * self.dy
        return Way(x, y, self.dx / parts, self.dy / parts)

    def pick(self, chosen: Tensor) -> "Way":
        """Some of them."""
        return Way(self.x[chosen], self.y[chosen], self.dx[chosen], self.dy[chosen])


def moving_jumps(
    tile: Tile, direction: Tensor, step: float, span: float
) -> Bool[Tensor, " pixels"]:
    """At which of a tile's pixels a hard edge lies beside it that moves with the parameter.

    Args:
        tile: some pixels of a pixel renderer, `(pixels,)`.
        direction: how the parameter is moved.
        step: a small move, as for a difference.
        span: the range of the image's values.
    """
    where = tile.where
    assert isinstance(where, Pixels)  # noqa: S101 - a window of rows cannot be looked into
    ways = _ways(where)
    change = _changes(tile, ways, COARSE)
    size, part = change.max(dim=1)
    suspects = ((size > NOTABLE * span) & (size > 0.5 * change.sum(dim=1))).nonzero()[:, 0]
    found = torch.zeros_like(ways.x, dtype=torch.bool)
    if len(suspects):
        near = ways.pick(suspects).part(part[suspects], COARSE)
        hard, ends, jump = _hard(tile, near)
        suspects = suspects[hard]
        found[suspects] = _moved(tile, ends, jump, direction, step)
    to_the_right, down = found.chunk(2)
    return to_the_right | down


def _ways(where: Pixels) -> Way:
    """From each pixel to the next one on the right, then from each to the one below."""
    flat, pitch = torch.zeros_like(where.x), torch.full_like(where.x, where.pitch)
    x, y = where.x.repeat(2), where.y.repeat(2)
    return Way(x, y, torch.cat([pitch, flat]), torch.cat([flat, -pitch]))


def _hard(tile: Tile, ways: Way) -> tuple[Bool[Tensor, " ways"], Way, Float[Tensor, " hard"]]:
    """Which of the ways hold a jump; those ways, shrunk to it; and how large it is."""
    change = _changes(tile, ways, FINE)
    jump, part = change.max(dim=1)
    hard = jump > KEPT * change.sum(dim=1)
    return hard, ways.part(part, FINE).pick(hard), jump[hard]


def _moved(
    tile: Tile, ends: Way, jump: Tensor, direction: Tensor, step: float
) -> Bool[Tensor, " ways"]:
    """Whether a nudge of the parameter to one side or the other takes a jump out of its way."""
    moved = torch.zeros_like(jump, dtype=torch.bool)
    side = side_of(tile, direction, NUDGES * step)
    for sign in (side,) if side else (-1, 1):
        left = (~moved).nonzero()[:, 0]
        if not len(left):
            break
        value = tile.value + sign * NUDGES * step * direction
        nudged = _changes(tile, ends.pick(left), 1, value)[:, 0]
        moved[left] = nudged < (1 - KEPT) * jump[left]
    return moved


def _changes(
    tile: Tile, ways: Way, parts: int, value: Tensor | None = None
) -> Float[Tensor, "ways parts"]:
    """How much the image changes over each part of each way."""
    where = tile.where
    assert isinstance(where, Pixels)  # noqa: S101
    share = torch.linspace(0, 1, parts + 1, dtype=ways.x.dtype, device=ways.x.device)
    x = ways.x[:, None] + share * ways.dx[:, None]
    y = ways.y[:, None] + share * ways.dy[:, None]
    image = tile.at(Pixels(x, y, where.width, where.height), tile.value if value is None else value)
    return torch.nan_to_num(image.diff(dim=1).abs().amax(-1), nan=0.0, posinf=0.0)
