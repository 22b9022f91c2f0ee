"""Emission and absorption through a scalar volume with a transfer function."""

import math
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from renderers import LoadError, Pixels, param, renderer
from renderers._vectors import Vector, along, orbit

STEPS = 72
SIDE = 56  # voxels a side of the volume that is made here
BACKDROP = (0.012, 0.014, 0.03)


@renderer(channels="rgb")
class Volume:
    """Emission and absorption along rays through a box of voxels.

    With `v` the volume at a point, in [0, 1], and `s` the distance along the ray::

        sigma(v) = density v exp(-((v - centre) / width)^2)
        image    = integral of T sigma (cool + v (hot - cool)) ds + T(end) backdrop
        T(s)     = exp(-integral of sigma up to s)

    by 72 equal steps between entry and exit, each with constant `v` (its value half-way), for
    which the step is exact. A ray that misses the box sees the backdrop. `v` is interpolated
    trilinearly; the longest side of the box spans [-1, 1] and the array's axes are depth (towards
    the viewer at azimuth 0), height (up) and width (to the right). Without a file the volume is a
    fuzzy trefoil knot. Empty voxels (`v = 0`) are clear whatever the window.

    Source: N. Max, "Optical models for direct volume rendering", 1995, doi:10.1109/2945.468400.

    Not differentiable, with respect to the camera, where a sample lies on a face between voxels
    (the slope of a trilinear interpolation jumps there) and where a ray meets an edge of the box.
    """

    def __init__(self, device: torch.device, dtype: torch.dtype, *, file: str = "") -> None:
        """Place a volume on the device.

        Args:
            device: where tiles are computed.
            dtype: dtype of the voxels.
            file: a `.npy` file of rank 3 and floating-point dtype; its smallest value becomes 0
                and its largest 1, and one value everywhere becomes 1. Without it a volume is made.

        Raises:
            LoadError: a file that is no such volume.
        """
        voxels = _read(file) if file else _knot(SIDE)
        self.sides = tuple(voxels.shape)
        self.half = tuple((n - 1) / (max(self.sides) - 1) for n in self.sides)
        self.voxels = voxels.to(device=device, dtype=dtype).reshape(-1)

    def render(  # noqa: PLR0913 - the arguments are the declaration
        self,
        pixels: Pixels,
        density: Tensor = param(14.0, low=0.0, high=60.0, unit="1/scene unit", help="at the peak"),
        centre: Tensor = param(0.6, low=0.0, high=1.0, help="value that the window is around"),
        width: Tensor = param(0.22, low=0.03, high=1.0, help="half width of the window"),
        cool: Tensor = param((0.05, 0.22, 0.75), low=0.0, high=2.0, help="colour at value 0"),
        hot: Tensor = param((1.7, 0.75, 0.25), low=0.0, high=2.0, help="colour at value 1"),
        distance: Tensor = param(4.5, low=2.5, high=10.0, unit="scene unit", help="eye to centre"),
        elevation: Tensor = param(22.0, low=-85.0, high=85.0, unit="degree", help="of the eye"),
        azimuth: Tensor = param(35.0, low=-180.0, high=180.0, unit="degree", help="of the eye"),
        view: Tensor = param(30.0, low=5.0, high=70.0, unit="degree", help="angle of view"),
    ) -> Tensor:
        """The image at the pixels, shape `(*pixels, 3)`."""
        eye, ray = orbit(pixels, distance=distance, elevation=elevation, azimuth=azimuth, view=view)
        near, far = self._span(eye, ray)
        step = (far - near) / STEPS
        clear = torch.ones_like(ray.x)
        hotness = torch.zeros_like(ray.x)
        for i in range(STEPS):
            value = self._sample(along(eye, near + (i + 0.5) * step, ray))
            sigma = density * value * torch.exp(-(((value - centre) / width) ** 2))
            left = clear * torch.exp(-sigma * step)
            hotness = hotness + (clear - left) * value
            clear = left
        coolness = (1.0 - clear) - hotness
        channels = [coolness * cool[i] + hotness * hot[i] + clear * BACKDROP[i] for i in range(3)]
        return torch.stack(channels, dim=-1)

    def _span(self, eye: Vector, ray: Vector) -> tuple[Tensor, Tensor]:
        """Where each ray enters and leaves the box; the same distance twice where it misses it."""
        spans = [_slab(o, d, half) for o, d, half in zip(eye, ray, self.half[::-1], strict=True)]
        near = torch.maximum(torch.maximum(spans[0][0], spans[1][0]), spans[2][0])
        far = torch.minimum(torch.minimum(spans[0][1], spans[1][1]), spans[2][1])
        near = torch.clamp(near, min=0.0)
        return near, torch.maximum(near, far)

    def _sample(self, point: Vector) -> Tensor:
        """The volume at a point in the box, by trilinear interpolation."""
        rows = zip((point.z, point.y, point.x), self.half, self.sides, strict=True)
        (z, fz), (y, fy), (x, fx) = (_cell(p, half, n) for p, half, n in rows)
        _, height, width = self.sides
        first = ((z * height + y) * width + x).reshape(-1)

        def row(start: int) -> Tensor:
            # A shifted view costs nothing; adding to the index would cost as much as the look-up.
            low = self.voxels[start:].index_select(0, first).reshape(fx.shape)
            high = self.voxels[start + 1 :].index_select(0, first).reshape(fx.shape)
            return low + fx * (high - low)

        def sheet(start: int) -> Tensor:
            low = row(start)
            return low + fy * (row(start + width) - low)

        front = sheet(0)
        return front + fz * (sheet(height * width) - front)


