"""`auto`: which strategy a renderer's parameter is differentiated by, found out on a small trial.

Each rung is run and compared with differences; the first that runs and agrees is kept. A rung that
raises sends the search to the rung that fits the kind of its failure.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor

from app.engine.agreement import Agreement, compare, grossly_off
from app.engine.differences import FIRST, Estimate, estimate, kinks, scale_of
from app.engine.errors import StrategyError
from app.engine.failures import explain, is_captured_write, is_older_function, reads_storage
from app.engine.findings import Finding
from app.engine.memory import out_of_memory
from app.engine.rendering import rendering
from app.engine.standing import quantised, standing, undivided
from app.engine.strategies import AUTO, STRATEGIES, Strategy, check
from app.engine.strategies.edge import edge
from app.engine.strategies.finite_difference import finite_difference, stepped
from app.engine.task import Task
from app.engine.trial import Trial, try_out
from renderers import Loaded

# Directions whose step is estimated one by one; the rest take the median of these.
ESTIMATED = 16
NONE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """How a parameter of a renderer is differentiated, and why so.

    Attributes:
        strategy: name of the strategy.
        at_once: most directions that may be carried together; None for any number.
        whole: whether the frame must be computed in one piece.
        step: the step of differences that is best along all directions together.
        steps: the step of differences along each direction, where they are the strategy.
        exact: whether differences may be taken in float64.
        relative: disagreement with differences on the trial, over the largest derivative.
        refuted: whether a strategy that was asked for disagrees on the trial.
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
    passed_over: tuple[tuple[str, str], ...] = ()
    findings: tuple[Finding, ...] = ()

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

    def resolve(self, directions: Tensor) -> Strategy:
        """The strategy itself, for the task's directions."""
        if self.strategy == finite_difference.name and self.steps:
            return stepped(self.steps, directions, exact=self.exact)
        return STRATEGIES[self.strategy]


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
    with rendering(loaded):
        findings, whole = standing(loaded, task)
    if whole:
        loaded = undivided(loaded)
    trial = try_out(loaded, task)
    with rendering(loaded):
        reference = differences(trial)
        stepped_output = not findings and quantised(trial, reference)
    if stepped_output:
        findings.append(Finding(code="quantised_output"))
    search = _Search(trial, reference, without)
    if task.strategy != AUTO:
        found = search.only(task.strategy)
    else:
        found = search.coarse() if stepped_output else search.best()
    return replace(
        found,
        whole=whole,
        step=found.step or reference.step,
        exact=trial.exact.loaded.dtype is torch.float64,
        passed_over=tuple(search.passed_over),
        findings=(*findings, *search.findings, *found.findings),
    )


def differences(trial: Trial) -> Estimate:
    """The trial's derivative along its mixed direction, by differences in float64."""
    with torch.no_grad():
        return estimate(trial.exact, trial.mixed.to(trial.exact.value.dtype))


