"""The pixel grid of a frame, cut into full-width bands of rows."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

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
    spec: Spec,
    width: int,
    height: int,
    band: Band,
    device: torch.device,
    dtype: torch.dtype,
    stride: int = 1,
) -> Window:
    """What to ask a renderer so that its answer holds the band.

    A pixel renderer is asked for the band's pixels; a frame renderer for its halo as well, or for
    the whole frame when it declares none.

    Args:
        spec: the renderer.
        width: width of the whole frame in pixels.
        height: its height.
        band: which rows; of those that are asked for at all.
        device: where the image is wanted.
        dtype: its dtype.
        stride: every so many rows and columns are asked for, of a pixel renderer.
    """
    if stride > 1:
        row = torch.arange(band.start, band.stop) * stride
        column = torch.arange(0, width, stride)
        rows, columns = torch.meshgrid(row, column, indexing="ij")
        coarse = at_pixels(rows, columns, width, height, device, dtype)
        return Window(coarse, slice(0, band.rows))
    halo = height if spec.halo is None else spec.halo
    start, stop = max(0, band.start - halo), min(height, band.stop + halo)
    frame = Frame(width, height, start, stop, device, dtype)
    where = frame.pixels() if spec.kind == "pixel" else frame
    return Window(where, slice(band.start - start, band.stop - start))


def at_pixels(
    rows: Tensor,
    columns: Tensor,
    width: int,
    height: int,
    device: torch.device,
    dtype: torch.dtype,
) -> Pixels:
    """The centres of some pixels of a frame, with the bits that the whole frame gives them."""
    pitch = 2.0 / min(width, height)
    x = (columns.to(device, dtype) + (0.5 - width / 2)) * pitch
    y = ((height / 2 - 0.5) - rows.to(device, dtype)) * pitch
    return Pixels(x, y, width, height)
