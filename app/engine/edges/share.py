"""How much of a pixel a crossing stands for."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from app.engine.edges.bracket import ALIKE, Ask, Brackets, reopen, settle
from app.engine.edges.settings import Settings

# A line that runs from left to right and one that runs from top to bottom both cross an oblique
# edge. With n the edge's normal, the first counts by its n_x^2 and the second by its n_y^2.
STEEP, FLAT = 0.2, 0.8
LEAN = 2.0
"""The tangent at which an edge is too oblique to count: n_x^2 = 1 / (1 + LEAN^2) = STEEP."""
# An edge's jump hardly changes from a line to the rim of its strip; another edge's is another.
SAME = 0.1
KINK = 0.5
"""A difference of two tangents that a smooth edge does not make within a strip."""
CLOSER = 8
"""At kinks the edge's direction is taken that much nearer to the line."""
PARTS = 4
NEAR = 1 / 8
"""By how much of its way to the next line an edge may bend."""


@dataclass(frozen=True, slots=True, eq=False)
class _Lean:
    """Tangents of an edge's angle to a line at right angles, on either side of the crossing."""

    before: Float[Tensor, " n"]
    after: Float[Tensor, " n"]
    known: Bool[Tensor, " n"]
    kinked: Bool[Tensor, " n"]


def share(
    found: Brackets, ask: Ask, start: Float[Tensor, " n"], settings: Settings
) -> tuple[Float[Tensor, " n"], Bool[Tensor, " n"]]:
    """How much of the pixel that begins at `start` each crossing stands for, and where edges end.

    A line stands for a strip. The edge is followed to the strip's rims: that gives the tangent of
    its lean, hence how much this line counts beside one at right angles, and which part of
    the strip it crosses inside of the pixel. So a pixel has its part of the edge to second order.

    Where the edge bends or ends within the strip, what counts is the lean at the crossing, which
    belongs to the motion of the crossing.

    Returns:
        The shares, and whether the edge bends or ends before the next line.
    """
    half = 0.5 / settings.lines
    lean = _lean(found, ask, half, settings)
    weight = [_counts(lean.before), _counts(lean.after)]
    known, at = lean.known.clone(), lean.kinked.nonzero()[:, 0]
    if len(at):
        near = _lean(found.pick(at), ask, half / CLOSER, settings)
        known[at] = near.known
        for side in weight:
            side[at] = _counts((near.before + near.after) / 2)
    here = found.middle - start
    parts = weight[0] * _inside(here - half * lean.before, here)
    parts = parts + weight[1] * _inside(here, here + half * lean.after)
    ends = lean.kinked | _ends(found, ask, lean, 1 / settings.lines)
    return torch.where(known, parts / 2, 0) / settings.lines, ends


def _lean(found: Brackets, ask: Ask, half: float, settings: Settings) -> _Lean:
    """The edge's lean, from where it is at a distance of `half` to either side of the line."""
    tangents, there = [], []
    for side in (-half, half):
        # A little further, so that an edge with just that lean is found by one line at least.
        opened, alike = reopen(found, ask, found.across + side, LEAN * half * 1.05, PARTS)
        rim = settle(opened, ask, settings.lean - 2, found.rise)
        tangents.append((rim.middle - found.middle) / side)
        there.append(alike & (rim.off(found.rise) <= SAME))
    # An edge that ends in the strip, or is too oblique on one side, goes on as on the other side.
    before = torch.where(there[0], tangents[0], tangents[1])
    after = torch.where(there[1], tangents[1], tangents[0])
    known, both = there[0] | there[1], there[0] & there[1]
    return _Lean(before, after, known, known & (~both | ((after - before).abs() > KINK)))


def _ends(found: Brackets, ask: Ask, lean: _Lean, spacing: float) -> Bool[Tensor, " n"]:
    """Whether the edge, drawn on straight, is missing at the next line to either side."""
    missing = torch.zeros_like(lean.known)
    for side, tangent in ((-spacing, lean.before), (spacing, lean.after)):
        across, along = found.across + side, found.middle + side * tangent
        below, above = (ask(found.axis, across, along + by * spacing) for by in (-NEAR, NEAR))
        off = (above - below - found.rise).abs().sum(-1)
        missing |= off > ALIKE * found.contrast
    return missing


def _counts(lean: Float[Tensor, " n"]) -> Float[Tensor, " n"]:
    """How much a crossing counts beside those with lines at right angles to its own."""
    part = ((1 / (1 + lean * lean) - STEEP) / (FLAT - STEEP)).clamp(0, 1)
    # Without kinks, so that few lines add it up well; f(x) + f(1 - x) = 1.
    return part * part * (3 - 2 * part)


def _inside(one: Float[Tensor, " n"], other: Float[Tensor, " n"]) -> Float[Tensor, " n"]:
    """How much of a straight piece of edge lies between 0 and 1."""
    low, high = torch.minimum(one, other), torch.maximum(one, other)
    length = high - low
    part = (high.clamp(0, 1) - low.clamp(0, 1)) / length
    return torch.where(length > 0, part, ((low >= 0) & (low < 1)).to(part.dtype))
