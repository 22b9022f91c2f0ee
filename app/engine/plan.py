"""How big a tile may be: the bytes that a pixel was measured to need, against the budget."""

from collections.abc import Callable
from dataclasses import dataclass

import torch

MIB = 1 << 20
# Bytes of working memory, beside the outputs, that a map may use unless the operator says more.
DEFAULT_BUDGET = 160 * MIB
# Pixels of a band where the interpreter's cost per call is a few percent, and beyond which the
# CPU's caches gain nothing and a CUDA device is full.
PREFERRED_PIXELS = {"cpu": 1 << 18, "cuda": 1 << 22}
# How much smaller a band may be for the sake of carrying more directions, which share the image.
SMALLER = 16
# The part of a budget that is planned with: kernels take and return memory within one operation,
# and the allocator keeps holes; neither is seen while an operation's outputs are counted.
PLANNED = 0.4375
# Pixels of the two trial tiles: enough that fixed costs do not blur the slope.
TRIAL_PIXELS = 4096
# Entries of all pixels of a trial together, and the width of its frames.
TRIAL_ENTRIES = 1 << 20
TRIAL_WIDTH = 64


@dataclass(frozen=True, slots=True)
class Cost:
    """Working memory of a tile as a linear model: `fixed + pixels * (primal + tangents * each)`.

    Attributes:
        fixed: bytes whatever the size.
        primal: bytes a pixel for the image itself.
        tangent: bytes a pixel for each direction carried along.
        band: pixels of the band that was found best; 0 where that was not measured.
    """

    fixed: float
    primal: float
    tangent: float
    band: int = 0

    def a_pixel(self, tangents: int) -> float:
        """Bytes that a pixel with that many directions adds to the peak."""
        return max(1.0, self.primal + tangents * self.tangent)

    def bytes(self, pixels: int, tangents: int) -> float:
        """Bytes that a tile of that many pixels and directions needs at its peak."""
        return self.fixed + pixels * self.a_pixel(tangents)


@dataclass(frozen=True, slots=True)
class Plan:
    """How a map is cut.

    Attributes:
        rows: rows of a band.
        tangents: directions carried along at once.
        bytes: working memory that a tile is expected to need.
    """

    rows: int
    tangents: int
    bytes: int

    def halved(self, *, whole: bool) -> "Plan | None":
        """The next smaller plan, or None when there is none.

        Args:
            whole: whether the frame cannot be cut into bands, so that only the directions can.
        """
        if self.rows > 1 and not whole:
            return Plan(self.rows // 2, self.tangents, self.bytes // 2)
        if self.tangents > 1:
            return Plan(self.rows, self.tangents // 2, self.bytes // 2)
        return None


def fit(measure: Callable[[int, int], int], tangents: int) -> Cost:
    """The cost model from a few small trials.

    What is needed whatever the size shows in the primal image, which is cheap to try twice; the
    directions are then tried once, and are taken to multiply it.

    Args:
        measure: `pixels, tangents -> peak bytes`, run on trial tiles.
        tangents: directions of the map; 0 for a primal image.
    """
    small, large = measure(TRIAL_PIXELS, 0), measure(2 * TRIAL_PIXELS, 0)
    primal = max(1.0, (large - small) / TRIAL_PIXELS)
    fixed = max(0.0, large - primal * 2 * TRIAL_PIXELS)
    if not tangents:
        return Cost(fixed, primal, 0.0)
    carried = min(tangents, 2)
    peak = measure(2 * TRIAL_PIXELS, carried)
    fixed *= peak / max(1, large)
    pixel = (peak - fixed) / (2 * TRIAL_PIXELS)
    return Cost(fixed, primal, max(1.0, (pixel - primal) / carried))


def fit_recorded(measure: Callable[[int, int], int], tangents: int) -> Cost:
    """The cost model of a recording.

    One direction is carried together with the image, and values are let go on the way; for several
    the image's are kept for all of them.
    """
    carried = min(tangents, 2)
    small, large = measure(TRIAL_PIXELS, carried), measure(2 * TRIAL_PIXELS, carried)
    pixel = max(1.0, (large - small) / TRIAL_PIXELS)
    fixed = max(0.0, large - 2 * TRIAL_PIXELS * pixel)
    if carried < 2:
        return Cost(fixed, pixel, 0.0)
    each = max(1.0, (measure(2 * TRIAL_PIXELS, 3) - large) / (2 * TRIAL_PIXELS))
    return Cost(fixed, max(1.0, pixel - 2 * each), each)


def fit_gradient(measure: Callable[[int, int], int], tangents: int) -> Cost:
    """The cost model of a strategy that gives the derivative by every entry at once.

    Of many entries, few pixels are tried: each of them holds them all.
    """
    pixels = TRIAL_WIDTH * max(1, min(TRIAL_PIXELS, TRIAL_ENTRIES // tangents) // TRIAL_WIDTH)
    small, large = measure(pixels, tangents), measure(2 * pixels, tangents)
    pixel = max(1.0, (large - small) / pixels)
    return Cost(max(0.0, large - 2 * pixels * pixel), pixel, 0.0)


def choose(
    cost: Cost,
    *,
    width: int,
    height: int,
    tangents: int,
    budget: int,
    device: torch.device,
    whole: bool = False,
) -> Plan:
    """The largest band of preferred size, and the most directions, that the budget holds.

    A single row of one direction is always allowed: a map that cannot fit is found out by the
    device, not by the estimate. A renderer that must be evaluated whole gets all rows at once.
    """
    room = max(0.0, PLANNED * budget - cost.fixed)
    chunk = max(1, tangents)
    affordable = room / cost.a_pixel(chunk)
    frame = width * height
    preferred = cost.band or PREFERRED_PIXELS[device.type]
    needed = frame if whole else min(preferred / SMALLER, frame)
    while chunk > 1 and affordable < needed:
        chunk = (chunk + 1) // 2
        affordable = room / cost.a_pixel(chunk)
    pixels = min(affordable, preferred)
    rows = height if whole else max(1, min(height, int(pixels // width)))
    return Plan(rows, chunk, int(cost.bytes(rows * width, chunk)))
