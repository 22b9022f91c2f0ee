"""Finding the method for a task: which strategy holds, and of those that do, which costs least."""

from collections.abc import Mapping
from dataclasses import replace

from app.engine.errors import RenderError, StrategyError
from app.engine.evaluate import flattened
from app.engine.ladder import NONE, Verdict, decide
from app.engine.memory import made_bytes
from app.engine.method import LAST, PRIMAL, Method, few_threads, with_recording
from app.engine.recording import PROMPT
from app.engine.rendering import rendering
from app.engine.strategies import AUTO, STRATEGIES
from app.engine.task import Task
from app.engine.trial import Trial, try_out
from renderers import Loaded, Pixels


def find_method(
    loaded: Loaded, task: Task, without: Mapping[str, str] = NONE, limit: int = PROMPT
) -> Method:
    """Decide on a strategy, record it where that can be, and measure its cost, on small trials.

    Args:
        loaded: the renderer on its device.
        task: what is asked.
        without: strategies that have been found wrong at the task's values already, and why.
        limit: how many operations a recording may take; a long one is better made when idle.

    Raises:
        RenderError: the renderer raised.
        RendererError: the renderer answered with no image.
        StrategyError: the strategy that was asked for cannot differentiate this renderer.
        UnknownStrategyError: there is no such strategy.
    """
    with few_threads(loaded):
        verdict = (
            PRIMAL if not task.subject else cheapest(loaded, task, decide(loaded, task, without))
        )
    try:
        return with_recording(loaded, task, Method(verdict), limit)
    except (RenderError, StrategyError) as error:
        if task.strategy != AUTO or verdict.strategy in LAST:
            raise
        # It ran on the trial; what a renderer keeps may have changed since.
        return find_method(loaded, task, {**without, verdict.strategy: afterwards(error)}, limit)


def afterwards(error: Exception) -> str:
    """Why a strategy was passed over that had run on a trial."""
    return f"It ran on a trial, and then no more. ({error})"


def cheapest(loaded: Loaded, task: Task, verdict: Verdict) -> Verdict:
    """Of the strategies that hold on the trial, the one that has least to do for all directions.

    What operations make is counted, not seconds: equal requests get equal bits, on a busy machine
    as on an idle one.
    """
    if not verdict.rivals:
        return verdict
    trial = try_out(loaded, task)
    with rendering(loaded):
        work = {name: _work(trial, name, verdict) for name in (verdict.strategy, *verdict.rivals)}
    best = min(work, key=lambda name: work[name])
    if best == verdict.strategy:
        return verdict
    reason = f"{best!r} gives all {task.tangents} derivatives for less."
    passed_over = (*verdict.passed_over, (verdict.strategy, reason))
    return replace(verdict, strategy=best, at_once=None, passed_over=passed_over)


def _work(trial: Trial, name: str, verdict: Verdict) -> float:
    """What a strategy makes for all directions, from what it makes for one and for some."""
    strategy, tile, count = STRATEGIES[name], trial.tile, len(trial.directions)
    if isinstance(tile.where, Pixels) and tile.loaded.spec.halo is not None:
        tile = replace(tile, where=flattened(tile.where))
    if strategy.gradient is not None:
        gradient = strategy.gradient
        return float(made_bytes(lambda: gradient(tile)))

    def made(directions: int) -> int:
        rows = trial.along(slice(0, directions))
        return made_bytes(lambda: strategy.differentiate(tile, rows))

    one = made(1)
    if verdict.at_once == 1:
        return float(one * count)
    few = min(count, 3)
    return one + (made(few) - one) / (few - 1) * (count - 1)
