"""A small trial of a renderer: the question asked of a few pixels, to decide and to compare."""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from app.engine.differences import mixed
from app.engine.directions import Directions
from app.engine.frame import Band, at_pixels, window
from app.engine.task import Task
from app.engine.tile import Tile
from renderers import Frame, Loaded, Pixels

# Pixels of a trial: enough to meet what a renderer does in different parts of its frame.
PIXELS = 256
# Side of the trial frame of a frame renderer.
SIDE = 40
# Of the largest value: what draws the same numbers in both dtypes differs by rounding alone.
SAME = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """A tile of few pixels, and the directions that are tried on it.

    Attributes:
        tile: the pixels, with the task's parameters.
        exact: the same in float64, where the renderer can be evaluated so; else the tile itself.
        directions: what the task's maps are taken along.
        frame: width and height of the task's own frame, in pixels.
    """

    tile: Tile
    exact: Tile
    directions: Directions
    frame: tuple[int, int]

    @property
    def mixed(self) -> Float[Tensor, " size"]:
        """One direction in which every one takes part, with weights that cannot cancel."""
        _, direction = mixed(self.tile, self.directions)
        return direction.to(self.tile.loaded.device, self.tile.loaded.dtype)

    def along(self, which: slice, dtype: torch.dtype | None = None) -> Float[Tensor, "k size"]:
        """Some of the directions written out, in the tile's dtype or another."""
        loaded = self.tile.loaded
        return self.directions.rows(which, loaded.device, dtype or loaded.dtype)


def try_out(loaded: Loaded, task: Task) -> Trial:
    """A trial of a task: pixels spread over its frame, or a small frame of its own."""
    device, dtype = loaded.device, loaded.dtype
    params = {name: value.to(device, dtype) for name, value in task.params.items()}
    directions, size = task.directions, (task.width, task.height)
    if loaded.spec.kind == "pixel" and loaded.spec.halo is not None:
        few = spread(task.width, task.height, device, dtype)
        return trial_of(Tile(loaded, few, params, task.moving, task.seed), directions, size)
    frame = whole_frame(loaded, min(SIDE, task.width), min(SIDE, task.height))
    small = Tile(loaded, frame, params, task.moving, task.seed)
    try:
        with torch.no_grad():
            small(small.value)
    except Exception:  # noqa: BLE001 - a renderer may have a frame that it cannot leave
        large = replace(small, where=whole_frame(loaded, task.width, task.height))
        return trial_of(large, directions, size)
    return trial_of(small, directions, size)


def trial_of(tile: Tile, directions: Directions, frame: tuple[int, int]) -> Trial:
    """A trial of a tile. A renderer may insist on float32 somewhere in its depths."""
    exact = tile.precise()
    try:
        with torch.no_grad():
            image = exact(exact.value)
            if tile.loaded.spec.random and not _close(image, tile(tile.value)):
                # Other numbers are drawn in another dtype: that is another image.
                exact = tile
    except Exception:  # noqa: BLE001 - foreign code may raise anything
        exact = tile
    return Trial(tile, exact, directions, frame)


def _close(image: Tensor, other: Tensor) -> bool:
    size = float(torch.nan_to_num(image).abs().max())
    off = torch.nan_to_num(image - other).abs()
    return float(off.max()) <= SAME * size


def whole_frame(loaded: Loaded, width: int, height: int) -> Pixels | Frame:
    """All of a frame."""
    band = Band(0, height)
    return window(loaded.spec, width, height, band, loaded.device, loaded.dtype).where


def spread(
    width: int, height: int, device: torch.device, dtype: torch.dtype, count: int = PIXELS
) -> Pixels:
    """Pixels all over a frame, in no regular pattern that a texture could hide from.

    The additive sequence of the plastic number (Roberts 2018, "The unreasonable effectiveness of
    quasirandom sequences") fills a rectangle evenly.
    """
    index = torch.arange(1, count + 1, dtype=torch.float64)
    columns = ((index * 0.7548776662466927) % 1 * width).long()
    rows = ((index * 0.5698402909980532) % 1 * height).long()
    return at_pixels(rows, columns, width, height, device, dtype)
