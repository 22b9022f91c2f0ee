"""The divergence of fields at many points: closed forms, rows that depend, estimates."""

import pytest
import torch
from torch import Tensor

from app.engine.diagonal import NotSquareError, PatternError, UnknownMethodError, divergence
from tests.engine.diagonal.fields import Function, draw
from tests.tolerances import CALIBRATED, DIAGONAL, DIAGONAL_FLOAT32, STANDARD_ERRORS

BOUND = {torch.float32: DIAGONAL_FLOAT32, torch.float64: DIAGONAL}


def network(width: int, seed: int = 3) -> tuple[Function, Function]:
    """A flow's field `B tanh(A x)` of each row, and its divergence in closed form."""
    a, b = draw(32, width, seed=seed), draw(width, 32, seed=seed + 1) / 6

    def field(x: Tensor) -> Tensor:
        return torch.tanh(x @ a.T.to(x.dtype)) @ b.T.to(x.dtype)

    def exact(x: Tensor) -> Tensor:
        return ((1 - torch.tanh(x @ a.T) ** 2) * (a * b.T).sum(1)).sum(1)

    return field, exact


@pytest.mark.parametrize("dtype", BOUND, ids=str)
@pytest.mark.parametrize(("number", "width"), [(500, 2), (64, 17), (1, 3), (30, 1)])
def test_all_rows_at_once_by_a_pass_an_entry(number: int, width: int, dtype: torch.dtype) -> None:
    field, exact = network(width)
    points = draw(number, width, dtype=dtype)
    found = divergence(field, points)
    wanted = exact(points.double())
    assert (found.method, found.passes, found.checks) == ("rows", width, 2)
    assert found.exact and found.errors is None
    assert found.values.shape == (number,)
    assert found.values.dtype == dtype
    scale = max(1.0, float(wanted.abs().max()))
    assert float((found.values.double() - wanted).abs().max()) < 4 * BOUND[dtype] * scale
    assert found.findings == ()


def test_the_field_of_the_case() -> None:
    matrix = torch.tensor([[2.0, 1.0], [0.0, 3.0]], dtype=torch.float64)
    found = divergence(lambda x: x @ matrix.T, draw(7, 2))
    assert found.values.tolist() == [5.0] * 7
    assert found.passes == 2


def test_rows_may_have_several_axes() -> None:
    weights = draw(6, 6)
    found = divergence(lambda x: (x.reshape(-1, 6) @ weights).reshape(x.shape), draw(9, 2, 3))
    assert found.passes == 6
    assert torch.allclose(found.values, weights.trace().expand(9), rtol=DIAGONAL)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.tanh(x - x.mean(0)),
        lambda x: x / x.norm(),
        lambda x: x + 1e-6 * x.flip(0) ** 2,
    ],
    ids=["batch norm", "norm", "neighbour"],
)
def test_rows_that_depend_on_each_other_are_found_out(function: Function) -> None:
    points = draw(40, 3)
    with pytest.raises(PatternError, match="its own row alone"):
        divergence(function, points, method="rows")
    found = divergence(function, points)
    assert found.method == "loop"
    assert [finding.code for finding in found.findings] == ["rows_depend"]
    whole = torch.autograd.functional.jacobian(function, points).reshape(120, 120)
    wanted = whole.diagonal().reshape(40, 3).sum(1)
    assert torch.allclose(found.values, wanted, rtol=1e-10)


def test_many_rows_that_depend_are_estimated_and_said_to_be() -> None:
    found = divergence(lambda x: torch.tanh(x - x.mean(0)), draw(2000, 3), passes=8)
    assert found.method == "hutchinson"
    assert [finding.code for finding in found.findings] == ["rows_depend", "estimated"]


def test_wide_rows_are_estimated_with_an_error_each() -> None:
    field, exact = network(300)
    points = 0.1 * draw(200, 300)
    found = divergence(field, points, passes=200)
    assert (found.method, found.passes, found.exact) == ("hutchinson", 200, False)
    assert found.errors is not None and found.errors.shape == (200,)
    off = (found.values - exact(points)) / found.errors
    assert float(off.abs().max()) < STANDARD_ERRORS
    # One vector has the rows' signs drawn apart, so that rows are independent samples.
    assert CALIBRATED[0] < float(off.square().mean()) < CALIBRATED[1]
    more = divergence(field, points, passes=800)
    assert more.errors is not None
    ratio = float((found.errors.square().mean() / more.errors.square().mean()).sqrt())
    assert ratio == pytest.approx(2.0, rel=0.1)


def test_a_row_with_nan_leaves_the_others_alone() -> None:
    field, exact = network(3)
    points = draw(50, 3)
    points[7, 1] = torch.nan
    found = divergence(field, points)
    assert found.method == "rows"
    assert bool(torch.isnan(found.values[7]))
    keep = torch.arange(50) != 7
    assert torch.allclose(found.values[keep], exact(points)[keep], atol=1e-12)
    assert "non_finite" in {finding.code for finding in found.findings}


def test_bad_fields_are_refused() -> None:
    with pytest.raises(NotSquareError, match=r"\[N, D\], one a row; got \[3\]"):
        divergence(lambda x: x, draw(3))
    with pytest.raises(NotSquareError, match=r"of the shape of the points, \[5, 3\]; got \[5, 2\]"):
        divergence(lambda x: x[:, :2], draw(5, 3))
    with pytest.raises(UnknownMethodError, match="there are auto, rows, loop, hutchinson"):
        divergence(lambda x: x, draw(5, 3), method="xtrace")
