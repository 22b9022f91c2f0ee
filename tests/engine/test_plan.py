import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from app.engine.plan import MIB, PREFERRED_PIXELS, Cost, Plan, choose, fit
from tests.engine.conftest import budget_for

CPU = torch.device("cpu")


def test_the_fit_finds_a_linear_cost_again() -> None:
    truth = Cost(fixed=5000.0, primal=40.0, tangent=24.0)
    found = fit(lambda pixels, tangents: int(truth.bytes(pixels, tangents)), tangents=8)
    assert found.bytes(100_000, 8) == pytest.approx(truth.bytes(100_000, 8), rel=0.02)


@given(
    width=st.integers(1, 4096),
    height=st.integers(1, 4096),
    tangents=st.integers(0, 64),
    budget=st.integers(1 * MIB, 512 * MIB),
    primal=st.floats(1.0, 500.0),
    tangent=st.floats(1.0, 500.0),
)
def test_a_tile_fits_the_budget_or_is_a_single_row_of_one_direction(
    width: int, height: int, tangents: int, budget: int, primal: float, tangent: float
) -> None:
    plan = choose(
        Cost(1000.0, primal, tangent),
        width=width,
        height=height,
        tangents=tangents,
        budget=budget,
        device=CPU,
    )
    assert 1 <= plan.rows <= height
    assert 1 <= plan.tangents <= max(1, tangents)
    assert plan.bytes <= budget or (plan.rows == 1 and plan.tangents == 1)


def test_a_band_is_no_larger_than_pays_on_the_device() -> None:
    plan = choose(
        Cost(0.0, 1.0, 1.0), width=64, height=1 << 20, tangents=1, budget=1 << 40, device=CPU
    )
    assert plan.rows * 64 == PREFERRED_PIXELS["cpu"]


def test_a_renderer_that_must_be_whole_gets_all_rows_and_fewer_directions() -> None:
    plan = choose(
        Cost(0.0, 10.0, 10.0),
        width=1000,
        height=1000,
        tangents=16,
        budget=budget_for(30_000_000),
        device=CPU,
        whole=True,
    )
    assert plan.rows == 1000
    assert plan.tangents == 2


def test_halving_ends_at_one_row_of_one_direction() -> None:
    plan: Plan | None = Plan(rows=12, tangents=3, bytes=100)
    seen = []
    while plan is not None:
        seen.append((plan.rows, plan.tangents))
        plan = plan.halved(whole=False)
    assert seen == [(12, 3), (6, 3), (3, 3), (1, 3), (1, 1)]


def test_a_whole_frame_is_halved_by_directions_alone() -> None:
    assert Plan(rows=12, tangents=3, bytes=100).halved(whole=True) == Plan(12, 1, 50)
    assert Plan(rows=12, tangents=1, bytes=100).halved(whole=True) is None
