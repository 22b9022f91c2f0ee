"""Derivatives of functionals by differences: a few numbers, each with an estimate of its error.

As for maps, central differences at falling steps are extrapolated (Ridders 1982,
doi 10.1016/S0141-1195(82)80057-0), but in the sums: what single pixels gain and lose cancels there,
so the size of what moved, absolute values summed, stands beside each.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from app.engine.differences import FIRST, SHRINK
from app.engine.plan import Plan
from app.engine.probing.asked import Asked, Values
from app.engine.probing.moves import Move, move, scale_of
from app.engine.probing.piece import Piece
from app.engine.probing.reverse import Rows
from app.engine.probing.sums import planned, summed

LEVELS = 8
ENOUGH = 4
SURE = 1e-7
# The level whose plain difference mostly does: rounding and curvature are both far below what is
# compared.
ONCE = 5
# What the two sides may differ by, over what moved, before a kink is looked for; what a kink's gap
# keeps of itself at a sixteenth of the step; and its least size beside what moved.
GAP = 0.05
STAYS = 0.5
KINK = 0.01
# Units of the last place that a renderer of many operations may lose.
ROUNDINGS = 16


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """Derivatives by differences, `(functionals,)` each.

    Attributes:
        values: the derivatives.
        error: what they may be off by.
        size: the same of absolute values: of what moved, before it cancelled.
        here: absolute values of the image, summed.
        gap: what the two sides' derivatives differ by at the least step; 0 where they do not.
        step: the step whose plain difference is best over all, in units of the direction.
    """

    values: Values
    error: Values
    size: Values
    here: Values
    gap: Values
    step: float

    @property
    def sure(self) -> Bool[Tensor, " functionals"]:
        """Where they are good enough to judge by."""
        return torch.isfinite(self.values) & (self.error <= 0.1 * self.size)


@dataclass(frozen=True, slots=True, eq=False)
class Differences:
    """Some functionals, and how large a piece may be when they are only evaluated."""

    asked: Asked
    plan: Plan

    @classmethod
    def of(cls, asked: Asked) -> "Differences":
        """See what a piece costs."""
        name, value = next(iter(asked.params.items()))
        moved = move(value, asked.loaded.spec.params[name], torch.ones_like(value), 1e-3)

        @torch.no_grad()
        def work(part: Asked, piece: Piece, _: int) -> Rows:
            return _of_a_piece(part, piece, name, moved)

        return cls(asked, planned(asked, work, 1))

    def once(self, name: str, direction: Tensor) -> Estimate | None:
        """One plain difference; None where its two sides say not to trust it alone."""
        step = FIRST * self._scale(name, direction) / SHRINK**ONCE
        values, size, gap, here = self._made(name, direction, step).unbind(1)
        rounding = _rounding(self.asked, here, step)
        if not bool((gap.abs() <= GAP * size + rounding).all()):
            return None
        return Estimate(values, rounding, size, here, torch.zeros_like(gap), step)

    def estimated(self, name: str, direction: Tensor) -> Estimate:
        """The derivatives along a direction, extrapolated, each at the steps that suit it."""
        scale = self._scale(name, direction)
        steps = [FIRST * scale / SHRINK**level for level in range(LEVELS)]
        made = [self._made(name, direction, step) for step in steps[: ENOUGH - 1]]
        while True:
            made.append(self._made(name, direction, steps[len(made)]))
            found = _best(self.asked, torch.stack(made), steps[: len(made)])
            known = torch.isfinite(found.values)
            if len(made) == LEVELS or bool((found.error <= SURE * found.size)[known].all()):
                return found

    def moved(self, name: str, direction: Tensor) -> Tensor:
        """Whether each functional moves at all over the largest step, and by how much."""
        step = FIRST * self._scale(name, direction)
        values, _, _, here = self._made(name, direction, step).unbind(1)
        return torch.where(values.abs() > _rounding(self.asked, here, step), values, 0.0)

    def columns(self, name: str, entries: Sequence[int], steps: Sequence[float]) -> Rows:
        """Values, and derivatives in some entries by one difference each, with known steps."""
        found = [
            self._made(name, unit(self.asked.params[name], entry), step)[:, :1]
            for entry, step in zip(entries, steps, strict=True)
        ]
        return torch.cat([self.values()[:, None], *found], dim=1)

    def values(self) -> Values:
        """The values of the functionals."""

        @torch.no_grad()
        def work(part: Asked, piece: Piece, _: int) -> Rows:
            return piece.sums(part, piece.image(part, part.params))[:, None]

        return summed(self.asked, work, 1, self.plan)[:, 0]

    def coarsest(self, name: str, direction: Tensor) -> float:
        """The largest step that is made."""
        return FIRST * self._scale(name, direction)

    def _scale(self, name: str, direction: Tensor) -> float:
        return scale_of(self.asked.params[name], self.asked.loaded.spec.params[name], direction)

    def _made(self, name: str, direction: Tensor, step: float) -> Float[Tensor, "functionals 4"]:
        """Derivative, its size, the gap of its two sides and the size of the image."""
        value = self.asked.params[name]
        moved = move(value, self.asked.loaded.spec.params[name], direction, step)

        @torch.no_grad()
        def work(part: Asked, piece: Piece, _: int) -> Rows:
            return _of_a_piece(part, piece, name, moved)

        return summed(self.asked, work, 4, self.plan)


def unit(value: Tensor, entry: int) -> Tensor:
    """The direction of one entry."""
    direction = torch.zeros_like(value)
    direction.view(-1)[entry] = 1.0
    return direction


def _of_a_piece(asked: Asked, piece: Piece, name: str, moved: Move) -> Float[Tensor, "n 4"]:
    here = piece.image(asked, {**asked.params, name: moved.at[0]})
    slope, gap = here * moved.slope[0], here * moved.gap[0]
    for at, weight, sided in zip(moved.at[1:], moved.slope[1:], moved.gap[1:], strict=True):
        image = piece.image(asked, {**asked.params, name: at})
        slope = slope + weight * image
        gap = gap + sided * image
    each = [
        piece.sums(asked, slope),
        piece.sums(asked, slope, size=True),
        piece.sums(asked, gap),
        piece.sums(asked, here, size=True),
    ]
    return torch.stack(each, dim=1)


def _rounding(asked: Asked, here: Tensor, step: float) -> Tensor:
    """What rounding of the image may do to a difference."""
    return ROUNDINGS * torch.finfo(asked.loaded.dtype).eps * here / step


def _contradicted(better: Tensor, rounding: Tensor) -> Tensor:
    """By how much smaller steps say otherwise, beyond their rounding.

    Kinks that large steps cross, as each face of a volume's cells is, add up to what looks smooth.
    """
    found = torch.zeros_like(better)
    for level in range(len(better) - 1):
        apart = (better[level + 1 :] - better[level]).abs() - rounding[level + 1 :]
        found[level] = torch.nan_to_num(apart.amax(dim=0), nan=torch.inf)
    return found


def _best(asked: Asked, made: Float[Tensor, "levels n 4"], steps: Sequence[float]) -> Estimate:
    """The derivative of each functional at its best level, and what it may be off by."""
    plain, size, gap, here = made.unbind(-1)
    better = (SHRINK**2 * plain[1:] - plain[:-1]) / (SHRINK**2 - 1)
    # An extrapolation is believed as far as its neighbour and its own parts agree with it.
    parts = (better - plain[1:]).abs()
    neighbours = (better[1:] - better[:-1]).abs()
    error = torch.maximum(neighbours, torch.minimum(parts[1:], parts[:-1]))
    widths = torch.tensor(steps, dtype=plain.dtype)[:, None]
    # Rounding agrees with itself here and there by chance.
    rounding = _rounding(asked, here, 1.0) / ROUNDINGS / widths
    error = torch.nan_to_num(error + rounding[2:], nan=torch.inf)
    error = torch.maximum(error, _contradicted(better[1:], ROUNDINGS * rounding[2:]))
    least, level = error.min(dim=0)
    values = better[1:].gather(0, level[None])[0]
    last, before = gap[-1].abs(), gap[-3].abs()
    stays = (last > STAYS * before) & (STAYS * last < before)
    kinked = stays & (last > KINK * size[-1]) & (last > _rounding(asked, here[-1], steps[-1]))
    off = torch.nan_to_num((plain - values).abs(), nan=torch.inf).amax(dim=1)
    return Estimate(
        values=values,
        error=least,
        size=size[2:].gather(0, level[None])[0],
        here=here[-1],
        gap=torch.where(kinked, last, 0.0),
        step=steps[int(off.argmin())],
    )