class _Search:
    """The state of one descent."""

    def __init__(self, trial: Trial, reference: Estimate, without: Mapping[str, str]) -> None:
        self.without = without
        self.trial = trial
        self.reference = reference
        self.passed_over = list(without.items())
        self.findings: list[Finding] = []
        self.failures: dict[str, str] = {}

    def best(self) -> Verdict:
        """The first rung that runs and agrees."""
        found = (self.attempt(rung) for rung in self.rungs() if rung not in self.without)
        return next(verdict for verdict in found if verdict is not None)  # the last never refuses

    def coarse(self) -> Verdict:
        """Differences over many of the leaps of a quantised image."""
        exact = self.trial.exact
        mixed, *steps = (
            FIRST * scale_of(exact, direction.to(exact.value.dtype))
            for direction in (self.trial.mixed, *self.trial.directions)
        )
        return Verdict(strategy=finite_difference.name, step=mixed, steps=tuple(steps))

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
        """Run a rung and compare it; says why not where it is passed over."""
        strategy = STRATEGIES[rung]
        if rung == finite_difference.name:
            return Verdict(strategy=rung, steps=_steps(self.trial))
        try:
            _, tangents = strategy.differentiate(self.trial.tile, self.trial.mixed[None])
        except Exception as error:
            if out_of_memory(error):
                raise
            self.failures[rung] = f"{type(error).__name__}: {error}"
            self.passed_over.append((rung, explain(error)))
            return None
        agreement = compare(tangents[0], self.reference, self.trial.tile.loaded.dtype)
        if agreement.right:
            extra = [] if agreement.judged else [Finding(code="unverified")]
            return self._kept(strategy, tangents[0], agreement, extra)
        return self._doubted(strategy, tangents[0], agreement)

    def _kept(
        self, strategy: Strategy, tangent: Tensor, agreement: Agreement, extra: list[Finding]
    ) -> Verdict:
        if strategy.name == "forward" and agreement.judged and modes_differ(self.trial, tangent):
            extra = [*extra, Finding(code="modes_differ")]
        return Verdict(
            strategy=strategy.name,
            at_once=carried_together(strategy, self.trial),
            relative=agreement.relative,
            findings=tuple(extra),
        )

    def _doubted(self, strategy: Strategy, tangent: Tensor, agreement: Agreement) -> Verdict | None:
        """A rung that runs and disagrees is wrong, unless it agrees in float64."""
        exact = self.trial.exact
        direction = self.trial.mixed.to(exact.value.dtype)
        with torch.no_grad():
            kinked = kinks(exact, direction, self.reference)
        if agreement.right_but_for(kinked):
            return self._kept(strategy, tangent, agreement, [Finding(code="non_smooth_point")])
        if exact is not self.trial.tile:
            _, tangents = strategy.differentiate(exact, direction[None])
            exactly = compare(tangents[0], self.reference, torch.float64)
            if exactly.right and not grossly_off(
                self.trial.tile, self.trial.mixed, tangent, agreement.wrong
            ):
                detail = f"Disagreement: {agreement.relative:.1g} of the largest derivative."
                found = Finding(code="precision", detail=detail)
                return self._kept(strategy, tangent, agreement, [found])
        code = agreement.code
        if all(finding.code != code for finding in self.findings):
            self.findings.append(Finding(code=code))
        self.passed_over.append(
            (strategy.name, f"It runs, but disagrees with differences ({code}).")
        )
        return None


def _steps(trial: Trial) -> tuple[float, ...]:
    """A step of differences for each direction."""
    exact = trial.exact
    directions = trial.directions[:ESTIMATED].to(exact.value.dtype)
    with torch.no_grad():
        steps = [estimate(exact, direction).step for direction in directions]
    rest = len(trial.directions) - len(steps)
    return (*steps, *[sorted(steps)[len(steps) // 2]] * rest)


def carried_together(strategy: Strategy, trial: Trial) -> int | None:
    """1 where several directions at once are refused or come out otherwise; None where not."""
    if len(trial.directions) == 1:
        return None
    pair = torch.stack([trial.mixed, trial.directions[0]])
    try:
        _, together = strategy.differentiate(trial.tile, pair)
        _, alone = strategy.differentiate(trial.tile, pair[:1])
    except Exception:  # noqa: BLE001 - foreign code may raise anything
        return 1
    size = torch.nan_to_num(alone).abs().max()
    same = bool((torch.nan_to_num(together[0] - alone[0]).abs() <= 1e-3 * size).all())
    return None if same else 1


def modes_differ(trial: Trial, tangent: Tensor) -> bool:
    """Whether reverse mode, where it runs, gives another derivative: `<u, J t>`, `<J'u, t>`."""
    tile, direction = trial.tile, trial.mixed
    generator = torch.Generator().manual_seed(0)
    # Signs at random, so that an image which is even or odd does not cancel.
    signs = 2 * torch.randint(2, tangent.shape, generator=generator) - 1
    weights = signs.to(tangent.device, tangent.dtype)
    try:
        with torch.enable_grad():
            value = tile.value.detach().clone().requires_grad_()
            image = tile(value)
            if not image.requires_grad:
                return bool(tangent.any())
            (gradient,) = torch.autograd.grad(image, value, weights.to(image.dtype))
    except Exception:  # noqa: BLE001 - foreign code may raise anything
        return False
    if not bool(torch.isfinite(gradient).all()):
        # One pixel that is no number makes the sum over all of them none.
        return False
    forward = float((torch.nan_to_num(tangent) * weights).sum())
    reverse = float((gradient * direction).sum())
    size = float(torch.linalg.vector_norm(torch.nan_to_num(tangent)))
    return abs(forward - reverse) > 1e-2 * size