def _slab(origin: Tensor, direction: Tensor, half: float) -> tuple[Tensor, Tensor]:
    """Distances at which a ray enters and leaves `|coordinate| <= half`."""
    direction = torch.where(torch.abs(direction) < 1e-9, 1e-9, direction)
    a, b = (-half - origin) / direction, (half - origin) / direction
    return torch.minimum(a, b), torch.maximum(a, b)


def _cell(coordinate: Tensor, half: float, count: int) -> tuple[Tensor, Tensor]:
    """Index of the voxel below a coordinate, and how far on towards the next it is, 0 to 1."""
    at = torch.clamp((coordinate / half + 1.0) * (0.5 * (count - 1)), 0.0, count - 1.0)
    index = torch.clamp(torch.floor(at.detach()), max=count - 2.0)
    return index.to(torch.int32), at - index


def _knot(side: int) -> Tensor:
    """A sum of Gaussians along a trefoil knot, from 0 to 1."""
    axis = torch.linspace(-1.0, 1.0, side, dtype=torch.float64)
    z, y, x = torch.meshgrid(axis, axis, axis, indexing="ij")
    total = torch.zeros_like(x)
    for i in range(160):
        t = math.tau * i / 160
        at = (math.sin(t) + 2 * math.sin(2 * t), math.cos(t) - 2 * math.cos(2 * t))
        across2 = (x - 0.27 * at[0]) ** 2 + (y - 0.27 * at[1]) ** 2
        total += torch.exp(-(across2 + (z + 0.4 * math.sin(3 * t)) ** 2) / (2 * 0.085**2))
    return (total - total.min()) / (total.max() - total.min())


def _read(file: str) -> Tensor:
    allowed = "a .npy file of 3 axes, each of 2 voxels or more, with floating-point dtype"
    try:
        array = np.load(Path(file), allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise LoadError(f"The volume must be {allowed}; it cannot be read as one.") from error
    if not isinstance(array, np.ndarray) or array.ndim != 3 or array.dtype.kind != "f":
        got = f"{array.ndim} axes of {array.dtype}" if isinstance(array, np.ndarray) else "an .npz"
        raise LoadError(f"The volume must be {allowed}; got {got}.")
    if min(array.shape) < 2 or not np.isfinite(array).all():
        got = "a NaN or an infinity" if min(array.shape) >= 2 else f"shape {list(array.shape)}"
        raise LoadError(f"The volume must be {allowed}, all finite; got {got}.")
    voxels = torch.from_numpy(array.astype(np.float64))
    low, high = voxels.min(), voxels.max()
    return (voxels - low) / (high - low) if high > low else torch.ones_like(voxels)
