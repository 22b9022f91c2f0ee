"""The pixel grid of a frame, cut into full-width bands of rows."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch

from renderers import Frame, Pixels, Spec


@dataclass(frozen=True, slots=True)
class Band:
    """Rows `start` to `stop` of a frame, counted from the top."""

    start: int
    stop: int

    @property
    def rows(self) -> int:
        """How many rows the band has."""
        return self.stop - self.start


@dataclass(frozen=True, slots=True)
class Window:
    """What a renderer is asked for, and the rows of its answer that are wanted."""

    where: Pixels | Frame
    keep: slice


def bands(height: int, rows: int) -> Iterator[Band]:
    """Cut `height` rows into bands of at most `rows`, in order from the top."""
    for start in range(0, height, rows):
        yield Band(start, min(start + rows, height))


def window(
    spec: Spec, width: int, height: int, band: Band, device: torch.device, dtype: torch.dtype
) -> Window:
    """What to ask a renderer so that its answer holds the band.

    A pixel renderer is asked for the band's pixels; a frame renderer for its halo as well, or for
    the whole frame when it declares none.
    """
    halo = height if spec.halo is None else spec.halo
    start, stop = max(0, band.start - halo), min(height, band.stop + halo)
    frame = Frame(width, height, start, stop, device, dtype)
    where = frame.pixels() if spec.kind == "pixel" else frame
    return Window(where, slice(band.start - start, band.stop - start))
