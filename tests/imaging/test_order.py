import numpy as np
import pytest

from app.imaging import order
from app.imaging.order import percentile_rank, ranked

SIZE = 300_000  # above the size that is simply sorted


def _mostly_zero(rng: np.random.Generator) -> np.ndarray:
    return np.where(rng.random(SIZE) < 0.9, 0.0, rng.standard_normal(SIZE))


ARRAYS = {
    "normal": lambda rng: rng.standard_normal(SIZE),
    "mostly zero": _mostly_zero,
    "two values": lambda rng: (rng.random(SIZE) < 0.3).astype(float),
    "constant": lambda _: np.full(SIZE, 3.0),
    "heavy tails": lambda rng: rng.standard_cauchy(SIZE),
    "already ordered": lambda _: np.arange(SIZE, dtype=float),
    "one outlier": lambda _: np.concatenate([np.ones(SIZE - 1), [1e6]]),
}


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("name", ARRAYS)
def test_ranked_elements_are_those_of_a_full_sort(name: str, dtype: str) -> None:
    with np.errstate(over="ignore"):
        values = ARRAYS[name](np.random.default_rng(1)).astype(dtype)
    values = values[np.isfinite(values)]
    ranks = [0, 1, values.size // 100, values.size // 2, int(values.size * 0.995), values.size - 1]
    assert ranked(values, ranks, finite=values.size) == np.sort(values)[ranks].tolist()


def test_what_is_not_finite_has_no_rank() -> None:
    values = np.random.default_rng(2).standard_normal(SIZE).astype("f4")
    holes = values.copy()
    holes[::7], holes[1::70], holes[2::70] = np.nan, np.inf, -np.inf
    finite = np.sort(holes[np.isfinite(holes)])
    ranks = [0, finite.size // 2, finite.size - 1]
    assert ranked(holes, ranks, finite=finite.size) == finite[ranks].tolist()


def test_a_sample_that_misses_costs_time_and_not_the_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(order, "_WIDTH", 0.0)  # brackets of two sample steps, which mostly miss
    values = np.random.default_rng(3).standard_normal(SIZE)
    ranks = list(range(1000, SIZE - 1000, SIZE // 20))
    assert ranked(values, ranks, finite=SIZE) == np.sort(values)[ranks].tolist()


@pytest.mark.parametrize("percent", [0.5, 1.0, 50.0, 99.0, 99.5, 100.0])
@pytest.mark.parametrize("count", [1, 2, 7, 100, 1001])
def test_percentile_is_the_nearest_rank(percent: float, count: int) -> None:
    values = np.arange(count)
    expected = np.percentile(values, percent, method="inverted_cdf")
    assert values[percentile_rank(percent, count)] == expected
