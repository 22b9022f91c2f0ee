"""The whole answer: choose, compute, confirm, and say what is doubtful."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from app.engine.errors import DeviceMemoryError
from app.engine.findings import Finding
from app.engine.memory import out_of_memory
from app.engine.method import few_threads
from app.engine.probing.asked import Asked, Values
from app.engine.probing.choice import (
    DIFFERENCES,
    NATIVE,
    REVERSE,
    Choice,
    Columns,
    computed,
    picked,
)
from app.engine.probing.confirmation import confirmed
from app.engine.probing.cutting import precise
from app.engine.probing.holes import holes
from app.engine.probing.reverse import pulled
from app.engine.probing.sample import counted, sampled
from app.engine.probing.standing import standing
from app.engine.probing.trial import Trial


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answer:
    """Functionals and their derivatives.

    Attributes:
        values: of the functionals, `(functionals,)`, float64.
        gradients: by parameter, in the entries that were asked for, `(functionals, entries)`.
        choices: how each parameter's was computed.
        findings: what else is to be said; each once.
        whole: whether the frame was computed in one piece.
        pixels: how many pixels the functionals hold, and how many were compared with differences.
    """

    values: Values
    gradients: Mapping[str, Float[Tensor, "functionals entries"]]
    choices: Mapping[str, Choice]
    findings: tuple[Finding, ...]
    whole: bool
    pixels: tuple[int, int]


def answered(asked: Asked, columns: Columns, rungs: Sequence[str], *, certify: bool) -> Answer:
    """The answer, in some entries of some parameters; the rest of a gradient is left out.

    Raises:
        DeviceMemoryError: the smallest piece does not fit, or not even a few pixels do.
    """
    try:
        return _answered(asked, columns, rungs, certify=certify)
    except Exception as error:
        if not out_of_memory(error):
            raise
        raise DeviceMemoryError(
            f"A few pixels do not fit in the memory of {asked.loaded.device}."
        ) from error


def _answered(asked: Asked, columns: Columns, rungs: Sequence[str], *, certify: bool) -> Answer:
    with few_threads(asked.loaded):
        findings, whole = standing(asked)
        if whole:
            asked = asked.undivided()
        if asked.loaded.jvp is not None:
            rungs = (NATIVE, *rungs)
        sample = sampled(asked)
        comparable = all(finding.code != "not_deterministic" for finding in findings)
        trial = Trial(sample, columns, rungs, comparable=comparable)
        choices = {name: trial.choose(name) for name in columns}
    values, gradients = _computed(asked, columns, choices)
    if certify and sample is not asked and comparable and _confirmable(asked, columns, choices):
        said = confirmed(asked, gradients)
        findings += [said.finding] if said.finding else []
        if said.refuted:
            choices = {name: trial.refuted(name, choices[name]) for name in columns}
            values, gradients = _computed(asked, columns, choices)
    if certify and not _stepped(choices) and trial.leaping():
        findings.append(Finding(code="edges_suspected"))
    findings += holes(asked, values, list(gradients.values()))
    every = [*(said for choice in choices.values() for said in choice.findings), *findings]
    return Answer(
        values=values,
        gradients=gradients,
        choices=choices,
        findings=tuple({finding.code: finding for finding in every}.values()),
        whole=asked.whole,
        pixels=(counted(asked), counted(sample)),
    )


def _computed(
    asked: Asked, columns: Columns, choices: Mapping[str, Choice]
) -> tuple[Tensor, dict[str, Tensor]]:
    """Values and gradients; all that are pulled back are pulled back together."""
    found: dict[str, Tensor] = {}
    values: Tensor | None = None
    together = [name for name, choice in choices.items() if choice.strategy == REVERSE]
    if together:
        rows = pulled(asked, together)
        sizes = [asked.params[name].numel() for name in together]
        values = rows[:, 0]
        for name, part in zip(together, torch.split(rows[:, 1:], sizes, dim=1), strict=True):
            found[name] = picked(part, columns[name])
    for name, choice in choices.items():
        if name not in found:
            # Differences are made in float64, as their steps were chosen.
            of = precise(asked) if choice.strategy == DIFFERENCES else asked
            rows = computed(of, choice.strategy, name, columns[name], choice.steps)
            values = rows[:, 0] if values is None else values
            found[name] = rows[:, 1:]
    assert values is not None  # noqa: S101 - there is a parameter
    return values, {name: found[name] for name in choices}


def _confirmable(asked: Asked, columns: Columns, choices: Mapping[str, Choice]) -> bool:
    """Whether all entries are there, and not all by differences or across steps of the image."""
    full = all(len(each) == asked.params[name].numel() for name, each in columns.items())
    by_rule = any(choice.strategy != DIFFERENCES for choice in choices.values())
    return full and by_rule and not _stepped(choices)


def _stepped(choices: Mapping[str, Choice]) -> bool:
    """Whether it has been said already that the image moves in steps."""
    said = {finding.code for choice in choices.values() for finding in choice.findings}
    return not said.isdisjoint({"edges_suspected", "quantised_output"})
