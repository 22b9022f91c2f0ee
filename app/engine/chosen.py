"""Which pixels of a finished map are worth a comparison.

To read scattered pixels of a large frame costs more than to compute some of them anew: each is a
miss of the cache. So runs of neighbours are read, one in every cell of a grid over the frame, and
in each run the pixel that shows most.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Int
from numpy.typing import NDArray
from torch import Tensor

from app.engine.loop import Arrays

# Pixels that are chosen at random, and as many with large derivatives; and those where something
# changes most, each of which brings two neighbours.
CHOSEN = 48
CHANGING = 24
# Neighbours in a row that are read together, and how many such runs are of a large frame.
RUN = 32
RUNS = 256
# The size of a frame of which every pixel is read.
SMALL = 16384

Floats = NDArray[np.floating]
"""An image or a map `(height, width, ...)`, or what stands on runs `(runs, length, values)`."""


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """Runs of neighbouring pixels in rows of a frame.

    Attributes:
        rows: the row of each.
        columns: the column of the first pixel of each.
        length: how many pixels each has.
    """

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    length: int

    def read(self, array: Floats, below: int = 0) -> Floats:
        """What stands on the runs, or on the pixels below; zero for what is no number."""
        height, width = array.shape[:2]
        depth = array[0, 0].size
        starts = (np.minimum(self.rows + below, height - 1) * width + self.columns) * depth
        # torch copies whole windows where NumPy's indexing goes number by number.
        windows = torch.from_numpy(array).view(-1).unfold(0, self.length * depth, 1)
        part: Floats = windows.index_select(0, torch.from_numpy(starts)).numpy()
        if not np.isfinite(part.sum()):
            np.nan_to_num(part, copy=False, nan=0.0, posinf=0.0, neginf=0.0)
        return part.reshape(len(starts), self.length, depth)


def chosen(out: Arrays, weights: Floats) -> tuple[Int[Tensor, " pixels"], Int[Tensor, " pixels"]]:
    """Rows and columns of pixels worth a look, each once.

    Some at random, those with the largest derivatives, and those where the image or the map changes
    most from a pixel to the next, as it does around a part that is detached.

    Args:
        out: the image and the maps.
        weights: for each direction of the maps, what makes it comparable with the others, `(n,)`.
    """
    height, width = out.image.shape[:2]
    drawn = np.random.default_rng(0)
    runs = spread(height, width, drawn)
    image, values = runs.read(out.image), _side_by_side(runs, out, weights)
    changing = (
        largest(change(values, _side_by_side(runs, out, weights, below=1)), runs, width, CHANGING),
        largest(change(image, runs.read(out.image, below=1)), runs, width, CHANGING),
    )
    picked = (
        anywhere(height * width, drawn),
        largest(np.abs(values), runs, width, CHOSEN),
        *(beside(pixels, height, width) for pixels in changing),
    )
    rows, columns = np.divmod(distinct(np.concatenate(picked)), width)
    return torch.from_numpy(rows), torch.from_numpy(columns)


def _side_by_side(runs: Runs, out: Arrays, weights: Floats, below: int = 0) -> Floats:
    """What stands on the runs in all maps; those of several parameters are made comparable."""
    if len(out.maps) == 1:
        return runs.read(out.maps[0], below)
    read, start = [], 0
    for array in out.maps:
        count = array[0, 0, 0].size
        by = np.tile(weights[start : start + count], array.shape[2]).astype(array.dtype)
        read.append(runs.read(array, below) * by)
        start += count
    return np.concatenate(read, axis=2)


def anywhere(count: int, drawn: np.random.Generator) -> NDArray[np.int64]:
    """Pixels at random; of a small frame, distinct ones."""
    return (
        drawn.permutation(count)[:CHOSEN] if count <= SMALL else drawn.integers(count, size=CHOSEN)
    )


def spread(height: int, width: int, drawn: np.random.Generator) -> Runs:
    """Every pixel of a small frame; of a large one, a run in each cell of a grid over it."""
    length = min(width, RUN)
    across = -(-width // length)
    if height * width <= SMALL:
        # The last run of a row overlaps the one before it where the width is no multiple.
        starts = np.minimum(np.arange(across) * length, width - length)
        return Runs(np.repeat(np.arange(height), across), np.tile(starts, height), length)
    down = min(height, max(1, round((RUNS * height / width) ** 0.5)))
    along = min(across, max(1, RUNS // down))
    row, column = np.divmod(np.arange(down * along), along)
    jitter = drawn.random((2, down * along))
    rows = (row + jitter[0]) * (height / down)
    columns = (column + jitter[1]) * ((width - length + 1) / along)
    return Runs(rows.astype(np.int64), columns.astype(np.int64), length)


def change(here: Floats, below: Floats) -> Floats:
    """How much values change from pixels to those on their right, within the runs, and below."""
    most = np.abs(below - here)
    right = np.abs(here[:, 1:] - here[:, :-1])
    np.maximum(most[:, :-1], right, out=most[:, :-1])
    return most


def largest(shown: Floats, runs: Runs, width: int, count: int) -> NDArray[np.int64]:
    """The pixels with the largest values, no more than one a run, counted along the rows."""
    flat = shown.reshape(len(shown), -1)
    best = flat.argmax(axis=1)
    sizes = flat[np.arange(len(flat)), best]
    pixels: NDArray[np.int64] = runs.rows * width + runs.columns + best // shown.shape[2]
    return pixels[np.argpartition(sizes, -count)[-count:]] if len(pixels) > count else pixels


def beside(pixels: NDArray[np.int64], height: int, width: int) -> NDArray[np.int64]:
    """Pixels with those on their right and below: either may be the one that is wrong."""
    right = pixels + (pixels % width < width - 1)
    below = np.where(pixels // width < height - 1, pixels + width, pixels)
    return np.concatenate([pixels, right, below])


def distinct(pixels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Each pixel once, in order; `np.unique` hashes them, which takes longer than all else."""
    ordered = np.sort(pixels)
    kept: NDArray[np.int64] = ordered[np.append(True, ordered[1:] != ordered[:-1])]
    return kept


