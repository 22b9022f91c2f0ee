"""The one loop over the tiles of a frame."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from app.engine.errors import CancelledError, DeviceMemoryError
from app.engine.frame import Band
from app.engine.host import HostWriter
from app.engine.memory import out_of_memory
from app.engine.plan import Plan
from app.engine.prepared import Pieces, Prepared
from app.engine.statistics import Measured, Statistics, combined, measure, measure_later


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Arrays:
    """Where a result goes: host memory, C order, allocated once.

    Attributes:
        image: the primal image, `(height, width, channels)`.
        maps: each `image.shape + wrt.shape`; none for a primal image alone.
    """

    image: NDArray[np.floating]
    maps: tuple[NDArray[np.floating], ...] = ()


class Loop:
    """What is done, and how big the next tile may be."""

    def __init__(self, tiles: Prepared, out: Arrays, plan: Plan) -> None:
        self.tiles = tiles
        self.plan = plan
        self.halvings = 0
        self.measured: list[tuple[int, Measured]] = []
        self.writer = HostWriter()
        self.image = torch.from_numpy(out.image)
        shape = (*out.image.shape, -1)
        self.maps = [torch.from_numpy(array).view(shape) for array in out.maps]

    def bands(self, cancelled: Callable[[], bool]) -> Iterator[int]:
        """Compute band after band; yields how many rows lie in the result so far."""
        height = self.tiles.task.rows
        start = landed = 0
        under_way: deque[tuple[int, int]] = deque()
        while start < height:
            band = Band(start, min(start + self.plan.rows, height))
            if self._band(band, cancelled):
                start = band.stop
                under_way.append((start, self.writer.taken))
            while under_way and under_way[0][1] <= self.writer.landed:
                landed, _ = under_way.popleft()
                yield landed
        self.writer.flush()
        if landed < height:
            yield height

    def _band(self, band: Band, cancelled: Callable[[], bool]) -> bool:
        """Compute one band, or halve the plan and say no."""
        first, count = 0, max(1, self.tiles.task.tangents)
        gathered: list[tuple[int, Measured]] = []
        while first < count:
            if cancelled():
                raise CancelledError("The map was cancelled.")
            chunk = slice(first, min(first + self.plan.tangents, count))
            rows = self.plan.rows
            measured = self._tile(band, chunk)
            if measured is not None:
                first = chunk.stop
                gathered += measured
            elif self.plan.rows != rows:
                return False
        self.measured += gathered
        return True

    @property
    def statistics(self) -> tuple[Statistics, ...]:
        """The statistics of each map so far; of the image, where there is none."""
        return tuple(
            combined(found for number, found in self.measured if number == place)
            for place in range(max(1, len(self.maps)))
        )

    def _tile(self, band: Band, chunk: slice) -> list[tuple[int, Measured]] | None:
        """Compute one tile and write it, or halve the plan and give nothing."""
        try:
            return self._write(band, chunk, *self.tiles.evaluate(band, chunk))
        except Exception as error:
            if not out_of_memory(error):
                raise
            smaller = self.plan.halved(whole=self.tiles.whole)
            if smaller is None:
                raise DeviceMemoryError(
                    f"One row of {self.tiles.task.columns} pixels does not fit in the memory of "
                    f"{self.tiles.loaded.device}. Ask for a narrower frame."
                ) from error
            self.plan, self.halvings = smaller, self.halvings + 1
        # Outside of the handler: the error's traceback held the tile's tensors until here.
        if self.tiles.loaded.device.type == "cuda":
            torch.cuda.empty_cache()
        return None

    def _write(
        self, band: Band, chunk: slice, image: Tensor, pieces: Pieces
    ) -> list[tuple[int, Measured]]:
        """Write a tile; the statistics of its part of each map, or of the image alone."""
        rows = slice(band.start, band.stop)
        if chunk.start == 0:
            self.writer.put(self.image[rows], image)
        if not pieces:
            return [(0, measure(image) if image.device.type == "cpu" else measure_later(image))]
        found: list[tuple[int, Measured]] = []
        start = -chunk.start
        for number, array in enumerate(self.maps):
            stop = start + array.shape[-1]
            first, last = max(0, start), min(len(pieces[0]), stop)
            if first < last:
                target = array[rows, ..., first - start : last - start]
                found += [(number, each) for each in self._put(target, pieces, first, last)]
            start = stop
        return found

    def _put(self, target: Tensor, pieces: Pieces, first: int, last: int) -> list[Measured]:
        """Write some of the tangents, channels beside channels."""
        tiles = [piece[first:last].movedim(0, -1) for piece in pieces]
        channel = 0
        for tile in tiles:
            stop = channel + tile.shape[-2]
            self.writer.put(target[..., channel:stop, :], tile)
            channel = stop
        if tiles[0].device.type == "cpu":  # while it is in the cache
            return [measure(target)]
        return [measure_later(tile) for tile in tiles]
