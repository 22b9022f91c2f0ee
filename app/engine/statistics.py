"""Statistics of a map, gathered band by band while its values are still in the cache."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """What is said of the values of a map; NaN and infinities are counted and left out of the rest.

    Attributes:
        size: how many values there are.
        nan: how many are NaN.
        posinf: how many are +infinity.
        neginf: how many are -infinity.
        low: smallest finite value; +infinity when there is none.
        high: largest finite value; -infinity when there is none.
        total: sum of the finite values.
        squares: sum of their squares.
    """

    size: int = 0
    nan: int = 0
    posinf: int = 0
    neginf: int = 0
    low: float = math.inf
    high: float = -math.inf
    total: float = 0.0
    squares: float = 0.0

    @property
    def finite(self) -> int:
        """How many values are finite."""
        return self.size - self.nan - self.posinf - self.neginf

    @property
    def mean(self) -> float | None:
        """Mean of the finite values; None where there are none, or their sum is beyond float64."""
        return self.total / self.finite if self.finite and math.isfinite(self.total) else None

    @property
    def rms(self) -> float | None:
        """Root mean square of the finite values; None as for the mean."""
        known = self.finite and math.isfinite(self.squares)
        return math.sqrt(self.squares / self.finite) if known else None

    def __add__(self, other: "Statistics") -> "Statistics":
        """The statistics of both sets of values together."""
        return type(self)(
            size=self.size + other.size,
            nan=self.nan + other.nan,
            posinf=self.posinf + other.posinf,
            neginf=self.neginf + other.neginf,
            low=min(self.low, other.low),
            high=max(self.high, other.high),
            total=self.total + other.total,
            squares=self.squares + other.squares,
        )

    def describe(self) -> dict[str, float | int | None]:
        """Plain data for JSON: no NaN and no infinity in it."""
        return {
            "size": self.size,
            "nan": self.nan,
            "posinf": self.posinf,
            "neginf": self.neginf,
            "min": self.low if self.finite else None,
            "max": self.high if self.finite else None,
            "mean": self.mean,
            "rms": self.rms,
        }


# Values that are summed in float32 at once, and between what sizes their squares are float32s too.
RUN = 512
SQUARES = (1e-16, 1e17)

Measured = Statistics | Tensor
"""The statistics of a tile, or what is still on its way from the device, `(8,)`."""


def combined(parts: Iterable[Measured]) -> Statistics:
    """The statistics of all tiles; what is still on the device is fetched at once."""
    known = Statistics()
    waiting: list[Tensor] = []
    for part in parts:
        if isinstance(part, Tensor):
            waiting.append(part)
        else:
            known += part
    rows = torch.stack(waiting).tolist() if waiting else []
    for size, nan, posinf, neginf, low, high, summed, squares in rows:
        counts = {"size": size, "nan": nan, "posinf": posinf, "neginf": neginf}
        whole = {name: int(count) for name, count in counts.items()}
        known += Statistics(low=low, high=high, total=summed, squares=squares, **whole)
    return known


def measure_later(values: Float[Tensor, "..."]) -> Float[Tensor, "8"]:
    """The statistics of a tensor as numbers beside it: reading one would wait for the device."""
    exact = values.to(torch.float64)
    finite = exact.isfinite()
    known = torch.where(finite, exact, 0.0)
    counts = (values.isnan(), values.isposinf(), values.isneginf())
    numbers = [
        exact.new_tensor(values.numel()),
        *(count.sum(dtype=torch.float64) for count in counts),
        torch.where(finite, exact, math.inf).amin(),
        torch.where(finite, exact, -math.inf).amax(),
        known.sum(),
        known.square().sum(),
    ]
    return torch.stack(numbers)


def measure(values: Float[Tensor, "..."]) -> Statistics:
    """The statistics of a tensor: three passes, and more only where something is not finite."""
    if values.numel():
        low, high = _bounds(values)
        most = max(abs(low), abs(high))
        # NaN is in neither range.
        if values.dtype is torch.float32 and (most == 0 or SQUARES[0] < most < SQUARES[1]):
            total, squares = _in_runs(values.reshape(-1))
            return Statistics(size=values.numel(), low=low, high=high, total=total, squares=squares)
    total = float(values.sum(dtype=torch.float64))
    if math.isfinite(total):
        low, high = _bounds(values)
        norm = float(torch.linalg.vector_norm(values, dtype=torch.float64))
        return Statistics(size=values.numel(), low=low, high=high, total=total, squares=norm * norm)
    counts = {
        "nan": int(values.isnan().sum()),
        "posinf": int(values.isposinf().sum()),
        "neginf": int(values.isneginf().sum()),
    }
    if not any(counts.values()):
        # Each is finite; it is their sum that is beyond float64.
        low, high = _bounds(values)
        return Statistics(size=values.numel(), low=low, high=high, total=math.inf, squares=math.inf)
    finite = values[values.isfinite()]
    rest = measure(finite) if finite.numel() else Statistics()
    return rest + Statistics(size=sum(counts.values()), **counts)


def _bounds(values: Float[Tensor, "..."]) -> tuple[float, float]:
    """The least and the greatest; `torch.aminmax` takes longer than both passes."""
    return float(values.amin()), float(values.amax())


def _in_runs(values: Float[Tensor, " n"]) -> tuple[float, float]:
    """The sum and the sum of squares of float32 values that are finite, and so are their squares.

    Runs are short enough to be summed in float32, which is twenty times faster than a conversion
    of each value; the runs' sums are then added in float64.
    """
    whole = values[: values.numel() // RUN * RUN].view(-1, RUN)
    rest = values[whole.numel() :].double()
    total = whole.sum(1).sum(dtype=torch.float64) + rest.sum()
    norms = torch.linalg.vector_norm(whole, dim=1).double()
    return float(total), float(norms.square().sum() + rest.square().sum())
