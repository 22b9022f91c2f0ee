"""One rung of the ladder: a strategy that is run on a trial, and compared with differences."""

from dataclasses import dataclass

import torch
from torch import Tensor

from app.engine.agreement import Agreement, compare, grossly_off
from app.engine.differences import scale_of
from app.engine.extrapolation import Estimate, estimate
from app.engine.failures import explain
from app.engine.findings import Finding
from app.engine.memory import out_of_memory
from app.engine.modes import carried_together, modes_differ
from app.engine.strategies import STRATEGIES, Strategy
from app.engine.strategies.finite_difference import finite_difference
from app.engine.trial import Trial
from app.engine.verdict import Verdict

# Directions whose step is estimated one by one; the rest take the median of these.
ESTIMATED = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """What came of a rung.

    Attributes:
        verdict: where it holds.
        reason: what spoke against it, where it does not.
        failure: what it raised, with the name of the exception.
        doubt: the code of a disagreement.
    """

    verdict: Verdict | None = None
    reason: str = ""
    failure: str = ""
    doubt: str = ""


def attempt(rung: str, trial: Trial, reference: Estimate) -> Attempt:
    """Run a rung and compare it; says why not where it is passed over.

    Args:
        rung: name of the strategy.
        trial: what it is run on.
        reference: the derivative along the trial's mixed direction, by differences.
    """
    strategy = STRATEGIES[rung]
    if rung == finite_difference.name:
        return Attempt(verdict=Verdict(strategy=rung, steps=steps_of(trial)))
    try:
        _, tangents = strategy.differentiate(trial.tile, trial.mixed[None])
    except Exception as error:
        if out_of_memory(error):
            raise
        return Attempt(failure=f"{type(error).__name__}: {error}", reason=explain(error))
    tangent = tangents[0]
    agreement = compare(
        tangent, reference.values, reference.error, trial.tile.loaded.dtype, reference.rounding
    )
    if agreement.right:
        extra = () if agreement.judged else (Finding(code="unverified"),)
        return Attempt(verdict=kept(strategy, trial, tangent, agreement, extra))
    # At a kink the map may hold the derivative of either side; each map is told of its own kinks.
    if agreement.right_but_for(reference.kinked):
        return Attempt(verdict=kept(strategy, trial, tangent, agreement, ()))
    if only_rounded(strategy, trial, reference, tangent, agreement):
        detail = f"Disagreement: {agreement.relative:.1g} of the largest derivative."
        found = (Finding(code="precision", detail=detail),)
        return Attempt(verdict=kept(strategy, trial, tangent, agreement, found))
    reason = f"It runs, but disagrees with differences ({agreement.code})."
    return Attempt(doubt=agreement.code, reason=reason)


def kept(
    strategy: Strategy,
    trial: Trial,
    tangent: Tensor,
    agreement: Agreement,
    findings: tuple[Finding, ...],
) -> Verdict:
    """The verdict for a strategy that holds, with how it is carried out."""
    # What rounding does to one mode it need not do to the other.
    rounded = any(finding.code == "precision" for finding in findings)
    telling = strategy.name == "forward" and agreement.judged and not rounded
    if telling and modes_differ(trial, tangent):
        findings = (*findings, Finding(code="modes_differ"))
    return Verdict(
        strategy=strategy.name,
        at_once=carried_together(strategy, trial),
        relative=agreement.relative,
        findings=findings,
    )


def only_rounded(
    strategy: Strategy, trial: Trial, reference: Estimate, tangent: Tensor, agreement: Agreement
) -> bool:
    """Whether a tangent disagrees by rounding alone: it agrees in float64."""
    if trial.exact is trial.tile:
        return False
    direction = trial.mixed.to(trial.exact.value.dtype)
    _, tangents = strategy.differentiate(trial.exact, direction[None])
    exactly = compare(tangents[0], reference.values, reference.error, torch.float64)
    return exactly.right and not grossly_off(
        trial.tile, trial.mixed, tangent, agreement.wrong, reference.values
    )


def steps_of(trial: Trial) -> tuple[float, ...]:
    """A step of differences for each direction, over its scale."""
    exact = trial.exact
    directions = trial.along(slice(0, ESTIMATED), exact.value.dtype)
    with torch.no_grad():
        steps = [
            estimate(exact, direction, deep=True).step / scale_of(exact, direction)
            for direction in directions
        ]
    rest = len(trial.directions) - len(steps)
    return (*steps, *[sorted(steps)[len(steps) // 2]] * rest)
