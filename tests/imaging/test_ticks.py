import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.imaging import Rescale, norm_for
from app.imaging.ticks import ticks

MINUS = "\u2212"


def _linear(low: float, high: float, most: int = 6) -> tuple[tuple[str, ...], str]:
    marks = ticks(Rescale(low, high), norm_for("linear", 1.0), most=most)
    return marks.labels, marks.factor


def test_steps_are_round_and_minus_signs_proper() -> None:
    assert _linear(-1.0, 1.0) == ((f"{MINUS}1.0", f"{MINUS}0.5", "0.0", "0.5", "1.0"), "")
    assert _linear(0.0, 10.0) == (("0", "2", "4", "6", "8", "10"), "")


def test_small_and_large_numbers_share_a_power_of_ten() -> None:
    assert _linear(-4e-7, 4e-7) == ((f"{MINUS}4", f"{MINUS}2", "0", "2", "4"), f"\u00d71e{MINUS}7")
    assert _linear(0.0, 3e8)[1] == "\u00d71e8"


def test_a_narrow_range_far_from_zero_keeps_its_digits_apart() -> None:
    labels, _ = _linear(1000.0, 1000.01)
    assert len(set(labels)) == len(labels) >= 3


def test_symlog_ticks_are_powers_of_ten_and_zero() -> None:
    marks = ticks(Rescale(-2.0, 2.0), norm_for("symlog", 2.0), most=9)
    assert 0.0 in marks.values and 1.0 in marks.values and -0.1 in marks.values
    assert f"{MINUS}0.1" in marks.labels


ends = st.floats(allow_nan=False, allow_infinity=False)


@given(low=ends, high=ends, most=st.integers(2, 12), norm=st.sampled_from(["linear", "symlog"]))
def test_ticks_lie_in_any_range_and_are_never_too_many(
    low: float, high: float, most: int, norm: str
) -> None:
    if not low < high:
        return
    rescale = Rescale(low, high)
    marks = ticks(rescale, norm_for(norm, rescale.limit), most=most)
    slack = (high / most - low / most) * 1e-6
    assert all(low - slack <= value <= high + slack for value in marks.values)
    assert 1 <= len(marks.values) <= 3 * most + 3
    assert list(marks.values) == sorted(marks.values)
    assert len(marks.labels) == len(marks.values)


@pytest.mark.parametrize("limit", [5e-324, 1e-310, 1.7e308])
def test_ranges_at_the_ends_of_float64_have_ticks(limit: float) -> None:
    labels, _ = _linear(-limit, limit)
    assert len(labels) >= 2
