"""The ways to a gradient, and which of them was chosen for a parameter, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from app.engine.findings import Finding
from app.engine.probing.asked import Asked
from app.engine.probing.differences import Differences
from app.engine.probing.forward import pushed
from app.engine.probing.moves import positions
from app.engine.probing.reverse import Rows, pulled
from app.engine.strategies.finite_difference import finite_difference
from app.engine.strategies.forward import forward
from app.engine.strategies.native import native

REVERSE, FORWARD, NATIVE = "reverse", forward.name, native.name
DIFFERENCES = finite_difference.name

Columns = Mapping[str, Sequence[int]]
"""The entries of each parameter that are asked for, as positions in C order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """How a parameter's gradient is computed, and why so.

    Attributes:
        strategy: `reverse`, `native`, `forward` or `finite_difference`.
        passed_over: what was tried before, with what spoke against each.
        findings: what else is to be said.
        relative: the largest disagreement with differences, over what moved.
        judged: whether there was anything independent to compare with.
        steps: the step of a difference in each entry, where these are the strategy.
    """

    strategy: str
    passed_over: tuple[tuple[str, str], ...] = ()
    findings: tuple[Finding, ...] = ()
    relative: float = 0.0
    judged: bool = False
    steps: tuple[float, ...] = field(default=(), repr=False)

    def describe(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "strategy": self.strategy,
            "passed_over": [
                {"strategy": name, "reason": reason} for name, reason in self.passed_over
            ],
            "relative": self.relative,
            "judged": self.judged,
            "warnings": [finding.describe() for finding in self.findings],
        }


def computed(
    asked: Asked, choice: str, name: str, entries: Sequence[int], steps: Sequence[float] = ()
) -> Rows:
    """Values, and derivatives in some entries of one parameter, by a strategy."""
    if choice == REVERSE:
        found = pulled(asked, [name])
        return torch.cat([found[:, :1], picked(found[:, 1:], entries)], dim=1)
    if choice == DIFFERENCES:
        return Differences.of(asked).columns(name, entries, steps)
    return pushed(asked, name, entries, native=choice == NATIVE)


def picked(gradient: Tensor, entries: Sequence[int]) -> Tensor:
    """Some entries of a gradient, `(functionals, entries)`; itself where these are all."""
    return gradient if len(entries) == gradient.shape[1] else gradient[:, positions(entries)]
