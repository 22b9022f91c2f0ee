"""Numbers that sum up a map: extremes, moments, percentiles, and how much is not a number."""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from app.imaging.mapdata import FloatArray
from app.imaging.order import BLOCK, blocks, percentile_rank, ranked

_PERCENTS = (1.0, 50.0, 99.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """A summary of every number of a map.

    Extremes, moments and percentiles are those of the finite values, signed as they stand, and None
    where there is no finite value (``rms`` and the extremes tell the magnitude). Percentiles are
    numbers that occur in the map (nearest rank). They are exact, so two summaries cannot be merged
    into the percentiles of the union.

    Attributes:
        size: How many numbers there are, finite or not.
        zero_fraction: The part of all numbers that is exactly zero: a map that is mostly zero says
            something about its renderer.
    """

    minimum: float | None
    maximum: float | None
    mean: float | None
    rms: float | None
    p1: float | None
    p50: float | None
    p99: float | None
    size: int
    nan: int
    posinf: int
    neginf: int
    zero_fraction: float


@dataclass(slots=True)
class _Tally:
    """Running sums over the finite values, and counts of the rest."""

    finite: int = 0
    total: float = 0.0
    squares: float = 0.0
    low: float = np.inf
    high: float = -np.inf
    zeros: int = 0
    posinf: int = 0
    neginf: int = 0

    def add(self, block: FloatArray, wide: FloatArray) -> None:
        """Take in a block of finite values; `wide` is float64 room for it."""
        exact = wide[: block.size]
        np.copyto(exact, block)
        self.finite += block.size
        self.total += float(exact.sum())
        self.squares += float(exact.dot(exact))
        self.low = min(self.low, float(block.min()))
        self.high = max(self.high, float(block.max()))
        self.zeros += int(np.count_nonzero(block == 0))


def statistics(values: FloatArray) -> Statistics:
    """The summary of an array of any shape, in a few passes over blocks of it.

    Sums run in float64 over blocks, so 400 million float32 lose nothing that shows. Needs a
    megabyte beside the values, unless they are not contiguous.
    """
    flat = values.reshape(-1)
    tally = _tally(flat)
    if tally.finite == 0:
        p1 = p50 = p99 = mean = rms = low = high = None
    else:
        ranks = [percentile_rank(percent, tally.finite) for percent in _PERCENTS]
        p1, p50, p99 = ranked(flat, ranks, finite=tally.finite)
        low, high = tally.low, tally.high
        mean, rms = _moments(tally, flat)
    return Statistics(
        minimum=low,
        maximum=high,
        mean=mean,
        rms=rms,
        p1=p1,
        p50=p50,
        p99=p99,
        size=flat.size,
        nan=flat.size - tally.finite - tally.posinf - tally.neginf,
        posinf=tally.posinf,
        neginf=tally.neginf,
        zero_fraction=tally.zeros / flat.size if flat.size else 0.0,
    )


def _tally(flat: FloatArray) -> _Tally:
    tally, wide = _Tally(), np.empty(BLOCK, np.float64)
    # The sums of a float64 map may leave the range of float64; `_moments` looks after that.
    with np.errstate(over="ignore", invalid="ignore"):
        for block in blocks(flat, clean=True):
            finite = block
            # The extremes are NaN or infinite when anything in the block is.
            if not (np.isfinite(block.min()) and np.isfinite(block.max())):
                tally.posinf += int(np.count_nonzero(block == np.inf))
                tally.neginf += int(np.count_nonzero(block == -np.inf))
                finite = block[np.isfinite(block)]
            if finite.size:
                tally.add(finite, wide)
    return tally


def _moments(tally: _Tally, flat: FloatArray) -> tuple[float, float]:
    """Mean and root mean square; again in units of the largest where squares left float64."""
    largest = max(abs(tally.low), abs(tally.high))
    if largest == 0 or 1e-120 < largest < 1e120:
        return tally.total / tally.finite, sqrt(tally.squares / tally.finite)
    total = squares = 0.0
    for block in blocks(flat, clean=tally.finite == flat.size):
        scaled = block / np.float64(largest)
        total += float(scaled.sum())
        squares += float(scaled.dot(scaled))
    # Neither is above the largest, but rounding up could make the largest float infinite.
    mean = min(max(total / tally.finite, -1.0), 1.0)
    return largest * mean, largest * sqrt(min(squares / tally.finite, 1.0))
