"""The information in a frame: its tiles, differentiated by every parameter and summed at once.

The Jacobian is never held. Nor can it be compared with differences afterwards, so that a small
frame at the same values is mapped and certified first; what is found out there is used here.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from app.engine import plan as planning
from app.engine.certificate import Certificate
from app.engine.differences import natural_scale
from app.engine.errors import CancelledError, DeviceMemoryError, RenderError
from app.engine.frame import Band
from app.engine.information import Accumulator, Information, Maps, Noise
from app.engine.memory import out_of_memory
from app.engine.method import with_recording
from app.engine.prepared import Prepared
from app.engine.recording import PROMPT
from app.engine.sensitivity import Progress, SensitivityMap
from app.engine.several import Methods, sensitivity_maps
from app.engine.strategies.finite_difference import finite_difference
from app.engine.task import Task
from renderers import Loaded, RendererError

# Pixels of the longer side of the frame that is certified.
SIDE = 96
# Of derivatives by differences: what their extrapolation leaves, in float64.
BY_DIFFERENCES = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Informed:
    """What a frame tells of parameters, and how its derivatives were got.

    Attributes:
        information: the Fisher matrix and what follows from it.
        strategies: the strategy of each part that was differentiated in one go.
        certificates: of the small frame, one a part.
        rows: rows of a band.
    """

    information: Information
    strategies: tuple[str, ...]
    certificates: tuple[tuple[tuple[str, ...], Certificate], ...]
    rows: int


def information_of(
    loaded: Loaded,
    task: Task,
    noise: Noise,
    *,
    budget: int = planning.DEFAULT_BUDGET,
    methods: Methods | None = None,
    maps: Maps | None = None,
    progress: Progress = lambda *_: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Informed:
    """Sum what every pixel of a frame tells of the task's parameters.

    Args:
        loaded: the renderer on its device.
        task: the frame, and what it is to tell of.
        noise: how much each value of the image is to be believed.
        budget: bytes of working memory.
        methods: what is known from earlier maps, which this adds to.
        maps: where per-pixel information goes.
        progress: told of rows.
        cancelled: asked before each band.

    Raises:
        NoiseError: the noise model is none of such a frame.
        TooManyParametersError: there are more parameters than a Fisher matrix is made for.
        CancelledError: `cancelled` said so.
        DeviceMemoryError: a row does not fit.
        RenderError, RendererError, StrategyError: as for a map.
    """
    shape = (task.height, task.width, len(loaded.spec.channels))
    labels = [label for wrt in task.subject.wrt for label in wrt.labels()]
    sums = Accumulator(
        labels, noise, shape, scales=scales_of(loaded, task), maps=maps, device=loaded.device
    )
    tried = certified(loaded, task, budget, methods)
    if any(result.strategy == finite_difference.name for result in tried):
        sums = Accumulator(
            labels, noise, shape, scales=scales_of(loaded, task), maps=maps,
            accuracy=BY_DIFFERENCES, device=loaded.device,
        )  # fmt: skip
    parts = [_part(loaded, task, result) for result in tried]
    rows = min(_rows(task, tiles, result, budget) for tiles, result in parts)
    for done, taken in _bands([tiles for tiles, _ in parts], rows, cancelled, sums):
        rows = taken
        progress(done, task.height)
    return Informed(
        information=sums.finish(),
        strategies=tuple(result.strategy for result in tried),
        certificates=tuple(
            (result.task.subject.names, result.certificate)
            for result in tried
            if result.certificate
        ),
        rows=rows,
    )


def scales_of(loaded: Loaded, task: Task) -> list[float]:
    """What counts as 1 of each number: the range of its parameter, or a notable change of it."""
    scales: list[float] = []
    for wrt in task.subject.wrt:
        declared = loaded.spec.params[wrt.name]
        if declared.low is not None and declared.high is not None:
            scale = declared.high - declared.low
        else:
            scale = natural_scale(declared, task.params[wrt.name])
        scales += [scale] * wrt.size
    return scales


def certified(
    loaded: Loaded, task: Task, budget: int, methods: Methods | None
) -> tuple[SensitivityMap, ...]:
    """Maps of a small frame of the same shape: how the parameters are differentiated, and if so."""
    share = min(1.0, SIDE / max(task.width, task.height))
    small = replace(
        task,
        width=max(1, round(share * task.width)),
        height=max(1, round(share * task.height)),
    )
    try:
        return sensitivity_maps(loaded, small, budget=budget, methods=methods)
    except (RenderError, RendererError):
        if share == 1.0:
            raise
        # A renderer may have a frame that it cannot leave.
        return sensitivity_maps(loaded, task, budget=budget, methods=methods)


def _part(loaded: Loaded, task: Task, result: SensitivityMap) -> tuple[Prepared, SensitivityMap]:
    """The whole frame, differentiated as a part of the small one was."""
    whole = replace(task, subject=result.task.subject, certify=False)
    method = with_recording(loaded, whole, result.method, PROMPT)
    tiles = Prepared.prepare(loaded, whole, method.verdict, method.recording(whole))
    return tiles, replace(result, method=method)


def _rows(task: Task, tiles: Prepared, result: SensitivityMap, budget: int) -> int:
    """Rows of a band: all derivatives of a pixel are wanted at once."""
    cost = result.method.cost
    # Beside a tile, its derivatives once more: laid together by channels, and by parts.
    channels = len(tiles.loaded.spec.channels)
    laid = 2 * tiles.loaded.dtype.itemsize * channels * task.tangents
    each = task.width * (cost.a_pixel(tiles.task.tangents) + laid)
    if tiles.whole:
        return task.height
    preferred = planning.PREFERRED_PIXELS[tiles.loaded.device.type] // task.width
    affordable = int(max(0.0, planning.PLANNED * budget - cost.fixed) / each)
    return max(1, min(task.height, preferred, affordable))


def _bands(
    parts: list[Prepared], rows: int, cancelled: Callable[[], bool], sums: Accumulator
) -> Iterator[tuple[int, int]]:
    """Add band after band; yields the rows done, and how many a band has."""
    height = parts[0].task.height
    start = 0
    while start < height:
        if cancelled():
            raise CancelledError("The information is no longer wanted.")
        stop = min(start + rows, height)
        try:
            sums.add(slice(start, stop), *_derivatives(parts, Band(start, stop)))
        except Exception as error:
            if not out_of_memory(error):
                raise
            if rows == 1 or any(tiles.whole for tiles in parts):
                raise DeviceMemoryError(
                    "One row of the frame with all derivatives does not fit in memory. Ask for a "
                    "narrower frame, or for fewer parameters."
                ) from error
            rows //= 2
        else:
            start = stop
            yield start, rows


def _derivatives(parts: list[Prepared], band: Band) -> tuple[Tensor, Tensor]:
    """A band's image, and its derivatives `(n, rows, width, channels)` by all parts' parameters."""
    found: list[Tensor] = []
    for tiles in parts:
        image, pieces = tiles.evaluate(band, slice(0, tiles.task.tangents))
        found.append(torch.cat(pieces, dim=-1))
    return image, found[0] if len(found) == 1 else torch.cat(found)
