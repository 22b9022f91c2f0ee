"""The sensitivity map of a frame, and the one loop over its tiles."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from app.engine import plan as planning
from app.engine.errors import CancelledError, DeviceMemoryError
from app.engine.frame import Band
from app.engine.host import HostWriter
from app.engine.memory import out_of_memory, peak_bytes
from app.engine.plan import Cost, Plan
from app.engine.statistics import Statistics, measure
from app.engine.task import Task
from app.engine.tile import Tiles
from renderers import Loaded

Progress = Callable[[int, int], None]
"""Called with `rows done, rows in all` after each band."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Arrays:
    """Where a result goes: host memory, C order, allocated once.

    Attributes:
        image: the primal image, `(height, width, channels)`.
        values: the map, `image.shape + wrt.shape`, or None for a primal image alone.
    """

    image: NDArray[np.floating]
    values: NDArray[np.floating] | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SensitivityMap:
    """d(image)/d(wrt) for every pixel, with how it was got.

    Attributes:
        values: the map, `image.shape + wrt.shape`, in units of the image per unit of `wrt`; None
            when only the primal image was asked for.
        image: the primal image, `(height, width, channels)`.
        statistics: of the map, or of the image when there is no map.
        strategy: the strategy that computed it.
        plan: the bands and chunks of directions used in the end.
        halvings: how often the device ran out of memory and the tile was halved.
        seconds: wall-clock seconds of each stage, by name.
        peak_bytes: working memory beside the result: counted by the allocator on CUDA; on the CPU
            the estimate by which the band was chosen.
    """

    values: NDArray[np.floating] | None
    image: NDArray[np.floating]
    statistics: Statistics
    strategy: str
    plan: Plan
    halvings: int
    seconds: dict[str, float]
    peak_bytes: int


def allocate(loaded: Loaded, task: Task) -> Arrays:
    """Arrays of the right shapes and dtype for a task, not yet filled."""
    dtype = np.float64 if loaded.dtype is torch.float64 else np.float32
    shape = (task.height, task.width, len(loaded.spec.channels))
    values = None if task.wrt is None else np.empty(shape + task.wrt.shape, dtype)
    return Arrays(image=np.empty(shape, dtype), values=values)


def trial_cost(loaded: Loaded, task: Task) -> Cost:
    """Measure the working memory of a tile on two or three small ones.

    The trial frame is small itself, so that a renderer that must be evaluated whole can be tried.
    """

    def trial(pixels: int, tangents: int) -> int:
        rows = pixels // 64
        small = Task(
            params=task.params,
            wrt=task.wrt,
            width=64,
            height=rows,
            seed=task.seed,
            strategy=task.strategy,
        )
        tiles = Tiles.prepare(loaded, small)
        return peak_bytes(
            lambda: tiles.evaluate(Band(0, rows), slice(0, max(1, tangents))), loaded.device
        )

    return planning.fit(trial, task.tangents)


def sensitivity_map(
    loaded: Loaded,
    task: Task,
    *,
    budget: int = planning.DEFAULT_BUDGET,
    cost: Cost | None = None,
    out: Arrays | None = None,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> SensitivityMap:
    """Compute a map (or a primal image) tile by tile.

    Args:
        loaded: the renderer on its device.
        task: what is asked.
        budget: bytes of working memory beside the result.
        cost: the measured cost of a tile, when it is known already.
        out: where the result goes; allocated when not given.
        progress: told after each band.
        cancelled: asked before each tile.

    Raises:
        RenderError: the renderer raised.
        RendererError: the renderer answered with no image.
        DeviceMemoryError: the smallest tile does not fit.
        CancelledError: `cancelled` said so.
        UnknownStrategyError: there is no such strategy.
    """
    started = time.perf_counter()
    tiles = Tiles.prepare(loaded, task)
    out = out or allocate(loaded, task)
    whole = loaded.spec.halo is None
    cost = cost or trial_cost(loaded, task)
    plan = planning.choose(
        cost,
        width=task.width,
        height=task.height,
        tangents=task.tangents,
        budget=budget,
        device=loaded.device,
        whole=whole,
    )
    planned = time.perf_counter()
    run = _Run(tiles, out, plan, whole=whole)
    for done in run.bands(cancelled):
        if progress:
            progress(done, task.height)
    return SensitivityMap(
        values=out.values,
        image=out.image,
        statistics=run.statistics,
        strategy=tiles.strategy.name,
        plan=run.plan,
        halvings=run.halvings,
        seconds={"plan": planned - started, "compute": time.perf_counter() - planned},
        peak_bytes=run.plan.bytes,
    )


class _Run:
    """The state of one loop over tiles: what is done, and how big the next tile may be."""

    def __init__(self, tiles: Tiles, out: Arrays, plan: Plan, *, whole: bool) -> None:
        self.tiles = tiles
        self.plan = plan
        self.whole = whole
        self.halvings = 0
        self.statistics = Statistics()
        self.writer = HostWriter()
        self.image = torch.from_numpy(out.image)
        shape = (*out.image.shape, -1)
        self.values = None if out.values is None else torch.from_numpy(out.values).view(shape)

    def bands(self, cancelled: Callable[[], bool]) -> Iterator[int]:
        """Compute band after band; yields the rows done so far."""
        height = self.tiles.task.height
        start = 0
        while start < height:
            band = Band(start, min(start + self.plan.rows, height))
            if self._band(band, cancelled):
                start = band.stop
                yield start
        self.writer.flush()

    def _band(self, band: Band, cancelled: Callable[[], bool]) -> bool:
        """Compute one band, or halve the plan and say no."""
        first, count = 0, max(1, self.tiles.task.tangents)
        gathered = Statistics()
        while first < count:
            if cancelled():
                raise CancelledError("The map was cancelled.")
            chunk = slice(first, min(first + self.plan.tangents, count))
            rows = self.plan.rows
            measured = self._tile(band, chunk)
            if measured is not None:
                first, gathered = chunk.stop, gathered + measured
            elif self.plan.rows != rows:
                return False
        self.statistics += gathered
        return True

    def _tile(self, band: Band, chunk: slice) -> Statistics | None:
        """Compute one tile and write it, or halve the plan and give nothing."""
        try:
            image, tangents = self.tiles.evaluate(band, chunk)
        except Exception as error:
            if not out_of_memory(error):
                raise
            smaller = self.plan.halved(whole=self.whole)
            if smaller is None:
                raise DeviceMemoryError(
                    f"One row of {self.tiles.task.width} pixels does not fit in the memory of "
                    f"{self.tiles.loaded.device}. Ask for a narrower frame."
                ) from error
            self.plan, self.halvings = smaller, self.halvings + 1
        else:
            return self._write(band, chunk, image, tangents)
        # Outside of the handler: the error's traceback held the tile's tensors until here.
        if self.tiles.loaded.device.type == "cuda":
            torch.cuda.empty_cache()
        return None

    def _write(
        self, band: Band, chunk: slice, image: Tensor, tangents: Tensor | None
    ) -> Statistics:
        rows = slice(band.start, band.stop)
        if chunk.start == 0:
            self.writer.put(self.image[rows], image)
        if self.values is None or tangents is None:
            return measure(image)
        self.writer.put(self.values[rows, ..., chunk], tangents.movedim(0, -1))
        return measure(tangents)
