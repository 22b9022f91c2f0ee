"""The divergence of a field at many points at once, as a flow's change of density needs it."""

from dataclasses import replace

from torch import Tensor

from app.engine.diagonal.answer import EVIDENCE, Divergence, not_finite
from app.engine.diagonal.attempts import ATTEMPTS
from app.engine.diagonal.diagonal import (
    AUTO,
    LOOP,
    MOST_ENTRIES,
    PASSES,
    check_method,
    check_passes,
    estimated,
)
from app.engine.diagonal.doubt import doubts
from app.engine.diagonal.errors import NotSquareError, PatternError
from app.engine.diagonal.exact import Exact, one_by_one
from app.engine.diagonal.operator import Operator, operator_of
from app.engine.diagonal.products import Function
from app.engine.diagonal.stochastic import hutchinson
from app.engine.diagonal.vectors import signs_in_groups
from app.engine.findings import Finding
from app.engine.plan import DEFAULT_BUDGET

ROWS = "rows"
FIELD_METHODS = (AUTO, ROWS, LOOP, "hutchinson")
# Entries of a row up to which a pass for each is taken.
MOST_OF_A_ROW = 256


def divergence(
    function: Function,
    points: Tensor,
    *,
    method: str = AUTO,
    passes: int = PASSES,
    seed: int = 0,
    budget: int = DEFAULT_BUDGET,
) -> Divergence:
    """The divergence of a field at each row of `(N, D)`, compared with differences.

    `rows` takes `D` passes for all rows at once, and proves by random vectors that rows do not
    depend on each other. `auto` takes it up to `MOST_OF_A_ROW` entries; where rows do depend, a
    loop over the entries if they are few; and else `hutchinson`, each row with its own error.

    Args:
        function: from `(N, D)` to `(N, D)`; a row may have several axes.
        points: the rows.
        method: one of `FIELD_METHODS`.
        passes: products that an estimate may take.
        seed: of the random vectors.
        budget: bytes of working memory.

    Raises:
        NotSquareError: points of no rows, or a field of another shape.
        UnknownMethodError: no method of that name.
        PassesError: too few passes for an estimate.
        PatternError: `rows` was asked for, and rows depend on each other.
        RenderError: the function raised.
        StrategyError: it cannot be differentiated.
    """
    check_method(method, FIELD_METHODS)
    if points.dim() < 2:
        raise NotSquareError(
            f"A field is asked at points of shape [N, D], one a row; got {list(points.shape)}. "
            "A single point is a row of its own, [1, D]."
        )
    operator = operator_of(function, points, budget=budget, name="the points")
    answer = divergence_of(operator, method=method, passes=passes, seed=seed)
    return replace(answer, findings=(*answer.findings, *doubts(function, points, operator)))


def divergence_of(
    operator: Operator, *, method: str = AUTO, passes: int = PASSES, seed: int = 0
) -> Divergence:
    """As `divergence`, of a Jacobian that is known by its products; not compared."""
    before, number = operator.passes, operator.shape[0]
    passed_over: tuple[tuple[str, str], ...] = ()
    findings: tuple[Finding, ...] = ()
    if method == ROWS or (method == AUTO and operator.size // number <= MOST_OF_A_ROW):
        attempt = ATTEMPTS[ROWS](operator, seed)
        if attempt.found is not None:
            return _exact(operator, ROWS, attempt.found, attempt.words, before)
        if method == ROWS:
            raise PatternError(f"`method={ROWS}` does not hold here. {attempt.words}")
        passed_over = ((ROWS, attempt.words),)
        findings = (Finding(code="rows_depend"),)
    if method == LOOP or (method == AUTO and operator.size <= MOST_ENTRIES):
        answer = _exact(operator, LOOP, one_by_one(operator), EVIDENCE[LOOP], before)
    else:
        answer = _estimated(operator, passes, seed, before)
    return replace(answer, passed_over=passed_over, findings=(*findings, *answer.findings))


def _exact(operator: Operator, method: str, found: Exact, evidence: str, before: int) -> Divergence:
    values = found.values.reshape(operator.shape[0], -1).double().sum(1).to(found.values.dtype)
    return Divergence(
        values=values,
        method=method,
        passes=found.passes,
        checks=operator.passes - before - found.passes,
        evidence=evidence,
        mode=operator.mode,
        findings=not_finite(values),
    )


def _estimated(operator: Operator, passes: int, seed: int, before: int) -> Divergence:
    check_passes(operator, "hutchinson", passes)
    vectors = signs_in_groups(operator, passes, seed)
    estimate = hutchinson(operator, vectors, rows=operator.shape[0])
    assert estimate.sums is not None and estimate.sum_errors is not None  # noqa: S101
    values, errors = (each.to(operator.dtype) for each in (estimate.sums, estimate.sum_errors))
    worst = int(errors.nan_to_num().argmax())
    told = estimated(float(values[worst]), float(errors[worst]), "The least certain row has")
    return Divergence(
        values=values,
        method="hutchinson",
        passes=estimate.passes,
        checks=operator.passes - before - estimate.passes,
        evidence=EVIDENCE["hutchinson"],
        errors=errors,
        mode=operator.mode,
        findings=(told, *not_finite(values)),
    )
