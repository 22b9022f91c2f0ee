"""`auto`: which strategy a renderer's parameter is differentiated by, found out on a small trial.

Each rung is run and compared with differences; the first that runs and agrees is kept. A rung that
raises sends the search to the rung that fits the kind of its failure.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

import torch

from app.engine.blindness import Blindness, blindness
from app.engine.differences import FIRST, scale_of
from app.engine.errors import StrategyError
from app.engine.extrapolation import Estimate, estimate
from app.engine.failures import is_captured_write, is_older_function, reads_storage
from app.engine.findings import Finding
from app.engine.modes import modes_differ
from app.engine.rendering import rendering
from app.engine.rung import attempt
from app.engine.standing import quantised, standing, undivided
from app.engine.strategies import AUTO, check
from app.engine.strategies.edge import edge
from app.engine.strategies.finite_difference import finite_difference
from app.engine.strategies.per_pixel import per_pixel
from app.engine.strategies.reverse import reverse
from app.engine.task import Task
from app.engine.trial import Trial, try_out
from app.engine.verdict import Verdict
from renderers import Loaded

# The strategy of an image that is asked for alone.
PRIMAL = "primal"
# So many directions, before another strategy is tried for them; and so many times fewer outputs
# than directions before reverse mode is: a pull costs about twice what a push does.
MANY = 3
FEWER = 2

NONE: Mapping[str, str] = MappingProxyType({})


def decide(loaded: Loaded, task: Task, without: Mapping[str, str] = NONE) -> Verdict:
    """Find the first rung that runs and agrees with differences; the last is differences.

    A strategy that is asked for by name is the only rung.

    Args:
        loaded: the renderer on its device.
        task: what is asked.
        without: rungs that have been found wrong at the task's values already, and why.

    Raises:
        RenderError: the renderer itself raises.
        StrategyError: the strategy that was asked for cannot differentiate this renderer.
        UnknownStrategyError: there is no such strategy.
    """
    check(task.strategy)
    if task.strategy == per_pixel.name and loaded.spec.kind != "pixel":
        raise StrategyError(f"Strategy {task.strategy!r} is for pixel renderers alone.")
    trial = try_out(loaded, task)
    with rendering(loaded):
        findings, whole = standing(trial)
    if whole and loaded.spec.halo is not None:
        loaded = undivided(loaded)
        trial = try_out(loaded, task)
    blind = Blindness()
    with rendering(loaded), torch.no_grad():
        direction = trial.mixed.to(trial.exact.value.dtype)
        reference = estimate(trial.exact, direction)
        if not findings and quantised(trial, reference):
            findings.append(Finding(code="quantised_output"))
            blind = Blindness(coarse=1.0)
        elif whole or loaded.spec.kind == "frame":
            # Of others, the certificate asks at positions between the pixels.
            blind = blindness(trial, reference)
    search = _Search(trial, reference, without, blind)
    found = search.best() if task.strategy == AUTO else search.only(task.strategy)
    return replace(
        found,
        whole=whole,
        step=found.step or reference.step / scale_of(trial.exact, direction),
        exact=trial.exact.loaded.dtype is torch.float64,
        passed_over=tuple(search.passed_over),
        findings=(*findings, *search.findings, *found.findings),
    )


def primal(loaded: Loaded, task: Task) -> Verdict:
    """What is to be said of an image that is asked for alone, and whether it must be whole.

    Raises:
        RenderError: the renderer itself raises.
    """
    trial = try_out(loaded, task)
    with rendering(loaded):
        findings, whole = standing(trial)
    return Verdict(strategy=PRIMAL, whole=whole, findings=tuple(findings))


class _Search:
    """The state of one descent."""

    def __init__(
        self, trial: Trial, reference: Estimate, without: Mapping[str, str], blind: Blindness
    ) -> None:
        self.without = without
        self.trial = trial
        self.reference = reference
        self.blind = blind
        self.passed_over = list(without.items())
        self.findings: list[Finding] = list(blind.findings)
        self.failures: dict[str, str] = {}

    def best(self) -> Verdict:
        """The first rung that runs and agrees."""
        if self.blind.coarse:
            if self.blind.findings:
                self.passed_over.append(("forward", "It gives zero, though hard edges move."))
            return self.coarse(self.blind.coarse)
        found = (self.attempt(rung) for rung in self.rungs() if rung not in self.without)
        best = next(verdict for verdict in found if verdict is not None)  # the last never refuses
        return replace(best, rivals=tuple(self.rivals(best)))

    def rivals(self, best: Verdict) -> Iterator[str]:
        """Strategies for many directions that hold as well where the best is an exact one."""
        many = len(self.trial.directions)
        if best.strategy == finite_difference.name or best.findings or many < MANY:
            return
        spec = self.trial.tile.loaded.spec
        width, height = self.trial.frame
        if spec.kind == "pixel" and spec.halo is not None:
            likely = [] if spec.random else [per_pixel.name]
        else:
            outputs = width * height * len(spec.channels)
            likely = [reverse.name] if FEWER * outputs <= many else []
        for rung in likely:
            if rung not in self.without and attempt(rung, self.trial, self.reference).verdict:
                yield rung

    def coarse(self, factor: float) -> Verdict:
        """Differences over many of the leaps that the image makes."""
        steps = (factor * FIRST,) * len(self.trial.directions)
        return Verdict(strategy=finite_difference.name, step=factor * FIRST, steps=steps)

    def only(self, rung: str) -> Verdict:
        """The rung that was asked for, right or wrong, if it runs."""
        if rung == edge.name:
            # Its interior is `forward`'s; a trial's scattered pixels have no neighbours to compare.
            return replace(self.only("forward"), strategy=rung)
        verdict = self.attempt(rung)
        if verdict is not None:
            return verdict
        if rung in self.failures:
            raise StrategyError(f"Strategy {rung!r} fails here. {self.passed_over[-1][1]}")
        return Verdict(strategy=rung, refuted=True)

    def rungs(self) -> Iterator[str]:
        """The rungs in order; which come after `forward` depends on how it failed."""
        if self.trial.tile.loaded.spec.native:
            yield "native"
        yield "forward"
        failure = self.failures.get("forward", "")
        if is_captured_write(failure):
            yield "dual"
        # Reading storage gives no gradient in reverse mode either, and zero on dual tensors.
        if not reads_storage(failure):
            yield "double_vjp"
        # A Function of the older form is closed to transforms, but may have a `jvp` all the same.
        if is_older_function(failure):
            yield "dual"
        yield finite_difference.name

    def attempt(self, rung: str) -> Verdict | None:
        """Run a rung, and note what speaks against it."""
        tried = attempt(rung, self.trial, self.reference)
        if tried.verdict is not None:
            return self.probed(tried.verdict)
        self.passed_over.append((rung, tried.reason))
        if tried.failure:
            self.failures[rung] = tried.failure
        elif all(finding.code != tried.doubt for finding in self.findings):
            self.findings.append(Finding(code=tried.doubt))
        return None

    def probed(self, verdict: Verdict) -> Verdict:
        """Differences beside reverse mode, where a renderer offers no more than that."""
        known = self.findings or self.without or "forward" not in self.failures
        if verdict.strategy != finite_difference.name or known:
            return verdict
        tangent = self.reference.values.to(self.trial.tile.value.dtype)
        if not modes_differ(self.trial, tangent, unconnected=False):
            return verdict
        return replace(verdict, findings=(*verdict.findings, Finding(code="backward_differs")))


__all__ = ["NONE", "Verdict", "decide"]
