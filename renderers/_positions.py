"""Where a renderer is asked: positions of pixels, or a window of rows."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True, eq=False)
class Pixels:
    """Positions at which a pixel renderer is asked, any number in any order.

    Attributes:
        x: positions to the right, shape `(*pixels,)`; the shorter side of the frame spans [-1, 1].
        y: positions upwards, the same shape.
        width: width of the whole frame in pixels.
        height: height of the whole frame in pixels.
    """

    x: Tensor
    y: Tensor
    width: int
    height: int

    @property
    def pitch(self) -> float:
        """Width of a pixel in the units of `x` and `y`."""
        return 2.0 / min(self.width, self.height)

    def to(self, dtype: torch.dtype) -> "Pixels":
        """The same positions in another dtype."""
        return replace(self, x=self.x.to(dtype), y=self.y.to(dtype))

    @property
    def shape(self) -> torch.Size:
        """Shape `(*pixels,)` of the positions."""
        return self.x.shape


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A window of rows of the frame, as a frame renderer is asked for it.

    Attributes:
        width: width of the whole frame in pixels.
        height: height of the whole frame in pixels.
        start: first row wanted, counted from the top.
        stop: one past the last row wanted.
        device: where the image is wanted.
        dtype: dtype of the image.
    """

    width: int
    height: int
    start: int
    stop: int
    device: torch.device
    dtype: torch.dtype

    def to(self, dtype: torch.dtype) -> "Frame":
        """The same window with an image of another dtype."""
        return replace(self, dtype=dtype)

    def pixels(self) -> Pixels:
        """Centres of the window's pixels, shape `(stop - start, width)`.

        A position depends on its own row and column alone, so a row has the same bits in every
        window. The grids are dense: torch takes another path, with other rounding, for views.
        """
        pitch = 2.0 / min(self.width, self.height)
        column = torch.arange(self.width, device=self.device, dtype=self.dtype)
        row = torch.arange(self.start, self.stop, device=self.device, dtype=self.dtype)
        x = (column + (0.5 - self.width / 2)) * pitch
        y = ((self.height / 2 - 0.5) - row) * pitch
        shape = (self.stop - self.start, self.width)
        return Pixels(
            x[None, :].expand(shape).contiguous(),
            y[:, None].expand(shape).contiguous(),
            self.width,
            self.height,
        )
