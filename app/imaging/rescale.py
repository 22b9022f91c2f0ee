"""From values to palette indices: which range of values the ends of the colormap stand for.

A range is always chosen out loud: it is either asked for or found here, and in both cases reported.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, isfinite, sqrt

import numpy as np
from numpy.typing import NDArray

from app.imaging.errors import InvalidRescaleError, quote
from app.imaging.mapdata import FloatArray
from app.imaging.norm import Norm
from app.imaging.order import BLOCK, percentile_rank, ranked
from app.imaging.palette import LAST, MIDDLE, NAN

LINEAR = Norm("linear")

# At most one in two hundred of the pixels that show is drawn at its end of the range without
# being there. On a smooth map the 99.5th percentile is within a few per cent of the maximum; on a
# Monte Carlo map it leaves the fireflies behind.
PERCENTILE = 99.5

# A pixel below a 500th of the range is drawn about like zero (a quarter of a level), so it has no
# say in it: otherwise the faint tails around a thin ring, most of the picture, would outvote it.
_SHOWN = 1 / 500

_TINIEST = 5e-324  # the smallest float above zero


@dataclass(frozen=True, slots=True)
class Rescale:
    """The values that the two ends of the colormap stand for; 0 where -0 is given.

    Raises:
        InvalidRescaleError: Not finite, or not in increasing order.
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        """Refuse a range that nothing can be drawn in."""
        if not (isfinite(self.low) and isfinite(self.high) and self.low < self.high):
            raise InvalidRescaleError(
                "A range is two finite numbers, the lower one first, such as [-1, 1]; "
                f"got {quote([self.low, self.high])}."
            )
        # An end is written in headers and beside the picture, where "-0" only puzzles.
        set_field = object.__setattr__  # the one way to complete a frozen instance
        set_field(self, "low", self.low + 0.0)
        set_field(self, "high", self.high + 0.0)

    @property
    def limit(self) -> float:
        """The largest magnitude in the range."""
        return max(abs(self.low), abs(self.high))


DEFAULT = Rescale(-1.0, 1.0)  # of a map that is zero, or has no finite value, everywhere


def robust_rescale(layer: FloatArray, *, symmetric: bool = True) -> Rescale:
    """A range that suits these values, whatever they are, and is not fooled by outliers.

    Symmetric: ``[-r, r]``, with r the robust limit of all magnitudes. Otherwise each end that zero
    lies inside of has its own robust limit, and an end on the far side of zero is the extreme
    itself; a constant is shown from zero. `DEFAULT` where there is nothing but zeros and NaN.
    """
    flat = layer.reshape(-1)
    with np.errstate(invalid="ignore"):
        low, high = float(flat.min()), float(flat.max())
    if not (isfinite(low) and isfinite(high)):
        flat = flat[np.isfinite(flat)]
        low, high = (float(flat.min()), float(flat.max())) if flat.size else (0.0, 0.0)
    if low == high == 0:
        return DEFAULT
    if symmetric:
        limit = robust_limit(np.abs(flat))
        return Rescale(-limit, limit)
    if low < 0:
        low = -robust_limit(np.maximum(-flat, 0))
    if high > 0:
        high = robust_limit(np.maximum(flat, 0))
    return Rescale(min(low, 0.0), max(high, 0.0)) if low >= high else Rescale(low, high)


def robust_limit(magnitudes: FloatArray) -> float:
    """The end of the range for these magnitudes, which are finite and not all zero; never zero.

    Two steps, because "large" and "rare" must not be confused. First the few largest are set aside:
    an isolated pixel is noise, a structure has at least about as many pixels as a side of the
    picture, so an eighth of a side is let go. Then the percentile is taken of the pixels that
    show against what remains. One 1e6 among ones gives 1, and a thin ring on black its own height.
    More isolated pixels than are spared are told from a structure only while they are less than
    500 times as large as the rest: this looks at values, not at places.
    """
    size = magnitudes.size
    nonzero = int(np.count_nonzero(magnitudes > 0))
    spared = ceil(sqrt(nonzero) / 8) if nonzero > 8 else 0
    (peak,) = ranked(magnitudes, [size - 1 - spared], finite=size)
    # The threshold of a denormal peak rounds to zero, and then zeros would count as shown.
    faintest = max(peak * _SHOWN, float(np.finfo(magnitudes.dtype).smallest_subnormal))
    shown = int(np.count_nonzero(magnitudes >= faintest))
    rank = size - shown + percentile_rank(PERCENTILE, shown)
    (limit,) = ranked(magnitudes, [min(rank, size - 1 - spared)], finite=size)
    return limit


