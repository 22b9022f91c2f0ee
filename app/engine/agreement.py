"""Whether a tangent is the derivative: its comparison with differences, and what the odds mean."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from app.engine.differences import FIRST, SHRINK, central, scale_of
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
# Of the pixels: a tangent that is no number at fewer says that there is no derivative there.
BROKEN = 0.125
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
        broken: those of the wrong ones at which the tangent is no number, though the image moves
            smoothly.
        relative: the disagreement that all but strays stay below, over the largest derivative.
    """

    checked: Bool[Tensor, "*pixels"]
    wrong: Bool[Tensor, "*pixels"]
    plain: Bool[Tensor, "*pixels"]
    moving: Bool[Tensor, "*pixels"]
    lost: Bool[Tensor, "*pixels"]
    broken: Bool[Tensor, "*pixels"]
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
        if 2 * int(self.broken.sum()) > int(self.wrong.sum()):
            return "broken_derivative"
        return "tangent_lost" if self.silent else "partly_detached"


def compare(
    tangent: Float[Tensor, "*pixels channels"],
    values: Float[Tensor, "*pixels channels"],
    error: Tensor | float,
    dtype: torch.dtype,
    rounding: Tensor | float = 0.0,
) -> Agreement:
    """Compare a tangent with differences; the channels of a pixel are judged together.

    Args:
        tangent: the derivative along a direction.
        values: the same by differences.
        error: what these may be off by.
        dtype: the arithmetic that the tangent was computed in.
        rounding: what differences cannot see, however sure they are of themselves: where an image
            does not change by its last place, a derivative is no zero.
    """
    tangent = tangent.to(values.dtype)
    moved = values.abs()
    size = float(torch.nan_to_num(moved, nan=0.0, posinf=0.0).max())
    weight = moved.clamp(min=FLOOR * size)
    sure = torch.isfinite(values) & (error <= 0.1 * weight)
    off = (tangent - values).abs()
    broken = sure & ~torch.isfinite(tangent)
    if int(broken.any(-1).sum()) <= BROKEN * int(sure.any(-1).sum()):
        # Here and there, as on the tip of a cone, NaN is an answer: it is counted and shown.
        broken = torch.zeros_like(broken)
    wrong = broken | (sure & (off > TOLERANCE[dtype] * weight + SAFETY * (error + rounding)))
    lost = wrong & (tangent == 0)
    return Agreement(
        checked=sure.any(-1),
        wrong=wrong.any(-1),
        plain=(wrong & (off > PLAIN * weight + SAFETY * error)).any(-1),
        moving=(sure & (moved > FLOOR * size)).any(-1),
        lost=lost.any(-1),
        broken=broken.any(-1),
        relative=below(off[sure & torch.isfinite(off)]) / size if size else 0.0,
    )


def below(off: Float[Tensor, " values"]) -> float:
    """What all but strays stay below."""
    if not off.numel():
        return 0.0
    return float(off.sort().values[round((1 - STRAY) * (off.numel() - 1))])


def grossly_off(
    tile: Tile, direction: Tensor, tangent: Tensor, doubted: Tensor, exact: Tensor
) -> bool:
    """Whether a tangent that is right in float64 is wrong in the tile's own arithmetic.

    Rounding blurs it a little; what a renderer keeps, such as a result that it has cached for the
    value, is lost in one dtype and not in the other. It is lost where neither the exact derivative
    nor a difference in the same arithmetic, coarse as it is, speaks for the tangent.
    """
    if not _far_off(tangent, exact.to(tangent.dtype), doubted):
        return False
    with torch.no_grad():
        coarse = central(tile, direction, FIRST * scale_of(tile, direction) / SHRINK)
    return _far_off(tangent, coarse, doubted)


def _far_off(tangent: Tensor, other: Tensor, doubted: Tensor) -> bool:
    off = (tangent - other).abs()[doubted]
    size = torch.maximum(tangent.abs(), other.abs())[doubted]
    return float((off / size.clamp(min=1e-30)).nanmedian()) > GROSS
