"""The diagonal and the trace of the Jacobian between an image and a parameter of its shape."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from torch import Tensor

from app.engine.diagonal.answer import EVIDENCE, Diagonal, not_finite
from app.engine.diagonal.attempts import ATTEMPTS
from app.engine.diagonal.doubt import doubts
from app.engine.diagonal.errors import PassesError, PatternError, UnknownMethodError
from app.engine.diagonal.exact import Exact, one_by_one
from app.engine.diagonal.leave_one_out import xdiag, xtrace
from app.engine.diagonal.operator import Operator, operator_of
from app.engine.diagonal.products import Function
from app.engine.diagonal.stochastic import Estimate, hutch_plus_plus, hutchinson
from app.engine.diagonal.vectors import signs_in_groups
from app.engine.findings import Finding
from app.engine.plan import DEFAULT_BUDGET
from renderers import suggestion

PATTERNS = ("pointwise", "stencil")
LOOP = "loop"
ESTIMATORS: Mapping[str, Callable[[Operator, int, int], Estimate]] = MappingProxyType(
    {
        "hutchinson": lambda operator, passes, seed: hutchinson(
            operator, signs_in_groups(operator, passes, seed)
        ),
        "hutch++": hutch_plus_plus,
        "xtrace": xtrace,
        "xdiag": xdiag,
    }
)
AUTO = "auto"
METHODS = (AUTO, *PATTERNS, LOOP, *ESTIMATORS)
# Entries up to which a pass for each is cheaper than finding a pattern ...
FEW = 16
# ... and up to which it is taken where there is none.
MOST_ENTRIES = 2048
PASSES = 64
# Fewer leave no two samples for a standard error.
LEAST = {"hutchinson": 2, "hutch++": 6, "xtrace": 4, "xdiag": 4}
# Matrices of a vector for each pass that the methods with a basis hold, in float64.
HELD = 8


def diagonal(
    function: Function,
    point: Tensor,
    *,
    method: str = AUTO,
    passes: int = PASSES,
    seed: int = 0,
    budget: int = DEFAULT_BUDGET,
) -> Diagonal:
    """The diagonal of a function's Jacobian at a point, compared with differences.

    `auto` takes the first that holds: `pointwise` (one pass), `stencil` (a pass a colour), `loop`
    (a pass an entry, where they are few), and else `hutchinson`, an estimate with its error. Both
    patterns are proven by random vectors before they are believed.

    Args:
        function: from a tensor like `point` to an image of its shape (or with one channel more).
        point: the parameter, of any shape.
        method: one of `METHODS`; `hutch++` and `xtrace` give the trace alone.
        passes: products that an estimate may take.
        seed: of the random vectors.
        budget: bytes of working memory.

    Raises:
        NotSquareError: the image has another shape than the parameter.
        UnknownMethodError: no method of that name.
        PassesError: too few passes for an estimate, or more than the budget holds.
        PatternError: the method asked for does not hold.
        RenderError: the function raised.
        StrategyError: it cannot be differentiated in the way that the method needs.
    """
    check_method(method, METHODS)
    operator = operator_of(function, point, budget=budget)
    answer = diagonal_of(operator, method=method, passes=passes, seed=seed)
    return replace(answer, findings=(*answer.findings, *doubts(function, point, operator)))


def diagonal_of(
    operator: Operator, *, method: str = AUTO, passes: int = PASSES, seed: int = 0
) -> Diagonal:
    """The diagonal of a Jacobian that is known by its products; as `diagonal`, but not compared."""
    check_method(method, METHODS)
    before = operator.passes
    passed_over: list[tuple[str, str]] = []
    for name in _patterns(operator, method):
        attempt = ATTEMPTS[name](operator, seed)
        if attempt.found is not None:
            return _exact(operator, name, attempt.found, attempt.words, before, passed_over)
        passed_over.append((name, attempt.words))
    if method in PATTERNS:
        raise PatternError(f"`method={method}` does not hold here. {passed_over[-1][1]}")
    if method == LOOP or (method == AUTO and operator.size <= MOST_ENTRIES):
        found = one_by_one(operator)
        return _exact(operator, LOOP, found, EVIDENCE[LOOP], before, passed_over)
    name = "hutchinson" if method == AUTO else method
    check_passes(operator, name, passes)
    estimate = ESTIMATORS[name](operator, passes, seed)
    return _estimated(operator, name, estimate, before, passed_over)


def _patterns(operator: Operator, method: str) -> tuple[str, ...]:
    """The patterns that are tried."""
    if method == AUTO:
        return () if operator.size <= FEW else PATTERNS
    return (method,) if method in PATTERNS else ()


def _exact(
    operator: Operator,
    method: str,
    found: Exact,
    evidence: str,
    before: int,
    passed_over: list[tuple[str, str]],
) -> Diagonal:
    return Diagonal(
        values=found.values.reshape(operator.shape),
        trace=float(found.values.double().sum()),
        method=method,
        passes=found.passes,
        checks=operator.passes - before - found.passes,
        evidence=evidence,
        mode=operator.mode,
        passed_over=tuple(passed_over),
        findings=not_finite(found.values),
    )


def _estimated(
    operator: Operator,
    method: str,
    estimate: Estimate,
    before: int,
    passed_over: list[tuple[str, str]],
) -> Diagonal:
    def shaped(values: Tensor | None) -> Tensor | None:
        return None if values is None else values.to(operator.dtype).reshape(operator.shape)

    odd = not_finite(estimate.trace if estimate.values is None else estimate.values)
    return Diagonal(
        values=shaped(estimate.values),
        trace=estimate.trace,
        method=method,
        passes=estimate.passes,
        checks=operator.passes - before - estimate.passes,
        evidence=EVIDENCE[method],
        standard_error=estimate.standard_error,
        errors=shaped(estimate.errors),
        mode=operator.mode,
        passed_over=tuple(passed_over),
        findings=(estimated(estimate.trace, estimate.standard_error), *odd),
    )


def estimated(value: float, error: float, what: str = "The trace is") -> Finding:
    """The finding that says of an estimate what it is."""
    return Finding(
        code="estimated", detail=f"{what} {value:.6g} with a standard error of {error:.2g}."
    )


def check_method(method: str, allowed: tuple[str, ...]) -> None:
    """Refuse a method that there is not."""
    if method not in allowed:
        raise UnknownMethodError(
            f"There is no method {method[:40]!r}; there are {', '.join(allowed)}."
            + suggestion(method, allowed)
        )


def check_passes(operator: Operator, method: str, passes: int) -> None:
    """Refuse too few passes to estimate from, and more than the budget holds vectors of."""
    least = LEAST[method]
    if passes < least:
        raise PassesError(f"`method={method}` needs at least {least} passes; got {passes}.")
    most = operator.budget // (HELD * 8 * operator.size)
    if method != "hutchinson" and passes > max(most, least):
        raise PassesError(
            f"`method={method}` holds vectors of {operator.size} entries, of which the budget of "
            f"{operator.budget} bytes allows {max(most, least)} passes; got {passes}. Ask for "
            "fewer, or for `method=hutchinson`, which holds none."
        )
