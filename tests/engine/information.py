"""What tests of the information share: whole Jacobians, and their sums in one tile."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from app.engine.information import Accumulator, Gaussian, Information, Maps, Noise

Floats = NDArray[np.float64]


def informed(
    tangents: Tensor,
    *,
    image: Tensor | None = None,
    labels: Sequence[str] = (),
    noise: Noise | None = None,
    scales: Sequence[float] | None = None,
    maps: Maps | None = None,
    cuts: Sequence[int] = (),
    accuracy: float | None = None,
) -> Information:
    """The information of a frame whose whole Jacobian is given, `(n, height, width, channels)`."""
    image = torch.ones_like(tangents[0]) if image is None else image
    height, width, channels = image.shape
    accumulator = Accumulator(
        labels or "abcdefgh"[: len(tangents)], noise or Gaussian(1.0), (height, width, channels),
        scales=scales, maps=maps, accuracy=accuracy,
    )  # fmt: skip
    borders = [0, *sorted(set(cuts)), height]
    for start, stop in pairwise(borders):
        rows = slice(start, stop)
        accumulator.add(rows, image[rows], tangents[:, rows])
    return accumulator.finish()


def columns(matrix: Floats, dtype: torch.dtype = torch.float64) -> Tensor:
    """A Jacobian `(values, n)` as that of a grey frame of one row."""
    return torch.from_numpy(matrix.T.copy()).to(dtype)[:, None, :, None]


def random_tangents(n: int, height: int = 6, width: int = 5, channels: int = 3) -> Tensor:
    """A Jacobian of no structure, in float64."""
    generator = torch.Generator().manual_seed(n)
    return torch.randn(n, height, width, channels, generator=generator, dtype=torch.float64)


def angled(angle: float, dtype: torch.dtype = torch.float64) -> Tensor:
    """Two columns of 400 values and equal length with an angle between them."""
    t = 2 * np.pi * (np.arange(400) + 0.5) / 400
    first = np.sin(t)
    return columns(np.stack([first, np.cos(angle) * first + np.sin(angle) * np.cos(t)], 1), dtype)
