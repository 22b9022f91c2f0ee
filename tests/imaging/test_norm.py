import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.imaging import NORMS, UnknownNameError, norm_for
from tests.tolerances import NORM_ROUND_TRIP_RTOL


@pytest.mark.parametrize("name", NORMS)
@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_value_undoes_position(name: str, value: float, limit: float) -> None:
    norm = norm_for(name, limit)
    again = norm.value(norm.position(value))
    assert again == pytest.approx(value, rel=NORM_ROUND_TRIP_RTOL)


def test_arrays_and_numbers_agree() -> None:
    norm = norm_for("symlog", 5.0)
    values = np.asarray([-1e9, -5.0, -1e-3, 0.0, 1e-3, 5.0, np.inf])
    expected = [norm.position(value) for value in values]
    norm.apply(values)
    np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-9)


def test_symlog_reports_where_it_turns_logarithmic() -> None:
    assert norm_for("symlog", 2.0).linthresh == 2e-3
    assert norm_for("linear", 2.0).linthresh is None


def test_symlog_spaces_decades_evenly() -> None:
    norm = norm_for("symlog", 1.0)
    steps = np.diff([norm.position(10.0**power) for power in (-2, -1, 0)])
    assert steps[0] == pytest.approx(steps[1], rel=0.05)


def test_an_unknown_norm_names_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="'symlog'") as caught:
        norm_for("simlog", 1.0)
    assert caught.value.code == "unknown_norm"
