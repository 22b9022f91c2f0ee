"""Central differences: the last resort, for renderers through which no derivative can be carried.

In float64 where the renderer can be loaded so, with equal seeds on both sides.
"""

from collections.abc import Sequence
from dataclasses import replace

import torch

from app.engine.differences import FIRST, SHRINK, central, scale_of
from app.engine.directions import Directions
from app.engine.strategies._contract import Strategy
from app.engine.tile import Image, Tangents, Tile, Vectors

# Where no step was chosen by an estimate: near the cube root of the machine's precision.
BLIND = FIRST / SHRINK**5


def differentiate(tile: Tile, directions: Vectors) -> tuple[Image, Tangents]:
    """The image and its tangents, at steps that only know the parameter's scale."""
    steps = [BLIND * scale_of(tile, direction) for direction in directions]
    return with_steps(tile, directions, steps)


def with_steps(
    tile: Tile, directions: Vectors, steps: Sequence[float], *, exact: bool = True
) -> tuple[Image, Tangents]:
    """The image and its tangents, at a step for each direction, in float64 where it is allowed."""
    asked = tile.precise() if exact else tile
    with torch.no_grad():
        image = tile(tile.value)
        tangents = [
            central(asked, direction.to(asked.value.dtype), step)
            for direction, step in zip(directions, steps, strict=True)
        ]
    return image, torch.stack(tangents).to(image.dtype)


def stepped(steps: Sequence[float], directions: Directions, *, exact: bool) -> Strategy:
    """The strategy with the steps, over the scale, that an estimate chose for known directions."""
    known = dict(zip(directions.entries.tolist(), steps, strict=True))

    def differentiate_known(tile: Tile, asked: Vectors) -> tuple[Image, Tangents]:
        # Each direction is known by the entry that it moves most.
        entries = asked.abs().argmax(dim=1).tolist()
        chosen = [
            known[entry] * scale_of(tile, direction)
            for entry, direction in zip(entries, asked, strict=True)
        ]
        return with_steps(tile, asked, chosen, exact=exact)

    return replace(finite_difference, differentiate=differentiate_known)


finite_difference = Strategy(
    "finite_difference", "central differences, the last resort", differentiate
)