def index(
    layer: FloatArray, rescale: Rescale, *, norm: Norm = LINEAR, diverging: bool = True
) -> NDArray[np.uint8]:
    """The palette index of every value: 0 at the low end, `LAST` at the high end, `NAN` for NaN.

    On a diverging colormap zero is exactly `MIDDLE`, always: each side of zero is measured against
    its own end, and a range on one side of zero uses its half. Otherwise the indices are even from
    end to end. Values beyond the ends, and infinities, are drawn at the ends.
    """
    flat = np.ascontiguousarray(layer).reshape(-1)
    indices = np.empty(flat.size, np.uint8)
    placement = Placement.of(rescale, norm, diverging=diverging)
    work = np.empty(min(BLOCK, flat.size), _working_type(flat, rescale))
    # Overflow only happens beyond the ends, where it is clipped; NaN is put right at the end.
    with np.errstate(all="ignore"):
        for block, out in _pairs(flat, indices):
            scaled = work[: block.size]
            np.copyto(scaled, block)
            placement.place(scaled)
            np.rint(scaled, out=scaled)
            np.copyto(out, scaled, casting="unsafe")
            if np.isnan(scaled.min()):
                out[np.isnan(scaled)] = NAN
    return indices.reshape(layer.shape)


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Where values go on the palette: a slope on each side of the value with the middle index.

    Attributes:
        origin: The position (of the norm) with the index `MIDDLE`.
        below: The distance from the origin that covers the lower half of the indices.
        above: The same for the upper half.
        first: The index of the low end of the range, and of all below.
        last: The index of the high end of the range, and of all above.
    """

    norm: Norm
    origin: float
    below: float
    above: float
    first: int = 0
    last: int = LAST

    @classmethod
    def of(cls, rescale: Rescale, norm: Norm, *, diverging: bool) -> "Placement":
        """The placement for a range: two-sided, one-sided, or even from end to end."""
        low, high = norm.position(rescale.low), norm.position(rescale.high)
        if diverging and low >= 0:  # a range on one side of zero starts at the middle colour
            return cls(norm=norm, origin=low, below=high - low, above=high - low, first=MIDDLE)
        if diverging and high <= 0:
            return cls(norm=norm, origin=high, below=high - low, above=high - low, last=MIDDLE)
        if diverging:
            # A lopsided symlog range may have an end whose position is too small for a float.
            return cls(norm=norm, origin=0.0, below=max(-low, _TINIEST), above=max(high, _TINIEST))
        # Halves, because the whole width of a range as wide as float64 would be infinite.
        half = high / 2 - low / 2
        return cls(norm=norm, origin=low / 2 + high / 2, below=half, above=half)

    def place(self, block: FloatArray) -> None:
        """Replace values by unrounded indices, in place; NaN stays NaN."""
        self.norm.apply(block)
        if self.origin:
            block -= self.origin
        if self.below == self.above:
            block /= self.above  # not times an inverse: that of a denormal range is infinite
        else:
            np.divide(block, np.where(block < 0, self.below, self.above), out=block)
        block *= MIDDLE
        block += MIDDLE
        np.clip(block, self.first, self.last, out=block)


def _pairs(
    flat: FloatArray, indices: NDArray[np.uint8]
) -> Iterator[tuple[FloatArray, NDArray[np.uint8]]]:
    for start in range(0, flat.size, BLOCK):
        yield flat[start : start + BLOCK], indices[start : start + BLOCK]


def _working_type(flat: FloatArray, rescale: Rescale) -> type[np.float32] | type[np.float64]:
    """float32 is exact enough for 251 levels, unless the range is extreme or very lopsided."""
    ends = [abs(end) for end in (rescale.low, rescale.high) if end]
    usual = 1e-30 < rescale.limit < 1e30 and min(ends) > 1e-6 * rescale.limit
    return np.float32 if usual and flat.dtype != np.float64 else np.float64
