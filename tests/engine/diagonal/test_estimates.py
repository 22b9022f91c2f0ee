"""Estimates beside the dense matrix: within their errors, better with passes, exact of low rank."""

import numpy as np
import pytest
import torch
from torch import Tensor

from app.engine.diagonal import PassesError, diagonal_of
from app.engine.diagonal.leave_one_out import xdiag, xtrace
from app.engine.diagonal.moments import Moments
from app.engine.diagonal.stochastic import Estimate, hutch_plus_plus, hutchinson
from app.engine.diagonal.vectors import generator, signs, signs_in_groups
from tests.engine.diagonal.fields import draw, matrix
from tests.tolerances import CALIBRATED, LOW_RANK, SAFE, STANDARD_ERRORS

METHODS = ("hutchinson", "hutch++", "xtrace", "xdiag")
OF_DIAGONAL = ("hutchinson", "xdiag")


def decaying(size: int = 80) -> Tensor:
    """A lopsided matrix with singular values `0.8^i` and a trace that is not small."""
    left, _ = torch.linalg.qr(draw(size, size, seed=2))
    turn, _ = torch.linalg.qr(
        torch.eye(size, dtype=torch.float64) + 0.03 * draw(size, size, seed=3)
    )
    return left @ torch.diag(0.8 ** torch.arange(size, dtype=torch.float64)) @ (left @ turn).T


def flat(size: int = 80) -> Tensor:
    return torch.eye(size, dtype=torch.float64) + draw(size, size, seed=4) / size**0.5


def estimate(values: Tensor, method: str, passes: int, seed: int) -> Estimate:
    operator = matrix(values)
    if method == "hutchinson":
        return hutchinson(operator, signs_in_groups(operator, passes, seed))
    return {"hutch++": hutch_plus_plus, "xtrace": xtrace, "xdiag": xdiag}[method](
        operator, passes, seed
    )


def test_four_sign_vectors_average_to_the_trace() -> None:
    field = torch.tensor([[2.0, 1.0], [0.0, 3.0]], dtype=torch.float64)
    signs = torch.tensor([[1, 1], [1, -1], [-1, 1], [-1, -1]], dtype=torch.float64)
    found = hutchinson(matrix(field), [signs])
    assert float((signs * (signs @ field.T)).sum()) == 20.0
    assert found.trace == 5.0
    assert found.values is not None
    assert found.values.tolist() == [2.0, 3.0]
    assert found.passes == 4
    # Samples 6, 4, 4, 6: their variance 4/3 over four of them.
    assert found.standard_error == pytest.approx((4 / 3 / 4) ** 0.5)


@pytest.mark.parametrize("matrix_of", [decaying, flat])
@pytest.mark.parametrize("method", METHODS)
def test_traces_are_without_bias_and_their_errors_are_honest(
    method: str, matrix_of: object
) -> None:
    values = matrix_of()  # type: ignore[operator]
    trace, number = float(values.trace()), 300
    found = [estimate(values, method, 48, seed) for seed in range(number)]
    off = np.array([each.trace - trace for each in found])
    errors = np.array([each.standard_error for each in found])
    assert abs(off.mean()) < STANDARD_ERRORS * off.std() / number**0.5
    low, high = SAFE if method == "xdiag" else CALIBRATED
    assert low < np.mean(off**2) / np.mean(errors**2) < high


@pytest.mark.parametrize("method", OF_DIAGONAL)
@pytest.mark.parametrize("matrix_of", [decaying, flat])
def test_diagonals_are_without_bias_and_their_errors_are_honest(
    method: str, matrix_of: object
) -> None:
    values = matrix_of()  # type: ignore[operator]
    wanted, number = values.diagonal(), 300
    found = [estimate(values, method, 48, seed) for seed in range(number)]
    off = torch.stack([each.values - wanted for each in found])  # type: ignore[operator]
    errors = torch.stack([each.errors for each in found])  # type: ignore[misc]
    assert float((off.mean(0) / (off.std(0) / number**0.5)).abs().max()) < STANDARD_ERRORS
    ratio = float(off.square().mean() / errors.square().mean())
    assert CALIBRATED[0] < ratio < CALIBRATED[1]


@pytest.mark.parametrize(
    ("method", "faster"), [("hutchinson", 1.6), ("hutch++", 4.0), ("xtrace", 10.0), ("xdiag", 10.0)]
)
def test_errors_shrink_as_the_sources_say(method: str, faster: float) -> None:
    """Four times the passes: half the error of independent samples, far less of sketches."""
    values = decaying()
    trace = float(values.trace())

    def error(passes: int) -> float:
        off = [estimate(values, method, passes, seed).trace - trace for seed in range(60)]
        return float(np.sqrt(np.mean(np.square(off))))

    assert error(15) / error(60) > faster


