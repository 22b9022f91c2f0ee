"""Proving what came of a compiler: it must give the recording's numbers, to rounding."""

import torch
from torch import Tensor

from app.engine.compiled.errors import UncompilableError
from app.engine.compiled.kernel import Kernel
from app.engine.directions import Directions
from app.engine.evaluate import LANES
from app.engine.recording import Recording
from app.engine.recording.proof import moved, positions
from app.engine.tile import Tile

# Of the largest value. A compiler rounds in other places, and takes other approximations of exp and
# sin; a march multiplies that. Seen: 2e-6 on `sphere`, 2e-4 on the 48 steps of `sdf_scene`.
NEAR = {torch.float32: 1e-3, torch.float64: 1e-9}
# Positions where rounding may decide between hit and miss, or between two sides of a kink.
STRAY = 1 / 200
# At how many positions they are compared.
COMPARED = 32 * LANES


def prove(kernel: Kernel, recording: Recording, tile: Tile) -> None:
    """Compare a kernel with what it was compiled from, at a tile's values and at others.

    Raises:
        UncompilableError: they differ by more than rounding.
    """
    where = positions(tile, COMPARED)
    fresh = {
        name: moved(value, tile.loaded.spec.params[name]) for name, value in tile.params.items()
    }
    directions = _some(recording, tile)
    every = slice(0, max(1, len(directions)))
    for params in (dict(tile.params), fresh):
        image, tangents = recording.bind(params, directions)(where, every)
        other, along = recording.by(kernel).bind(params, directions)(where, every)
        for wanted, found in zip((image, *tangents), (other, *along), strict=True):
            if (off := share_off(found, wanted)) > STRAY:
                raise UncompilableError(f"It differs from the recording at {100 * off:.2g} %.")


def near(found: Tensor, wanted: Tensor) -> bool:
    """Whether values are the same but for rounding, and but for stray ones."""
    return share_off(found, wanted) <= STRAY


def _some(recording: Recording, tile: Tile) -> Directions:
    """One direction in which everything moves; every one, where all are had at once."""
    size = tile.value.numel()
    if recording.gradient or not size:
        return Directions.basis(size)
    generator = torch.Generator().manual_seed(0)
    return Directions.written(torch.randn((1, size), generator=generator, dtype=torch.float64))


def share_off(found: Tensor, wanted: Tensor) -> float:
    """The part of values that differ by more than rounding; NaN is equal to NaN."""
    size = float(torch.nan_to_num(wanted, posinf=0.0, neginf=0.0).abs().max())
    near = (found - wanted).abs() <= NEAR[wanted.dtype] * size
    same = near | (found == wanted) | (found.isnan() & wanted.isnan())
    return 1.0 - float(same.double().mean())
