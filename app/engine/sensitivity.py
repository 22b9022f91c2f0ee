"""The sensitivity maps of a frame."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from app.engine import plan as planning
from app.engine.certificate import Certificate, certify
from app.engine.compiled import UncompilableError
from app.engine.errors import DisagreementError, RenderError, StrategyError
from app.engine.findings import Finding
from app.engine.loop import Arrays, Loop
from app.engine.method import LAST, Method, few_threads, trial_cost, with_recording
from app.engine.plan import Plan
from app.engine.prepared import Prepared
from app.engine.recording import PROMPT, UnrecordableError
from app.engine.search import afterwards, find_method
from app.engine.sparse import sparse
from app.engine.statistics import Statistics, combined
from app.engine.strategies import AUTO
from app.engine.strategies.edge import edge
from app.engine.task import Task
from renderers import Loaded

# What is said of a map where all that moves is edges, and `edge` answers.
FOLLOWED = Finding(
    code="edges_suspected",
    detail="Here it was: the map is the derivative of the image averaged over each pixel.",
)

Progress = Callable[[int, int], None]
"""Called with `rows done, rows in all` after each band."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SensitivityMap:
    """d(image)/d(wrt) for every pixel, one array for each of the task's maps; how it was got.

    Attributes:
        task: what was asked.
        maps: each `image.shape + wrt.shape`, in units of the image per unit of `wrt`; none when
            only the primal image was asked for.
        image: the primal image, `(height, width, channels)`.
        each: the statistics of each map, or of the image when there is no map.
        certificate: the evidence that the map is right; None for an image, or where not wanted.
        method: the strategy that computed it, and why that one.
        plan: the bands and chunks of directions used in the end.
        halvings: how often the device ran out of memory and the tile was halved.
        seconds: wall-clock seconds of each stage, by name.
        peak_bytes: working memory beside the result: the estimate by which the tile was chosen.
    """

    task: Task
    maps: tuple[NDArray[np.floating], ...]
    image: NDArray[np.floating]
    each: tuple[Statistics, ...]
    certificate: Certificate | None
    method: Method
    plan: Plan
    halvings: int
    seconds: dict[str, float]
    peak_bytes: int

    @property
    def values(self) -> NDArray[np.floating] | None:
        """The map, of a task that has one."""
        return self.maps[0] if len(self.maps) == 1 else None

    @property
    def statistics(self) -> Statistics:
        """Of all maps together, or of the image when there is no map."""
        return combined(self.each)

    @property
    def strategy(self) -> str:
        """The name of the strategy."""
        return self.method.verdict.strategy

    @property
    def tiles(self) -> str:
        """What did the work on a tile: `compiled`, `recorded` or `eager` (the renderer itself)."""
        recording = self.method.recording(self.task)
        if recording is None:
            return "eager"
        return "compiled" if recording.kernel else "recorded"


def allocate(loaded: Loaded, task: Task) -> Arrays:
    """Arrays of the right shapes and dtype for a task, not yet filled."""
    dtype = np.float64 if loaded.dtype is torch.float64 else np.float32
    shape = (task.rows, task.columns, len(loaded.spec.channels))
    maps = tuple(np.empty(shape + behind, dtype) for behind in task.subject.shapes)
    return Arrays(image=np.empty(shape, dtype), maps=maps)


