"""A map's tangents beside differences: with as few of them as settle the matter."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from app.engine.agreement import Agreement, compare, grossly_off
from app.engine.differences import Difference, difference
from app.engine.extrapolation import Estimate, estimate, rounding
from app.engine.strategies import Strategy
from app.engine.strategies.finite_difference import finite_difference
from app.engine.tile import Tile

# The share of pixels that may be a little off: among them are those where the map itself jumps, as
# it does at each face of a cell that a volume's ray crosses.
ASTRAY = 0.05
# What the two sides of a difference may differ by, over the largest derivative, before a kink is
# looked for; and by rounding, which a float32 renderer of many operations does to its image, in
# units of the largest value's last place.
GAP = 0.05
ROUNDINGS = 1000


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Some pixels of a map beside differences.

    Attributes:
        agreement: of the map with differences.
        kinked: where the image has a kink in the parameter.
        imprecise: where it disagrees because of rounding: in float64 it would not.
        strict: whether a single pixel that is plainly wrong makes the whole so.
    """

    agreement: Agreement
    kinked: Bool[Tensor, "*pixels"]
    imprecise: Bool[Tensor, "*pixels"]
    strict: bool = False

    @property
    def wrong(self) -> Bool[Tensor, "*pixels"]:
        """Where the map is wrong, and nothing excuses it."""
        return self.agreement.wrong & ~self.kinked & ~self.imprecise

    @property
    def right(self) -> bool:
        """Whether the map is right at all but kinks and strays."""
        if self.strict and bool((self.wrong & self.agreement.plain).any()):
            return False
        return int(self.wrong.sum()) <= ASTRAY * int(self.agreement.checked.sum())


def joined_comparisons(parts: Sequence[Comparison]) -> Comparison:
    """Several comparisons as one, the pixels of each in a row."""

    def cat(masks: Iterable[Tensor]) -> Tensor:
        return torch.cat([mask.flatten() for mask in masks])

    agreements = [part.agreement for part in parts]
    return Comparison(
        Agreement(
            checked=cat(each.checked for each in agreements),
            wrong=cat(each.wrong for each in agreements),
            plain=cat(each.plain for each in agreements),
            moving=cat(each.moving for each in agreements),
            lost=cat(each.lost for each in agreements),
            broken=cat(each.broken for each in agreements),
            relative=max(each.relative for each in agreements),
        ),
        kinked=cat(part.kinked for part in parts),
        imprecise=cat(part.imprecise for part in parts),
        strict=all(part.strict for part in parts),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """What is compared.

    Attributes:
        tile: the positions, in the arithmetic of the map.
        exact: the same in float64, where that is allowed; else the tile itself.
        strategy: how the map was computed.
        direction: the direction in parameter space, in the arithmetic of `exact`.
        tangent: the map along that direction.
        image: the image as it was computed with the map.
        step: the step of a difference that is likely to do.
    """

    tile: Tile
    exact: Tile
    strategy: Strategy
    direction: Float[Tensor, "*entries"]
    tangent: Float[Tensor, "*pixels channels"]
    image: Float[Tensor, "*pixels channels"]
    step: float


@torch.no_grad()
def compared(asked: Question) -> Comparison:
    """Compare with one difference, and where that raises a doubt, with a ladder of them."""
    here = asked.image.to(asked.direction.dtype)
    once = difference(asked.exact, asked.direction, asked.step, here)
    agreement = compare(
        asked.tangent, once.values, 0.0, asked.tile.loaded.dtype, rounding(here, asked.step)
    )
    none = torch.zeros_like(agreement.wrong)
    if not bool(agreement.wrong.any()) and not _gaping(asked, once):
        return Comparison(agreement, none, none)
    # One step may err by itself; a ladder of them knows by how much.
    sure = estimate(asked.exact, asked.direction)
    agreement = compare(
        asked.tangent, sure.values, sure.error, asked.tile.loaded.dtype, sure.rounding
    )
    found = Comparison(agreement, sure.creased | (sure.kinked & agreement.wrong), none)
    return replace(found, imprecise=_imprecise(asked, found.wrong, sure))


def _gaping(asked: Question, once: Difference) -> bool:
    """Whether the two sides of a difference differ by more than curvature and rounding explain."""
    if once.gap is None:
        return False
    gap, size, image = (
        float(torch.nan_to_num(each, nan=0.0, posinf=0.0, neginf=0.0).abs().max())
        for each in (once.gap, once.values, asked.image)
    )
    rounding = ROUNDINGS * torch.finfo(asked.image.dtype).eps * image
    return gap > GAP * size + rounding / asked.step


def _imprecise(
    asked: Question, wrong: Bool[Tensor, "*pixels"], sure: Estimate
) -> Bool[Tensor, "*pixels"]:
    """Where it is rounding alone that makes a tangent wrong."""
    none = torch.zeros_like(wrong)
    tile, exact = asked.tile, asked.exact
    if exact is tile or asked.strategy.name == finite_difference.name or not bool(wrong.any()):
        return none
    _, tangents = asked.strategy.differentiate(exact, asked.direction[None])
    rounded = wrong & ~compare(tangents[0], sure.values, sure.error, torch.float64).wrong
    if not bool(rounded.any()):
        return none
    own = asked.direction.to(tile.value.dtype)
    off = grossly_off(tile, own, asked.tangent.to(own.dtype), rounded, sure.values)
    return none if off else rounded
