"""`grid_sample` in two and three dimensions: sampling of a texture or a volume at positions.

With `x` the input, `g` the grid and `S` the sampling, `out[n, c, p] = S(x[n, c], g[n, p])`. An
output point answers to its own grid point only, and `S` is linear in `x`, so

    d out[n, c, p] = sum_k J[n, c, p, k] dg[n, p, k] + S(dx[n, c], g[n, p]),

where `J` comes from torch's own backward kernel, called with ones: it sums the gradient of the grid
over channels, and the channels are put into the batch to keep them apart. The kernel's masks for
padding, reflection and the edges of cells are therefore those of reverse mode. Source:
https://github.com/pytorch/pytorch/blob/v2.6.0/aten/src/ATen/native/cpu/GridSamplerKernel.cpp

Not differentiable in the grid where a position lies on the edge of a cell (`bilinear`) or of the
padding; the derivative there is that of torch's reverse mode. `nearest` is piecewise constant.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from app.engine.operations._contract import Formula, Operation, evaluate

# The numbers by which torch's kernels know the names.
INTERPOLATION: Mapping[str, int] = MappingProxyType({"bilinear": 0, "nearest": 1, "bicubic": 2})
PADDING: Mapping[str, int] = MappingProxyType({"zeros": 0, "border": 1, "reflection": 2})
NEAREST = INTERPOLATION["nearest"]

# Samples whose J is held at a time: 8 MB of float32 in 2D, and far more work than a call costs.
SAMPLES = 2**20

# Into how many pieces the points of a single texture are cut where their number allows: enough for
# the threads of a large machine, and a band of ten thousand pixels still gives each some work.
PIECES = 64

BACKWARD = MappingProxyType(
    {
        4: torch.ops.aten.grid_sampler_2d_backward.default,
        5: torch.ops.aten.grid_sampler_3d_backward.default,
    }
)


@dataclass(frozen=True, slots=True)
class GridSample(Formula):
    """Sampling by torch's numbers for interpolation and padding."""

    interpolation: int
    padding: int
    align_corners: bool

    def value(self, *inputs: Tensor) -> Tensor:
        """The samples `(batch, channels, *points)`."""
        texture, grid = inputs
        return torch.grid_sampler(
            texture, grid, self.interpolation, self.padding, self.align_corners
        )

    def tangent(
        self, inputs: Sequence[Tensor], tangents: Sequence[Tensor | None], output: Tensor
    ) -> Tensor:
        """What the moved positions and the moved texture do to the samples."""
        texture, grid = inputs
        texture_tangent, grid_tangent = tangents
        parts = []
        if texture_tangent is not None:
            parts.append(self.value(texture_tangent, grid))
        if grid_tangent is not None and self.interpolation != NEAREST:
            parts.append(self._moved(texture, grid, grid_tangent))
        return sum(parts[1:], parts[0]) if parts else torch.zeros_like(output)

    def cotangents(
        self, inputs: Sequence[Tensor], cotangent: Tensor, output: Tensor, needed: Sequence[bool]
    ) -> Sequence[Tensor | None]:
        """Torch's own reverse mode."""
        del output
        texture, grid = inputs
        return self._backward(cotangent, texture, grid, list(needed))

    def _moved(
        self,
        texture: Float[Tensor, "batch channels *texels"],
        grid: Float[Tensor, "batch rows *points axes"],
        tangent: Float[Tensor, "batch rows *points axes"],
    ) -> Float[Tensor, "batch channels rows *points"]:
        """What the moved positions do to the samples, `sum_k J[..., k] dg[..., k]`."""
        parts = []
        for rows in _rows(texture, grid):
            jacobian = self._jacobian(texture, grid[:, rows])
            # One product over everything, then the few axes added: a reduction over a last
            # dimension of two or three takes torch eight times as long.
            along = (jacobian * tangent[:, None, rows]).unbind(-1)
            parts.append(sum(along[1:], along[0]))
        return parts[0] if len(parts) == 1 else torch.cat(parts, dim=2)

    def _jacobian(
        self,
        texture: Float[Tensor, "batch channels *texels"],
        grid: Float[Tensor, "batch rows *points axes"],
    ) -> Float[Tensor, "batch channels rows *points axes"]:
        batch, channels = texture.shape[:2]
        shape = (batch, channels, *grid.shape[1:])
        if batch * channels == 1:
            texture, grid = _shared(texture, grid)
        else:
            texture = texture.reshape(-1, 1, *texture.shape[2:])
            grid = grid[:, None].expand(shape).flatten(0, 1)
        ones = grid.new_ones(()).expand(len(grid), 1, *grid.shape[1:-1])
        # Without the texture's gradient the kernel scatters nothing: an eighth of its time in 2D.
        _, jacobian = self._backward(ones, texture, grid, [False, True])
        slopes: Tensor = jacobian.reshape(shape)
        return slopes

    def _backward(
        self, cotangent: Tensor, texture: Tensor, grid: Tensor, needed: list[bool]
    ) -> tuple[Any, Any]:
        """Cotangents of texture and grid, None where not needed."""
        options = (self.interpolation, self.padding, self.align_corners)
        kernel = BACKWARD[texture.dim()]
        cotangents: tuple[Any, Any] = kernel(cotangent, texture, grid, *options, needed)
        return cotangents


def _rows(texture: Tensor, grid: Tensor) -> Iterator[slice]:
    """Cut the rows of the grid so that J of a piece is of bounded size."""
    rows = grid.shape[1]
    samples = texture.shape[:2].numel() * grid.shape[2:-1].numel()
    step = max(1, SAMPLES // max(1, samples))
    for start in range(0, max(1, rows), step):
        yield slice(start, start + step)


def _shared(
    texture: Float[Tensor, "1 1 *texels"], grid: Float[Tensor, "1 rows *points axes"]
) -> tuple[Float[Tensor, "pieces 1 *texels"], Float[Tensor, "pieces *piece axes"]]:
    """One texture as a batch of itself, without a copy, each with some of the points.

    On the CPU the kernels share out the batch to the threads and nothing else.
    """
    pieces = max(1, math.gcd(grid.shape[1:-1].numel(), PIECES))
    piece = (1,) * (grid.dim() - 3)
    return (
        texture.expand(pieces, *texture.shape[1:]),
        grid.reshape(pieces, *piece, grid.shape[1:-1].numel() // pieces, grid.shape[-1]),
    )


def grid_sampler(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """Stands in for `torch.grid_sampler` and its two- and three-dimensional forms."""
    return evaluate(GridSample(interpolation_mode, padding_mode, align_corners), input, grid)


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """Stands in for `torch.nn.functional.grid_sample`."""
    if mode not in INTERPOLATION or padding_mode not in PADDING:
        return F.grid_sample(input, grid, mode, padding_mode, align_corners)  # torch's own error
    return grid_sampler(
        input, grid, INTERPOLATION[mode], PADDING[padding_mode], bool(align_corners)
    )


ATEN = torch.ops.aten

OPERATION = Operation(
    "grid_sample",
    MappingProxyType(
        {F.grid_sample: grid_sample}
        | dict.fromkeys(
            (
                torch.grid_sampler,
                torch.grid_sampler_2d,
                torch.grid_sampler_3d,
                ATEN.grid_sampler,
                ATEN.grid_sampler_2d,
                ATEN.grid_sampler_3d,
                ATEN.grid_sampler.default,
                ATEN.grid_sampler_2d.default,
                ATEN.grid_sampler_3d.default,
            ),
            grid_sampler,
        )
    ),
)