@pytest.mark.parametrize("method", ["hutch++", "xtrace", "xdiag"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_a_matrix_of_low_rank_comes_out_exactly(method: str, dtype: torch.dtype) -> None:
    values = (draw(300, 5, seed=6) @ draw(5, 300, seed=7)).to(dtype)
    found = estimate(values, method, 36, 1)
    # Rounding of products of the matrix's size, not of the trace's, which happens to be small.
    size = float(values.double().norm())
    bound = LOW_RANK if dtype is torch.float64 else 1e-5
    assert abs(found.trace - float(values.double().trace())) < bound * size
    assert found.standard_error < bound * size
    assert found.passes <= 36
    if found.values is not None:
        assert float((found.values - values.double().diagonal()).abs().max()) < bound * size


@pytest.mark.parametrize("method", METHODS)
def test_a_zero_matrix_has_trace_zero(method: str) -> None:
    found = estimate(torch.zeros(40, 40, dtype=torch.float64), method, 12, 1)
    assert (found.trace, found.standard_error) == (0.0, 0.0)


@pytest.mark.parametrize("size", [1, 2, 3, 7])
@pytest.mark.parametrize("method", ["hutch++", "xtrace", "xdiag"])
def test_more_passes_than_entries_are_exact(method: str, size: int) -> None:
    values = draw(size, size, seed=8)
    found = estimate(values, method, 40, 1)
    assert found.trace == pytest.approx(float(values.trace()), abs=LOW_RANK)
    assert abs(found.standard_error) < LOW_RANK


def test_the_error_of_a_sum_is_that_of_leaving_each_vector_out() -> None:
    """The jackknife in closed form, beside estimates that were made anew without each vector."""
    values, number = flat(30), 7
    vectors = signs(matrix(values), number, generator(1)).double().T

    def without(left_out: int) -> float:
        kept = [each for each in range(number) if each != left_out]
        total = 0.0
        for one in kept:
            others = values @ vectors[:, [each for each in kept if each != one]]
            basis, _ = np.linalg.qr(others.numpy())
            rest = torch.eye(30, dtype=torch.float64) - torch.from_numpy(basis @ basis.T)
            inside = torch.from_numpy(basis @ basis.T) @ values
            sample = vectors[:, one] @ rest @ values @ vectors[:, one]
            total += float(inside.trace() + sample) / len(kept)
        return total

    each = np.array([without(left_out) for left_out in range(number)])
    wanted = np.sqrt((number - 1) / number * np.sum((each - each.mean()) ** 2))
    assert xdiag(matrix(values), 2 * number, 1).standard_error == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_gives_the_same_bytes(method: str) -> None:
    first, second, other = (estimate(flat(), method, 24, seed) for seed in (5, 5, 6))
    assert first.trace == second.trace != other.trace


def test_signs_do_not_depend_on_the_groups_they_come_in() -> None:
    values = flat()
    one, many = matrix(values), matrix(values)
    one.together, many.together = 1, 50
    first = hutchinson(one, signs_in_groups(one, 20, 3))
    second = hutchinson(many, signs_in_groups(many, 20, 3))
    assert first.trace == pytest.approx(second.trace, rel=1e-12)
    assert first.standard_error == pytest.approx(second.standard_error, rel=1e-12)


def test_moments_of_groups_are_those_of_numpy() -> None:
    samples = draw(17, 3) + 1e6
    joined = Moments.of(samples[:4]) + Moments.of(samples[4:5]) + Moments.of(samples[5:])
    assert np.allclose(joined.mean, samples.numpy().mean(0), rtol=1e-14)
    wanted = samples.numpy().std(0, ddof=1) / 17**0.5
    assert np.allclose(joined.error, wanted, rtol=1e-7)  # of numbers a million times as large
    assert bool(torch.isinf(Moments.of(samples[:1]).error).all())


@pytest.mark.parametrize("method", METHODS)
def test_answers_say_that_they_are_estimates(method: str) -> None:
    found = diagonal_of(matrix(flat()), method=method, passes=24)
    (told,) = found.findings
    assert told.code == "estimated"
    assert f"{found.trace:.6g} with a standard error of {found.standard_error:.2g}" in told.message
    assert not found.exact
    assert (found.values is None) == (method not in OF_DIAGONAL)
    assert found.passes + found.checks == 24


@pytest.mark.parametrize(("method", "least"), [("hutchinson", 2), ("hutch++", 6), ("xtrace", 4)])
def test_too_few_passes_are_refused(method: str, least: int) -> None:
    with pytest.raises(PassesError, match=f"at least {least} passes; got {least - 1}"):
        diagonal_of(matrix(flat()), method=method, passes=least - 1)
    found = diagonal_of(matrix(flat()), method=method, passes=least)
    assert np.isfinite(found.standard_error)


def test_more_vectors_than_the_budget_holds_are_refused() -> None:
    operator = matrix(flat())
    operator.budget = 80 * 8 * 8 * 10
    with pytest.raises(PassesError, match="allows 10 passes; got 11"):
        diagonal_of(operator, method="xtrace", passes=11)
    assert diagonal_of(operator, method="hutchinson", passes=500).passes == 500
