"""Whether a tangent is the derivative: its comparison with differences, and what the odds mean."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from app.engine.differences import FIRST, SHRINK, Estimate, central, scale_of
from app.engine.tile import Tile

# Relative to the derivative, or to a part of the largest one. Rounding of a float32 renderer of
# many operations stays below the first; a wrong derivative rule is rarely right to the percent.
TOLERANCE = {torch.float32: 2e-3, torch.float64: 1e-5}
# The part of the largest derivative below which a smaller one is compared absolutely.
FLOOR = 0.05
# How much of its own error estimate a difference may be off by.
SAFETY = 10.0
# Fewer pixels than this share may disagree, as they do on a kink, without the whole being wrong.
STRAY = 0.02
# What rounding may do to a float32 tangent and to a difference in float32, half of the time.
GROSS = 0.1
# What kinks that a difference steps over may do: beyond it, a pixel is wrong by itself.
PLAIN = 0.25


@dataclass(frozen=True, slots=True, eq=False)
class Agreement:
    """A tangent beside differences, pixel by pixel.

    Attributes:
        checked: pixels at which the differences are sure enough of themselves to judge.
        wrong: those of them at which the tangent disagrees.
        plain: those of the wrong ones at which a good part of the derivative is missing.
        moving: pixels at which the image moves notably.
        lost: those of the wrong ones at which the tangent is exactly zero.
        relative: the disagreement that all but strays stay below, over the largest derivative.
    """

    checked: Bool[Tensor, "*pixels"]
    wrong: Bool[Tensor, "*pixels"]
    plain: Bool[Tensor, "*pixels"]
    moving: Bool[Tensor, "*pixels"]
    lost: Bool[Tensor, "*pixels"]
    relative: float

    @property
    def right(self) -> bool:
        """Whether the tangent is the derivative, but for strays."""
        return int(self.wrong.sum()) <= STRAY * int(self.checked.sum())

    def right_but_for(self, excused: Bool[Tensor, "*pixels"]) -> bool:
        """Whether it would be right if some pixels were not counted."""
        wrong = self.wrong & ~excused
        return int(wrong.sum()) <= STRAY * int(self.checked.sum())

    @property
    def judged(self) -> bool:
        """Whether there was a pixel to judge by."""
        return bool(self.checked.any())

    @property
    def silent(self) -> bool:
        """Whether the image moves and nothing of it is in the tangent."""
        return int(self.lost.sum()) >= (1 - STRAY) * max(1, int(self.moving.sum()))

    @property
    def code(self) -> str:
        """What a disagreement is to be called."""
        return "tangent_lost" if self.silent else "partly_detached"


def compare(
    tangent: Float[Tensor, "*pixels channels"], estimate: Estimate, dtype: torch.dtype
) -> Agreement:
    """Compare a tangent with differences; the channels of a pixel are judged together.

    Args:
        tangent: the derivative along a direction.
        estimate: the same by differences.
        dtype: the arithmetic that the tangent was computed in.
    """
    values, error = estimate.values, estimate.error
    tangent = tangent.to(values.dtype)
    size = float(torch.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0).abs().max())
    weight = torch.clamp(values.abs(), min=FLOOR * size)
    sure = torch.isfinite(values) & (error <= 0.1 * weight)
    off = (tangent - values).abs()
    # A tangent of NaN is reported as such, and is not a disagreement.
    wrong = sure & (off > TOLERANCE[dtype] * weight + SAFETY * error)
    lost = wrong & (tangent == 0)
    judged = off[sure & torch.isfinite(off)]
    spread = float(torch.quantile(judged, 1 - STRAY)) if judged.numel() else 0.0
    return Agreement(
        checked=sure.any(-1),
        wrong=wrong.any(-1),
        plain=(wrong & (off > PLAIN * weight + SAFETY * error)).any(-1),
        moving=(sure & (values.abs() > FLOOR * size)).any(-1),
        lost=lost.any(-1),
        relative=spread / size if size else 0.0,
    )


def grossly_off(tile: Tile, direction: Tensor, tangent: Tensor, doubted: Tensor) -> bool:
    """Whether a difference in the tile's own arithmetic, coarse as it is, speaks against a tangent.

    Rounding blurs both a little; what a renderer keeps, such as a result that it has cached for the
    value, is lost in one dtype and not in the other.
    """
    with torch.no_grad():
        coarse = central(tile, direction, FIRST * scale_of(tile, direction) / SHRINK)
    off = (tangent - coarse).abs()[doubted]
    size = torch.maximum(tangent.abs(), coarse.abs())[doubted]
    return float((off / size.clamp(min=1e-30)).nanmedian()) > GROSS
