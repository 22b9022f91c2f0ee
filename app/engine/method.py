"""How a parameter of a renderer is differentiated on this device, and what a tile of it costs."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from app.engine import plan as planning
from app.engine.errors import RenderError, StrategyError
from app.engine.frame import Band
from app.engine.ladder import NONE, Verdict, decide
from app.engine.memory import peak_bytes
from app.engine.plan import Cost
from app.engine.prepared import Prepared
from app.engine.strategies import AUTO
from app.engine.strategies.finite_difference import finite_difference
from app.engine.task import Task
from renderers import Loaded

# Width of the trial frames on which memory is measured.
WIDTH = 64


@dataclass(frozen=True, slots=True)
class Method:
    """What is found out once for each (renderer, parameter, dtype, strategy).

    Attributes:
        verdict: which strategy, and why.
        cost: working memory of a tile.
    """

    verdict: Verdict
    cost: Cost


PRIMAL = Verdict(strategy="primal")
# What raises here is the renderer itself: there is no strategy below.
LAST = (PRIMAL.strategy, finite_difference.name)


def find_method(loaded: Loaded, task: Task, without: Mapping[str, str] = NONE) -> Method:
    """Decide on a strategy and measure its cost, on small trials.

    Args:
        loaded: the renderer on its device.
        task: what is asked.
        without: strategies that have been found wrong at the task's values already, and why.

    Raises:
        RenderError: the renderer raised.
        RendererError: the renderer answered with no image.
        StrategyError: the strategy that was asked for cannot differentiate this renderer.
        UnknownStrategyError: there is no such strategy.
    """
    verdict = PRIMAL if task.wrt is None else decide(loaded, task, without)
    try:
        return Method(verdict, trial_cost(loaded, task, verdict))
    except (RenderError, StrategyError) as error:
        if task.strategy != AUTO or verdict.strategy in LAST:
            raise
        # It ran on the trial; what a renderer keeps may have changed since.
        return find_method(loaded, task, {**without, verdict.strategy: afterwards(error)})


def afterwards(error: Exception) -> str:
    """Why a strategy was passed over that had run on a trial."""
    return f"It ran on a trial, and then no more. ({error})"


def trial_cost(loaded: Loaded, task: Task, verdict: Verdict) -> Cost:
    """Measure the working memory of a tile on two or three small ones.

    A renderer that must be evaluated whole is measured on the task's own frame: it may have a size
    that it cannot leave, and its memory may grow faster than its pixels.
    """
    tangents = min(task.tangents, verdict.at_once or task.tangents)
    if verdict.whole or loaded.spec.halo is None:
        tiles = Prepared.prepare(loaded, task, verdict)
        band, one = Band(0, task.height), slice(0, 1)
        peak = peak_bytes(lambda: tiles.evaluate(band, one), loaded.device)
        pixel = peak / (task.width * task.height)
        # Another direction is taken to cost as much as the first: at most, it does.
        return Cost(0.0, 0.0, pixel) if tangents else Cost(0.0, pixel, 0.0)

    def trial(pixels: int, tangents: int) -> int:
        rows = pixels // WIDTH
        small = replace(task, width=WIDTH, height=rows, wrt=task.wrt if tangents else None)
        tiles = Prepared.prepare(loaded, small, verdict)
        chunk = slice(0, max(1, tangents))
        return peak_bytes(lambda: tiles.evaluate(Band(0, rows), chunk), loaded.device)

    return planning.fit(trial, tangents)
