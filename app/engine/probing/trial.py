"""The trial of each way to a gradient on a few pixels, until one holds."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from app.engine.errors import StrategyError
from app.engine.failures import explain
from app.engine.findings import Finding
from app.engine.memory import out_of_memory
from app.engine.probing.asked import Asked
from app.engine.probing.choice import (
    DIFFERENCES,
    FORWARD,
    REVERSE,
    Choice,
    Columns,
    computed,
    picked,
)
from app.engine.probing.cutting import precise
from app.engine.probing.differences import Differences, unit
from app.engine.probing.judgement import Judgement, Reference, judged
from app.engine.probing.leaps import leaping, stepping
from app.engine.probing.moves import mixed_directions, positions, scale_of
from app.engine.probing.reverse import pulled

# Entries whose step is estimated one by one; the rest take the median of these.
ESTIMATED = 16
# Entries that may be moved one by one, in forward mode or by differences.
LARGEST = 1 << 14
# Of the values: quantisation moves nearly all of them in steps, an edge a few.
QUANTISED = 0.25
BLIND = "It gives zero, though the image moves in steps."
# Disagreements that `no_grad` explains, where the other mode agrees.
STOPPED = {"tangent_lost", "partly_detached"}


class Trial:
    """A few pixels, on which each parameter's ways are tried until one holds."""

    def __init__(
        self, sample: Asked, columns: Columns, rungs: Sequence[str], *, comparable: bool
    ) -> None:
        """Try reverse mode, where it comes first.

        Args:
            sample: the functionals on few pixels.
            columns: the entries that are asked for.
            rungs: the strategies in their order; differences come last.
            comparable: whether differences say anything: the image is not as random as they are.
        """
        self.sample = sample
        self.comparable = comparable
        self.exact = Differences.of(precise(sample))
        self.columns = columns
        self.rungs = rungs
        together = tuple(columns) if rungs[0] == REVERSE else ()
        self.reversed, self.failure = _pulled_apart(sample, together)

    def choose(self, name: str) -> Choice:
        """The first strategy that runs and agrees with differences; these are the last."""
        passed_over: list[tuple[str, str]] = []
        codes: list[str] = []
        references = self.references(name) if self.comparable else []
        for rung in self.rungs:
            gradient = self._gradient(rung, name, passed_over)
            if gradient is None:
                continue
            if not references:
                said = (Finding(code="unverified"),)
                return Choice(strategy=rung, passed_over=tuple(passed_over), findings=said)
            verdict = self._judged(gradient, name, references)
            share = self._stepping(name, references) if verdict.silent else 0.0
            if share:
                return self._coarse(name, (*passed_over, (rung, BLIND)), share)
            if verdict.right:
                return _kept(rung, passed_over, codes, verdict)
            if self._only_rounded(rung, name, references, verdict):
                choice = _kept(rung, passed_over, codes, verdict)
                detail = f"Disagreement: {verdict.relative:.1g} of what moves."
                found = (*choice.findings, Finding(code="precision", detail=detail))
                return replace(choice, findings=found)
            reason = f"It runs, but disagrees with differences ({verdict.code})."
            passed_over.append((rung, reason))
            codes.append(verdict.code)
        findings = tuple(Finding(code=code) for code in codes[-1:])
        return Choice(
            strategy=DIFFERENCES,
            passed_over=tuple(passed_over),
            findings=findings,
            steps=self.steps(name),
        )

    def refuted(self, name: str, choice: Choice) -> Choice:
        """Differences, after the finished gradients were found to be wrong."""
        reason = "It holds on a few pixels, but not over all of them."
        return replace(
            choice,
            strategy=DIFFERENCES,
            passed_over=(*choice.passed_over, (choice.strategy, reason)),
            judged=False,
            steps=self.steps(name),
        )

    def leaping(self) -> bool:
        """Whether hard edges move."""
        return self.comparable and leaping(
            self.exact.asked, tuple(self.columns), self.exact.plan.rows
        )

    def references(self, name: str, *, deep: bool = False) -> list[Reference]:
        """Differences along the parameter's mixed directions, as few as settle the matter."""
        asked, entries = self.exact.asked, self.columns[name]
        value, declared = asked.params[name], asked.loaded.spec.params[name]
        found = []
        for direction in mixed_directions(value, entries):
            once = None if deep else self.exact.once(name, direction)
            estimate = once or self.exact.estimated(name, direction)
            scale = scale_of(value, declared, direction)
            mine = direction.flatten().to("cpu", torch.float64)[positions(entries)]
            found.append(Reference(mine, estimate, scale, once is None))
        return found

    def steps(self, name: str) -> tuple[float, ...]:
        """A step of differences for each entry."""
        value, entries = self.exact.asked.params[name], self.columns[name]
        if len(entries) > LARGEST:
            raise StrategyError(
                f"Parameter {name!r} cannot be differentiated in reverse mode, and has too many "
                f"entries, {len(entries)}, to be moved one by one."
            )
        few = entries[:ESTIMATED]
        steps = [self.exact.estimated(name, unit(value, entry)).step for entry in few]
        return (*steps, *[sorted(steps)[len(few) // 2]] * (len(entries) - len(few)))

    def _gradient(self, rung: str, name: str, passed_over: list[tuple[str, str]]) -> Tensor | None:
        """The gradient on the few pixels; notes what a strategy raised."""
        if rung == REVERSE and name in self.reversed:
            return picked(self.reversed.pop(name), self.columns[name])
        if rung != REVERSE and len(self.columns[name]) > LARGEST:
            passed_over.append((rung, "There are too many entries."))
            return None
        try:
            if rung == REVERSE and self.failure is not None:
                raise self.failure
            return computed(self.sample, rung, name, self.columns[name])[:, 1:]
        except Exception as error:
            if out_of_memory(error):
                raise
            passed_over.append((rung, explain(error)))
            return None

    def _judged(self, gradient: Tensor, name: str, references: list[Reference]) -> Judgement:
        """Compare with one difference, and where that raises a doubt, with a ladder of them."""
        dtype = self.sample.loaded.dtype
        verdict = judged(gradient, references, dtype)
        if (not verdict.right or not verdict.judged) and not all(r.laddered for r in references):
            references[:] = self.references(name, deep=True)
            verdict = judged(gradient, references, dtype)
        return verdict

    def _only_rounded(
        self, rung: str, name: str, references: list[Reference], verdict: Judgement
    ) -> bool:
        """Whether a gradient disagrees by rounding alone: in float64 it would not."""
        exact = self.exact.asked
        if verdict.gross or exact.loaded.dtype is self.sample.loaded.dtype:
            return False
        try:
            gradient = computed(exact, rung, name, self.columns[name])[:, 1:]
        except Exception as error:
            if out_of_memory(error):
                raise
            return False
        return judged(gradient, references, exact.loaded.dtype).right

    def _stepping(self, name: str, references: list[Reference]) -> float:
        """The share of values that move in steps alone, where a gradient says that none moves."""
        if any(bool((r.estimate.size > 0).any()) and r.estimate.sure.all() for r in references):
            return 0.0
        value, entries = self.exact.asked.params[name], self.columns[name]
        directions = mixed_directions(value, entries)
        if not any(bool(self.exact.moved(name, direction).any()) for direction in directions):
            return 0.0
        return stepping(self.exact.asked, name, self.exact.plan.rows)

    def _coarse(self, name: str, passed_over: tuple[tuple[str, str], ...], share: float) -> Choice:
        """Differences over many of the leaps that the image makes."""
        value, entries = self.exact.asked.params[name], self.columns[name]
        code = "quantised_output" if share > QUANTISED else "edges_suspected"
        found = Finding(code=code, detail="The gradient is by differences over a large step.")
        return Choice(
            strategy=DIFFERENCES,
            passed_over=passed_over,
            findings=(found, Finding(code="unverified")),
            steps=tuple(self.exact.coarsest(name, unit(value, entry)) for entry in entries),
        )


def _kept(
    rung: str, passed_over: list[tuple[str, str]], codes: list[str], verdict: Judgement
) -> Choice:
    findings = []
    if rung == FORWARD and not STOPPED.isdisjoint(codes):
        findings.append(Finding(code="modes_differ"))
    if verdict.kinked:
        findings.append(Finding(code="non_smooth_point"))
    if not verdict.judged:
        findings.append(Finding(code="unverified"))
    return Choice(
        strategy=rung,
        passed_over=tuple(passed_over),
        findings=tuple(findings),
        relative=verdict.relative,
        judged=verdict.judged,
    )


def _pulled_apart(
    sample: Asked, names: Sequence[str]
) -> tuple[dict[str, Tensor], Exception | None]:
    """Gradients of several parameters in one pass, or what was raised."""
    if not names:
        return {}, None
    try:
        found = pulled(sample, names)[:, 1:]
    except Exception as error:
        if out_of_memory(error):
            raise
        return {}, error
    sizes = [sample.params[name].numel() for name in names]
    return dict(zip(names, torch.split(found, sizes, dim=1), strict=True)), None
