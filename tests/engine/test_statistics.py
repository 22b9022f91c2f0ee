import math

import numpy as np
import pytest
import torch

from app.engine.statistics import Statistics, combined, measure, measure_later
from tests.tolerances import STATISTICS_RTOL


def test_the_statistics_are_those_of_numpy() -> None:
    values = torch.randn(7, 11, 3, generator=torch.Generator().manual_seed(1))
    got, reference = measure(values), values.double().numpy()
    assert (got.size, got.nan, got.posinf, got.neginf) == (231, 0, 0, 0)
    assert (got.low, got.high) == (values.min().item(), values.max().item())
    assert got.mean == pytest.approx(reference.mean(), rel=STATISTICS_RTOL)
    assert got.rms == pytest.approx(np.sqrt((reference**2).mean()), rel=STATISTICS_RTOL)


def test_nan_and_infinities_are_counted_and_left_out() -> None:
    values = torch.tensor([1.0, math.nan, math.inf, -math.inf, 3.0, math.inf])
    got = measure(values)
    assert (got.size, got.nan, got.posinf, got.neginf, got.finite) == (6, 1, 2, 1, 2)
    assert (got.low, got.high, got.mean) == (1.0, 3.0, 2.0)
    assert got.rms == pytest.approx(math.sqrt(5.0))


def test_opposite_infinities_do_not_hide_behind_each_other() -> None:
    assert measure(torch.tensor([math.inf, -math.inf])).finite == 0


def test_parts_add_up_to_the_whole() -> None:
    values = torch.randn(100, generator=torch.Generator().manual_seed(2)) * 1e6
    values[17] = math.nan
    whole, parts = measure(values), measure(values[:31]) + measure(values[31:])
    assert (parts.size, parts.nan, parts.low, parts.high) == (100, 1, whole.low, whole.high)
    assert parts.total == pytest.approx(whole.total, rel=STATISTICS_RTOL)
    assert parts.squares == pytest.approx(whole.squares, rel=STATISTICS_RTOL)


def test_large_float32_values_do_not_overflow() -> None:
    assert measure(torch.full((4,), 1e30)).rms == pytest.approx(1e30, rel=1e-6)


def test_where_nothing_is_finite_the_description_holds_nothing_that_json_lacks() -> None:
    said = measure(torch.tensor([math.nan])).describe()
    assert said["min"] is said["max"] is said["mean"] is said["rms"] is None
    assert Statistics().describe()["size"] == 0


@pytest.mark.parametrize("odd", [[], [math.nan], [math.inf, -math.inf, math.nan, math.nan]])
def test_what_is_fetched_later_is_the_same(odd: list[float]) -> None:
    values = torch.randn(3, 50, generator=torch.Generator().manual_seed(3)) * 1e20
    values[1, : len(odd)] = torch.tensor(odd)
    at_once = measure(values[:2]) + measure(values[2:])
    later = combined([measure_later(values[:2]), measure(values[2:])])
    for name in ("size", "nan", "posinf", "neginf", "low", "high"):
        assert getattr(later, name) == getattr(at_once, name)
    assert later.total == pytest.approx(at_once.total, rel=STATISTICS_RTOL)
    assert later.squares == pytest.approx(at_once.squares, rel=STATISTICS_RTOL)


def test_nothing_finite_is_fetched_as_such() -> None:
    later = combined([measure_later(torch.tensor([math.nan, math.inf]))])
    assert (later.finite, later.low, later.high) == (0, math.inf, -math.inf)
    assert later.describe()["mean"] is None


def test_sums_beyond_float64_are_not_told() -> None:
    values = torch.full((4,), 1.5e308, dtype=torch.float64)
    for got in (measure(values), combined([measure_later(values)])):
        assert (got.finite, got.low, got.high) == (4, 1.5e308, 1.5e308)
        assert got.describe()["mean"] is None
        assert got.describe()["rms"] is None
