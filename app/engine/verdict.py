"""What is found out of a parameter of a renderer: how it is differentiated, and why so."""

from dataclasses import dataclass
from typing import Any

from app.engine.directions import Directions
from app.engine.findings import Finding
from app.engine.strategies import STRATEGIES, Strategy
from app.engine.strategies.finite_difference import finite_difference, stepped


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """How a parameter of a renderer is differentiated, and why so.

    Attributes:
        strategy: name of the strategy.
        at_once: most directions that may be carried together; None for any number.
        whole: whether the frame must be computed in one piece.
        step: the step of differences that is best along all directions together, over the scale of
            that direction (`scale_of`), so that it serves other values and directions.
        steps: the same along each direction, where differences are the strategy.
        exact: whether differences may be taken in float64.
        relative: disagreement with differences on the trial, over the largest derivative.
        refuted: whether a strategy that was asked for disagrees on the trial.
        rivals: other strategies that hold on the trial, and may cost less for many directions.
        passed_over: the rungs above, with what spoke against each.
        findings: what else is to be said of every map.
    """

    strategy: str
    at_once: int | None = None
    whole: bool = False
    step: float = 0.0
    steps: tuple[float, ...] = ()
    exact: bool = True
    relative: float = 0.0
    refuted: bool = False
    rivals: tuple[str, ...] = ()
    passed_over: tuple[tuple[str, str], ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    def repeatable(self) -> bool:
        """Whether the renderer gave the same image twice; only then may one map stand for two."""
        return all(finding.code != "not_deterministic" for finding in self.findings)

    def describe(self) -> dict[str, Any]:
        """Plain data for JSON: the strategy and why it is that one."""
        return {
            "strategy": self.strategy,
            "passed_over": [
                {"strategy": name, "reason": reason} for name, reason in self.passed_over
            ],
            "relative": self.relative,
            "warnings": [finding.describe() for finding in self.findings],
        }

    def resolve(self, directions: Directions) -> Strategy:
        """The strategy itself, begun for one task's maps."""
        if self.strategy == finite_difference.name and self.steps:
            return stepped(self.steps, directions, exact=self.exact)
        return STRATEGIES[self.strategy].begun()
