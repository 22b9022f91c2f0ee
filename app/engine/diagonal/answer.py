"""What is answered: a diagonal or a divergence, how it was found, and what it rests on."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from app.engine.findings import Finding

EXACT = ("pointwise", "stencil", "rows", "loop")
EVIDENCE: Mapping[str, str] = MappingProxyType(
    {
        "loop": "Each entry has a product of its own, so that nothing is assumed.",
        "hutchinson": (
            "Without bias, whatever the Jacobian; the standard error is that of independent "
            "samples, and is itself an estimate."
        ),
        "hutch++": (
            "The trace on the range of a sketch, and without bias on the rest; the standard error "
            "is that of independent samples of the rest, and is itself an estimate."
        ),
        "xtrace": (
            "Without bias, whatever the Jacobian; the standard error takes estimates from shared "
            "products to be independent, and may be too small by a half where passes are few."
        ),
        "xdiag": (
            "Without bias, whatever the Jacobian; the standard error of the trace is by the "
            "jackknife, which errs to the safe side, and those of the entries take estimates from "
            "shared products to be independent, which they nearly are."
        ),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Diagonal:
    """The diagonal of an image's Jacobian by a parameter of its shape, and its trace.

    Attributes:
        values: the diagonal, of the parameter's shape; None where the method gives the trace alone.
        trace: its sum; NaN where an entry is.
        method: how it was found.
        passes: products with the Jacobian that the values are made of.
        checks: products that were spent on finding and proving the pattern, or in vain.
        evidence: what was proven, to what accuracy, and what is assumed.
        standard_error: of the trace; 0 where it is exact.
        errors: standard error of each value; None where they are exact.
        mode: whether products are by `forward` mode, or transposed by `reverse`.
        passed_over: the methods that were tried before, with what spoke against each.
        findings: what is doubtful.
    """

    values: Float[Tensor, "*parameter"] | None
    trace: float
    method: str
    passes: int
    checks: int
    evidence: str
    standard_error: float = 0.0
    errors: Float[Tensor, "*parameter"] | None = None
    mode: str = "forward"
    passed_over: tuple[tuple[str, str], ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether the values are exact to rounding, and no estimate."""
        return self.method in EXACT

    def describe(self) -> dict[str, Any]:
        """Plain data for JSON, without the values; what is not finite is None."""
        return _described(self) | {
            "trace": _number(self.trace),
            "standard_error": _number(self.standard_error),
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Divergence:
    """The divergence of a field at each of many points.

    Attributes:
        values: one for each row, `(rows,)`.
        method: how it was found.
        passes: products with the Jacobian that the values are made of, for all rows at once.
        checks: products that were spent on proving that rows are independent, or in vain.
        evidence: what was proven, to what accuracy, and what is assumed.
        errors: standard error of each value; None where they are exact.
        mode: whether products are by `forward` mode, or transposed by `reverse`.
        passed_over: the methods that were tried before, with what spoke against each.
        findings: what is doubtful.
    """

    values: Float[Tensor, " rows"]
    method: str
    passes: int
    checks: int
    evidence: str
    errors: Float[Tensor, " rows"] | None = None
    mode: str = "forward"
    passed_over: tuple[tuple[str, str], ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether the values are exact to rounding, and no estimate."""
        return self.method in EXACT

    def describe(self) -> dict[str, Any]:
        """Plain data for JSON, without the values."""
        return _described(self)


def _described(answer: Diagonal | Divergence) -> dict[str, Any]:
    return {
        "method": answer.method,
        "exact": answer.exact,
        "passes": answer.passes,
        "checks": answer.checks,
        "evidence": answer.evidence,
        "mode": answer.mode,
        "passed_over": [{"method": name, "reason": why} for name, why in answer.passed_over],
        "warnings": [finding.describe() for finding in answer.findings],
    }


def _number(number: float) -> float | None:
    return number if abs(number) < float("inf") else None


def not_finite(values: Tensor | float) -> tuple[Finding, ...]:
    """The finding that counts what is NaN or infinite, where there is any."""
    odd = int((~torch.isfinite(torch.as_tensor(values))).sum())
    return (Finding(code="non_finite", detail=f"They are {odd}."),) if odd else ()
