"""Hard edges that move with the parameter: what no automatic derivative sees.

Between two neighbouring pixels a smooth image changes a little in every part of the way; a hard
edge changes all of it in one part, and again in one part of that part. Where such a jump stands, a
small change of the parameter moves it away, and the values on its two sides become one.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool
from torch import Tensor

from app.engine.differences import side_of
from app.engine.tile import Tile
from renderers import Pixels

# Parts of the way from a pixel to the next, looked at once and once more within the steepest.
PARTS = 16
# Of the image's range: a smaller step from pixel to pixel is no silhouette.
NOTABLE = 0.02
# A jump keeps this much of itself in one part of a way; a smooth flank leaves a sixteenth.
KEPT = 0.7
# How far the parameter is moved, in steps of differences, to see whether a jump goes with it.
NUDGES = 64.0


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """Straight ways between two positions each, `(ways,)`."""

    x: Tensor
    y: Tensor
    dx: Tensor
    dy: Tensor

    def parts(self, where: Pixels) -> Pixels:
        """Positions along the ways, ends included, `(ways, PARTS + 1)`."""
        share = torch.linspace(0, 1, PARTS + 1, dtype=self.x.dtype, device=self.x.device)
        return Pixels(
            self.x[:, None] + share * self.dx[:, None],
            self.y[:, None] + share * self.dy[:, None],
            where.width,
            where.height,
        )

    def within(self, part: Tensor) -> "Way":
        """The ways shrunk to one of their parts each."""
        return Way(
            self.x + part * self.dx / PARTS,
            self.y + part * self.dy / PARTS,
            self.dx / PARTS,
            self.dy / PARTS,
        )


def moving_jumps(
    tile: Tile, direction: Tensor, step: float, span: float
) -> Bool[Tensor, " pixels"]:
    """At which of a tile's pixels a hard edge lies beside it that moves with the parameter.

    Args:
        tile: some pixels of a pixel renderer.
        direction: how the parameter is moved.
        step: a small move, as for a difference.
        span: the range of the image's values.
    """
    where = tile.where
    assert isinstance(where, Pixels)  # noqa: S101 - a window of rows cannot be looked into
    none = torch.zeros(where.x.shape, dtype=torch.bool, device=where.x.device)
    found = none.clone()
    flat = torch.zeros_like(where.x)
    pitch = torch.full_like(where.x, where.pitch)
    for way in (Way(where.x, where.y, pitch, flat), Way(where.x, where.y, flat, -pitch)):
        found |= _along(tile, way, direction, step, NOTABLE * span, none)
    return found


def _along(
    tile: Tile, way: Way, direction: Tensor, step: float, notable: float, none: Tensor
) -> Tensor:
    where = tile.where
    assert isinstance(where, Pixels)  # noqa: S101
    jump, part, alone = _steepest(tile, way.parts(where))
    hard = alone & (jump > notable)
    if not bool(hard.any()):
        return none
    inner = way.within(part)
    again, part, _ = _steepest(tile, inner.parts(where))
    hard &= again > KEPT * jump
    if not bool(hard.any()):
        return none
    ends = inner.within(part)
    beside = Pixels(
        torch.stack([ends.x, ends.x + ends.dx]),
        torch.stack([ends.y, ends.y + ends.dy]),
        where.width,
        where.height,
    )
    moved = torch.zeros_like(hard)
    side = side_of(tile, direction, NUDGES * step)
    for sign in (side,) if side else (-1, 1):
        nudged = tile.at(beside, tile.value + sign * NUDGES * step * direction)
        moved |= (nudged[1] - nudged[0]).abs().amax(-1) < (1 - KEPT) * again
    return hard & moved


def _steepest(tile: Tile, positions: Pixels) -> tuple[Tensor, Tensor, Tensor]:
    """The largest change over one part of each way, where it is, and whether it is the bulk."""
    change = tile.at(positions, tile.value).diff(dim=1).abs().amax(-1)
    change = torch.nan_to_num(change, posinf=0.0)
    jump, part = change.max(dim=1)
    return jump, part, jump > 0.5 * change.sum(dim=1)
