"""How a parameter of a renderer is differentiated on this device, and what a tile of it costs."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace

from app.engine import plan as planning
from app.engine.evaluate import one_thread
from app.engine.frame import Band
from app.engine.ladder import PRIMAL, Verdict
from app.engine.memory import peak_bytes
from app.engine.plan import Cost
from app.engine.prepared import Prepared
from app.engine.recording import MOST, Recording, UnrecordableError, record
from app.engine.standing import undivided
from app.engine.strategies import STRATEGIES
from app.engine.strategies.finite_difference import finite_difference
from app.engine.task import NOTHING, Task
from renderers import Loaded

# Recordings that are kept of a renderer that looks at the size of its frame.
FRAMES = 4


# Until it has been measured.
UNKNOWN = Cost(0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Method:
    """What is found out once for each (renderer, parameter, dtype, strategy).

    Attributes:
        verdict: which strategy, and why.
        cost: working memory of a tile.
        recordings: the strategy as plain operations; more than one where each holds for a frame.
        unrecorded: why the renderer itself is run, where it was tried to record it.
        tried: how many operations a recording was allowed when it was tried.
    """

    verdict: Verdict
    cost: Cost = UNKNOWN
    recordings: tuple[Recording, ...] = ()
    unrecorded: str = ""
    tried: int = 0

    @property
    def postponed(self) -> bool:
        """Whether a recording may be had by whoever has the time."""
        return bool(self.unrecorded) and self.tried < MOST

    def recording(self, task: Task) -> Recording | None:
        """The recording that holds for a task's frame."""
        frames = (None, (task.width, task.height))
        return next((found for found in self.recordings if found.frame in frames), None)

    def plainer(self, loaded: Loaded, task: Task, why: str) -> "Method":
        """The same by recordings where they were compiled; without them where they were not."""
        if any(each.kernel for each in self.recordings):
            recordings = tuple(each.by(None) for each in self.recordings)
            cost = trial_cost(loaded, task, self.verdict, recordings[0])
            return replace(self, recordings=recordings, cost=cost)
        cost = trial_cost(loaded, task, self.verdict)
        return Method(self.verdict, cost, unrecorded=why, tried=MOST)


# What raises here is the renderer itself: there is no strategy below.
LAST = (PRIMAL, finite_difference.name)


def few_threads(loaded: Loaded) -> AbstractContextManager[None]:
    """One thread for what asks a renderer at a few positions; all for one that must be whole."""
    scattered = loaded.spec.kind == "pixel" and loaded.spec.halo is not None
    return one_thread() if scattered else nullcontext()


def with_recording(loaded: Loaded, task: Task, method: Method, limit: int) -> Method:
    """The method with a recording for the task's frame, where it can be had within the limit.

    What a tile costs is measured on what will be run: the recording, or the renderer itself.
    """
    if method.recording(task) or (method.unrecorded and limit <= method.tried):
        return method
    verdict = method.verdict
    source = undivided(loaded) if verdict.whole else loaded
    strategy = STRATEGIES[verdict.strategy] if task.subject else None
    try:
        found = record(source, task, strategy, limit)
        cost = trial_cost(loaded, task, verdict, found)
    except UnrecordableError as refusal:
        tried = limit if refusal.code == "postponed" else MOST
        measured = method.cost is not UNKNOWN and not method.recordings
        cost = method.cost if measured else trial_cost(loaded, task, verdict)
        return Method(verdict, cost, unrecorded=str(refusal), tried=tried)
    kept = (found, *method.recordings[: FRAMES - 1])
    return Method(verdict, cost, kept, tried=limit)


def trial_cost(
    loaded: Loaded, task: Task, verdict: Verdict, recording: Recording | None = None
) -> Cost:
    """Measure the working memory of a tile on two or three small ones.

    A renderer that must be evaluated whole is measured on the task's own frame: it may have a size
    that it cannot leave, and its memory may grow faster than its pixels.
    """
    gradient = task.subject and STRATEGIES[verdict.strategy].gradient is not None
    tangents = min(task.tangents, verdict.at_once or task.tangents)
    if verdict.whole or loaded.spec.halo is None:
        tiles = Prepared.prepare(loaded, task, verdict)
        band, one = Band(0, task.height), slice(0, task.tangents if gradient else 1)
        peak = peak_bytes(lambda: tiles.evaluate(band, one), loaded.device)
        pixel = peak / (task.width * task.height)
        # Another direction is taken to cost as much as the first: at most, it does.
        return Cost(0.0, 0.0, pixel) if tangents and not gradient else Cost(0.0, pixel, 0.0)

    def trial(pixels: int, tangents: int) -> int:
        rows = pixels // planning.TRIAL_WIDTH
        small = replace(task, width=planning.TRIAL_WIDTH, height=rows)
        if not (tangents or recording):
            small = replace(small, subject=NOTHING)
        tiles = Prepared.prepare(loaded, small, verdict, recording)
        chunk = slice(0, max(1, tangents))
        return peak_bytes(lambda: tiles.evaluate(Band(0, rows), chunk), loaded.device)

    if gradient:
        return planning.fit_gradient(trial, task.tangents)
    if recording:
        return planning.fit_recorded(trial, task.tangents)
    return planning.fit(trial, tangents)