def sensitivity_map(
    loaded: Loaded,
    task: Task,
    *,
    budget: int = planning.DEFAULT_BUDGET,
    method: Method | None = None,
    out: Arrays | None = None,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> SensitivityMap:
    """Compute maps (or a primal image) tile by tile, and certify them.

    Args:
        loaded: the renderer on its device.
        task: what is asked.
        budget: bytes of working memory beside the result.
        method: how it is computed, where that is known from an earlier map.
        out: where the result goes; allocated when not given.
        progress: told after each band.
        cancelled: asked before each tile.

    Raises:
        RenderError: the renderer raised.
        RendererError: the renderer answered with no image.
        DeviceMemoryError: the smallest tile does not fit.
        CancelledError: `cancelled` said so.
        StrategyError: the strategy that was asked for cannot differentiate this renderer.
        DisagreementError: the strategy that was asked for gives a wrong map.
        UnknownStrategyError: there is no such strategy.
        StrideError: no pixel can be left out.
    """
    sparse(loaded, task)
    out = out or allocate(loaded, task)
    method = method or find_method(loaded, task)
    wrong: dict[str, str] = {}
    while True:
        if method.recordings:
            # Of a renderer that looks at its frame, there may be none for this one yet.
            method = with_recording(loaded, task, method, PROMPT)
        try:
            result = _computed(loaded, task, budget, method, out, progress, cancelled)
        except (UncompilableError, UnrecordableError) as error:
            method = method.plainer(loaded, task, str(error))
        except (RenderError, StrategyError) as error:
            strategy = method.verdict.strategy
            if task.strategy != AUTO or strategy in LAST:
                raise
            # It ran on the trial; what a renderer keeps may have changed since.
            wrong[strategy] = afterwards(error)
            method = find_method(loaded, task, wrong)
        else:
            better = _reconsidered(loaded, task, result, wrong)
            if better is None:
                return result
            method = better


def _reconsidered(
    loaded: Loaded, task: Task, result: SensitivityMap, wrong: dict[str, str]
) -> Method | None:
    """Another method where the certificate speaks against the one used; None where it does not.

    Raises:
        DisagreementError: the strategy that was asked for gives a wrong map.
    """
    certificate, method = result.certificate, result.method
    if certificate is None:
        return None
    if certificate.blind and task.strategy == AUTO and task.stride == 1:
        # All that moves is edges: the derivative of pixels' averages is the only answer.
        said = [each for each in certificate.findings if each.code != FOLLOWED.code]
        edges = replace(method.verdict, strategy=edge.name, findings=(*said, FOLLOWED))
        return Method(edges, trial_cost(loaded, task, edges))
    if not certificate.refuted:
        return None
    if method.recordings:
        why = f"Replayed, it disagrees with differences ({certificate.doubts[0].code})."
        return method.plainer(loaded, task, why)
    if task.strategy != AUTO:
        raise DisagreementError(refusal(loaded, certificate, task.strategy))
    # The method was found at other values of the parameters, and does not hold at these.
    doubts = certificate.doubts
    wrong[method.verdict.strategy] = f"It disagrees with differences on the map ({doubts[0].code})."
    found = find_method(loaded, task, wrong)
    verdict = replace(found.verdict, findings=(*doubts, *found.verdict.findings))
    return replace(found, verdict=verdict)


def refusal(loaded: Loaded, certificate: Certificate, strategy: str) -> str:
    """Why a strategy's map is not given."""
    return (
        f"Strategy {strategy!r} gives a wrong map of {loaded.spec.name!r}: "
        + " ".join(finding.message for finding in certificate.findings)
        + " Ask for `auto`, or set `certify` to false to have the map all the same."
    )


def _computed(
    loaded: Loaded,
    task: Task,
    budget: int,
    method: Method,
    out: Arrays,
    progress: Progress | None,
    cancelled: Callable[[], bool],
) -> SensitivityMap:
    marks, verdict = [time.perf_counter()], method.verdict
    recording = method.recording(task)
    tiles = Prepared.prepare(loaded, task, verdict, recording)
    sparse(tiles.loaded, task)
    # One that gives all derivatives at once gains nothing by being asked for some of them.
    together = tiles.strategy is not None and tiles.strategy.gradient is not None
    most = task.tangents if recording else min(task.tangents, verdict.at_once or task.tangents)
    plan = planning.choose(
        method.cost,
        width=task.columns,
        height=task.rows,
        tangents=1 if together else most,
        budget=budget,
        device=loaded.device,
        whole=tiles.whole,
    )
    if together:
        plan = replace(plan, tangents=task.tangents)
    with few_threads(tiles.loaded):
        tiles.hold()
    marks.append(time.perf_counter())
    loop = Loop(tiles, out, plan)
    for done in loop.bands(cancelled):
        if progress:
            progress(done, task.rows)
    marks.append(time.perf_counter())
    each = loop.statistics
    with few_threads(tiles.loaded):
        certificate = certify(tiles, out, verdict, combined(each)) if task.certified else None
    marks.append(time.perf_counter())
    names = ("plan", "compute", "certify")
    return SensitivityMap(
        task=task,
        maps=out.maps,
        image=out.image,
        each=each,
        certificate=certificate,
        method=method,
        plan=loop.plan,
        halvings=loop.halvings,
        seconds={name: b - a for name, a, b in zip(names, marks, marks[1:], strict=False)},
        peak_bytes=loop.plan.bytes,
    )
