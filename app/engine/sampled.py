"""A part of a map that is compared with differences, and what part of it can be had for little."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from app.engine.chosen import SMALL, Floats, chosen, spanned, steep, telling_rows
from app.engine.comparison import Comparison, Question, compared, joined_comparisons
from app.engine.differences import FIRST, inwards, mixed, scale_of
from app.engine.frame import Band, at_pixels, window
from app.engine.jumps import NOTABLE, NUDGES, moving_jumps
from app.engine.loop import Arrays
from app.engine.memory import out_of_memory
from app.engine.prepared import Prepared
from app.engine.strategies.finite_difference import finite_difference
from app.engine.tile import Tile
from app.engine.trial import try_out
from app.engine.verdict import Verdict
from renderers import Frame, Pixels

# Rows of a frame renderer's map that are compared, and how many rows of its frame are to stand
# behind each that is asked for twice with its halo, in double precision.
MOST_ROWS = 5
DEAR = 20
# For what depends on the parameters alone.
NOWHERE = Pixels(torch.zeros(0), torch.zeros(0), 1, 1)


@dataclass(frozen=True, slots=True, eq=False)
class Sampled:
    """What was compared, and where it stands in the frame of the map.

    Attributes:
        comparison: the pixels beside differences.
        jumps: where hard edges lie that move.
        rows: the row of each pixel; None where it was another frame.
        columns: the column of each.
    """

    comparison: Comparison
    jumps: Bool[Tensor, " pixels"]
    rows: Int[Tensor, " pixels"] | None = None
    columns: Int[Tensor, " pixels"] | None = None


def on_pixels(tiles: Prepared, out: Arrays, verdict: Verdict) -> Sampled:
    """The map's own values at chosen pixels, and whether hard edges move beside them."""
    task, loaded = tiles.task, tiles.loaded
    weights = mixed(_tile(tiles, NOWHERE), tiles.directions)
    rows, columns = chosen(out, weights[0].numpy())
    pixels = (rows * task.stride, columns * task.stride)
    where = at_pixels(*pixels, task.width, task.height, loaded.device, loaded.dtype)
    tile = _tile(tiles, where)
    asked = _question(tiles, out, verdict, tile, weights, (rows, columns))
    return Sampled(_strictly(asked), _jumps(asked, out, rows, columns), rows, columns)


def on_rows(tiles: Prepared, out: Arrays, verdict: Verdict) -> Sampled:
    """The map's own values in a few rows, each asked for with its halo."""
    height, width = out.image.shape[:2]
    halo = tiles.loaded.spec.halo or 0
    dear = DEAR * (2 * halo + 1)
    count = MOST_ROWS if height * width <= SMALL else max(1, min(MOST_ROWS, height // dear))
    weights = mixed(_tile(tiles, NOWHERE), tiles.directions)
    found = [_on_row(tiles, out, verdict, weights, row) for row in telling_rows(out, count)]
    return joined(found)


def _on_row(
    tiles: Prepared, out: Arrays, verdict: Verdict, weights: tuple[Tensor, Tensor], row: int
) -> Sampled:
    task, loaded = tiles.task, tiles.loaded
    band = Band(row, row + 1)
    asked = window(loaded.spec, task.width, task.height, band, loaded.device, loaded.dtype)
    tile = _tile(tiles, asked.where, asked.keep)
    columns = torch.arange(task.width)
    rows = torch.full_like(columns, row)
    found = _strictly(_question(tiles, out, verdict, tile, weights, (rows, columns)))
    return Sampled(found, torch.zeros(task.width, dtype=torch.bool), rows, columns)


def joined(parts: Sequence[Sampled]) -> Sampled:
    """Several parts of a map as one."""
    found = [part.comparison for part in parts]
    return Sampled(
        joined_comparisons(found),
        torch.cat([part.jumps for part in parts]),
        torch.cat([part.rows for part in parts if part.rows is not None]),
        torch.cat([part.columns for part in parts if part.columns is not None]),
    )


def on_a_trial(tiles: Prepared, verdict: Verdict) -> Sampled | None:
    """The strategy against differences on a small frame, at the task's own values."""
    strategy = tiles.strategy
    if strategy is None or strategy.name == finite_difference.name:
        return None
    try:
        trial = try_out(tiles.loaded, tiles.task)
        _, tangents = strategy.differentiate(trial.tile, trial.mixed[None])
        direction = trial.mixed.to(trial.exact.value.dtype)
        with torch.no_grad():
            image = trial.tile(trial.tile.value)
        found = compared(
            Question(
                trial.tile,
                trial.exact,
                strategy,
                direction,
                tangents[0],
                image,
                verdict.step * scale_of(trial.exact, direction),
            )
        )
    except Exception as error:
        if not out_of_memory(error):
            raise
        return None
    return Sampled(found, torch.zeros(0, dtype=torch.bool))


def _tile(tiles: Prepared, where: Pixels | Frame, keep: slice | None = None) -> Tile:
    task = tiles.task
    return Tile(tiles.loaded, where, tiles.params, task.moving, task.seed, keep)


def _question(
    tiles: Prepared,
    out: Arrays,
    verdict: Verdict,
    tile: Tile,
    mixture: tuple[Tensor, Tensor],
    pixels: tuple[Tensor, Tensor],
) -> Question:
    """The map at some pixels along a direction in which every entry takes part."""
    assert tiles.strategy is not None  # noqa: S101
    exact = tile.precise() if verdict.exact else tile
    dtype, device = exact.value.dtype, tiles.loaded.device
    weights, direction = (each.to(device, dtype) for each in mixture)
    maps = [_at(array.reshape(*out.image.shape, -1), *pixels) for array in out.maps]
    values = torch.cat(maps, dim=-1).to(device, dtype)
    return Question(
        tile=tile,
        exact=exact,
        strategy=tiles.strategy,
        direction=direction,
        tangent=(values @ weights).reshape(*tile.shape, -1),
        image=_at(out.image, *pixels).to(device).reshape(*tile.shape, -1),
        step=verdict.step * scale_of(exact, direction),
    )


def _strictly(asked: Question) -> Comparison:
    """In float64 no pixel is wrong by chance."""
    return replace(compared(asked), strict=asked.exact.loaded.dtype is torch.float64)


def _at(array: Floats, rows: Tensor, columns: Tensor) -> Float[Tensor, "pixels ..."]:
    return torch.from_numpy(array[rows.numpy(), columns.numpy()])


@torch.no_grad()
def _jumps(asked: Question, out: Arrays, rows: Tensor, columns: Tensor) -> Bool[Tensor, " pixels"]:
    """At which pixels hard edges move: only where the image is steep can one be."""
    span = spanned(out.image)
    found = steep(out.image, rows, columns, NOTABLE * span / 2)
    if not bool(found.any()):
        return found
    exact, direction = asked.exact, asked.direction
    # As far as the parameter may be moved, and for an entry at its bound to the side that it may.
    step = min(asked.step, FIRST * scale_of(exact, direction) / NUDGES)
    parts = inwards(exact, direction, NUDGES * step)
    allowed: Tensor = sum(
        (part * (side or 1) for part, side in parts), start=torch.zeros_like(direction)
    )
    part = exact.part(found.nonzero()[:, 0].to(exact.value.device))
    found[found.clone()] = moving_jumps(part, allowed, step, span=span).cpu()
    return found
