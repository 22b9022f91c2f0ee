"""Finding the method for a task: which strategy holds, and of those that do, which costs least."""

from collections.abc import Mapping
from dataclasses import replace

from app.engine.errors import RenderError, StrategyError
from app.engine.frame import Band
from app.engine.ladder import NONE, decide, primal
from app.engine.memory import made_bytes
from app.engine.method import LAST, Method, few_threads, with_recording
from app.engine.plan import TRIAL_WIDTH
from app.engine.prepared import Prepared
from app.engine.recording import PROMPT
from app.engine.strategies import AUTO, STRATEGIES
from app.engine.strategies.reverse import reverse
from app.engine.task import Task
from renderers import Loaded

# Rows of a trial frame on which strategies are compared, and directions beyond the first.
ROWS = 8
MORE = 2


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
        verdict = decide(loaded, task, without) if task.subject else primal(loaded, task)
    try:
        method = with_recording(loaded, task, Method(verdict), limit)
    except (RenderError, StrategyError) as error:
        if task.strategy != AUTO or verdict.strategy in LAST:
            raise
        # It ran on the trial; what a renderer keeps may have changed since.
        return find_method(loaded, task, {**without, verdict.strategy: afterwards(error)}, limit)
    for rival in verdict.rivals:
        method = cheaper(loaded, task, method, rival, limit)
    return method


def afterwards(error: Exception) -> str:
    """Why a strategy was passed over that had run on a trial."""
    return f"It ran on a trial, and then no more. ({error})"


def cheaper(loaded: Loaded, task: Task, method: Method, rival: str, limit: int) -> Method:
    """The method, or that of a strategy that holds as well where it has less to do.

    What operations make is counted, not seconds: equal requests get equal bits, on a busy machine
    as on an idle one.
    """
    known = method.verdict
    reason = f"{rival!r} gives all {task.tangents} derivatives for less."
    passed_over = (*known.passed_over, (known.strategy, reason))
    verdict = replace(known, strategy=rival, at_once=None, passed_over=passed_over)
    try:
        other = with_recording(loaded, task, Method(verdict), limit)
        with few_threads(loaded):
            # Reverse mode has been counted: it is a rival where there are few outputs.
            less = rival == reverse.name or _work(loaded, task, other) < _work(loaded, task, method)
    except (RenderError, StrategyError):
        return method
    return other if less else method


def _work(loaded: Loaded, task: Task, method: Method) -> float:
    """What a method makes for all directions, from what it makes for one and for some."""
    small = replace(task, width=TRIAL_WIDTH, height=ROWS)
    tiles = Prepared.prepare(loaded, small, method.verdict, method.recording(task))

    def made(directions: int) -> int:
        return made_bytes(lambda: tiles.evaluate(Band(0, ROWS), slice(0, directions)))

    count = task.tangents
    if STRATEGIES[method.verdict.strategy].gradient is not None:
        return float(made(count))
    one = made(1)
    if method.verdict.at_once == 1 and not method.recordings:
        return float(one * count)
    more = min(MORE, count - 1)
    return one + (made(1 + more) - one) / more * (count - 1)