def telling_rows(out: Arrays, count: int) -> list[int]:
    """Rows worth a look, of some of a large frame's: with the largest derivative and changes."""
    every = max(1, len(out.image) // RUNS)
    image, *maps = (array[::every] for array in (out.image, *out.maps))
    rows = [_row_of_largest(values) for values in maps]
    if len(image) > 1:
        below = [_row_of_largest(np.diff(values, axis=0)) for values in maps]
        rows += [row + after for row in below for after in (0, 1)]
    if image.shape[1] > 1:
        rows += [_row_of_largest(np.diff(each, axis=1)) for each in (*maps, image)]
    # Of several maps, rows in which several of them show are worth most.
    common = sorted(set(rows), key=lambda row: (-rows.count(row), rows.index(row)))
    return sorted({row * every for row in common[:count]})


def _row_of_largest(measure: Floats) -> int:
    sizes = np.nan_to_num(np.abs(measure), nan=0.0, posinf=0.0).reshape(len(measure), -1)
    return int(sizes.max(axis=1).argmax())


def steep(image: Floats, rows: Tensor, columns: Tensor, least: float) -> Bool[Tensor, " pixels"]:
    """Which of some pixels differ by more than `least` from those on their right or below."""
    height, width = image.shape[:2]
    row, column = rows.numpy(), columns.numpy()
    right = image[row, np.minimum(column + 1, width - 1)]
    below = image[np.minimum(row + 1, height - 1), column]
    with np.errstate(invalid="ignore"):
        beside = np.abs(np.stack([right, below]) - image[row, column])
    return torch.from_numpy((beside > least).any((0, 2)))


def spanned(image: Floats) -> float:
    """The range of an image's finite values, from some of its rows."""
    part = image[:: max(1, len(image) // 32)]
    low, high = part.min(), part.max()
    if np.isfinite(high - low):
        return float(high - low)
    known = part[np.isfinite(part)]
    return float(known.max() - known.min()) if known.size else 0.0
