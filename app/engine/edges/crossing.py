"""Where edges cross lines through pixels, and how much of a pixel each crossing stands for."""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from app.engine.edges.bracket import Ask, Brackets, jumps, narrow, rests, visible
from app.engine.edges.settings import Settings
from app.engine.edges.share import share
from app.engine.edges.suspects import suspects

CLOSER = 4
"""Where edges meet, so many times more lines, and so many times as dense.

How far an edge goes is known to a line's strip, and two edges that cross a line between two
neighbouring samples of it may both be missed, as they are at the tip of a wedge.
"""
UNLIKE = 0.25
"""Jumps in one pixel that differ by so much of themselves are of two edges."""


@dataclass(frozen=True, slots=True, eq=False)
class Crossings:
    """Crossings of edges with lines through pixels.

    Attributes:
        brackets: where they are.
        owner: which pixel each belongs to, in order.
        share: how much of the pixel, measured across the line, it stands for; at most 1 / lines.
        ends: whether the edge bends or ends before the next line.
    """

    brackets: Brackets
    owner: Int[Tensor, " n"]
    share: Float[Tensor, " n"]
    ends: Bool[Tensor, " n"]

    def pick(self, chosen: Tensor) -> "Crossings":
        """Some of them, by a mask or by indices."""
        return Crossings(
            self.brackets.pick(chosen),
            self.owner[chosen],
            self.share[chosen],
            self.ends[chosen],
        )

    def joined(self, other: "Crossings") -> "Crossings":
        """These and others, in the order of their owners."""
        order = torch.cat([self.owner, other.owner]).argsort(stable=True)
        return Crossings(
            self.brackets.joined(other.brackets),
            torch.cat([self.owner, other.owner]),
            torch.cat([self.share, other.share]),
            torch.cat([self.ends, other.ends]),
        ).pick(order)


def slots(settings: Settings) -> int:
    """How many intervals the lines of one pixel have."""
    return 2 * settings.lines * (settings.scan + 2 * settings.margin)


def crossings(
    pixels: Float[Tensor, "n 2"], ask: Ask, settings: Settings, most: int
) -> tuple[Crossings, int]:
    """The crossings in the pixels `(column, row)`, and how many places were not looked at.

    Where edges meet in a pixel, or one bends or ends, it is looked at again along more lines.
    """
    crossed, left = _crossings(pixels, ask, settings, most)
    meets = _meeting(crossed)
    if not len(meets):
        return crossed, left
    closer = replace(settings, lines=CLOSER * settings.lines, scan=CLOSER * settings.scan)
    again, lost = _crossings(pixels[meets], ask, closer, most)
    if lost:  # to the budget: then fewer lines are better than parts of more
        return crossed, left
    again = replace(again, owner=meets[again.owner])
    return crossed.pick(~torch.isin(crossed.owner, meets)).joined(again), left


def _meeting(crossed: Crossings) -> Int[Tensor, " pixels"]:
    """Which pixels have edges that meet, bend or end, or jumps that are unlike each other."""
    rise = crossed.brackets.rise
    first = rise[torch.searchsorted(crossed.owner, crossed.owner)]
    # A line may cross the same edge from either of its sides.
    apart = torch.minimum((rise - first).abs().sum(-1), (rise + first).abs().sum(-1))
    unlike = apart > UNLIKE * first.abs().sum(-1)
    meets: Tensor = torch.unique(crossed.owner[crossed.ends | unlike])
    return meets


def _crossings(
    pixels: Float[Tensor, "n 2"], ask: Ask, settings: Settings, most: int
) -> tuple[Crossings, int]:
    """The crossings of so many lines, and how many places were not looked at.

    Of more than `most` places where the image may jump, those are taken where it changes most.
    """
    every, suspects = _intervals(pixels, ask, settings)
    places = suspects.nonzero()[:, 0]
    near, kept = narrow(every.pick(places), ask, 1)
    places, left = places[kept], max(0, len(kept) - most)
    if left:
        strong = near.contrast.topk(most).indices.sort().values
        places, near = places[strong], near.pick(strong)
    found, kept = jumps(near, ask, settings.find - 1)
    places = places[kept]
    # Two edges may lie in one interval, where they meet: what is left of it is searched as well.
    left_over = rests(every.pick(places), found)
    seen = visible(left_over).nonzero()[:, 0]
    more, kept = jumps(left_over.pick(seen), ask, settings.find)
    owner = torch.cat([places, places.repeat(2)[seen[kept]]]) // slots(settings)
    order = owner.argsort(stable=True)
    found, owner = found.joined(more).pick(order), owner[order]
    start = pixels[owner].gather(1, found.axis[:, None])[:, 0] - 0.5
    part, ends = share(found, ask, start, settings)
    return Crossings(found, owner, part, ends).pick(part > 0), left


def _intervals(
    pixels: Float[Tensor, "n 2"], ask: Ask, settings: Settings
) -> tuple[Brackets, Bool[Tensor, " intervals"]]:
    """All intervals of all lines, pixel by pixel, and those in which the image may jump."""
    device, nodes = pixels.device, settings.scan + 2 * settings.margin + 1
    line = torch.arange(settings.lines, device=device, dtype=pixels.dtype)
    node = torch.arange(nodes, device=device, dtype=pixels.dtype)
    shape = (len(pixels), 2, settings.lines, nodes)
    offset = (line + 0.5) / settings.lines - 0.5
    across = (pixels.flip(1)[:, :, None, None] + offset[:, None]).expand(shape)
    distance = (node - settings.margin) / settings.scan - 0.5
    along = (pixels[:, :, None, None] + distance).expand(shape)
    axis = torch.arange(2, device=device)[:, None, None].expand(shape)
    image = ask(axis.reshape(-1), across.reshape(-1), along.reshape(-1)).reshape(*shape, -1)
    every = Brackets(
        axis[..., 1:].reshape(-1),
        across[..., 1:].reshape(-1),
        along[..., :-1].reshape(-1),
        along[..., 1:].reshape(-1),
        image[..., :-1, :].flatten(0, -2),
        image[..., 1:, :].flatten(0, -2),
    )
    return every, suspects(image).reshape(-1)
