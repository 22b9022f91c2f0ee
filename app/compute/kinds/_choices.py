"""What is said beside gradients of every parameter: how each was got, and what is doubtful."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from app.engine.findings import Finding
from app.engine.probing import Choice


def told(choices: Mapping[str, Choice], findings: Sequence[Finding]) -> dict[str, Any]:
    """Plain data: choices by parameter, and each finding with the parameters that it is of."""
    return {
        "strategy": ",".join(dict.fromkeys(choice.strategy for choice in choices.values())),
        "relative": max((_known(choice) for choice in choices.values()), default=0.0),
        "choices": {
            name: {**choice.describe(), "relative": _known(choice)}
            for name, choice in choices.items()
        },
        "warnings": [_warning(choices, finding) for finding in findings],
    }


def _known(choice: Choice) -> float:
    """The disagreement; 0 where nothing was there to compare with, which `judged` tells."""
    return choice.relative if math.isfinite(choice.relative) else 0.0


def _warning(choices: Mapping[str, Choice], finding: Finding) -> dict[str, Any]:
    names = [
        name
        for name, choice in choices.items()
        if any(said.code == finding.code for said in choice.findings)
    ]
    said = finding.describe()
    return {**said, "message": f"({', '.join(names)}) {said['message']}"} if names else said
