"""The derivative of the image averaged over pixels: what is smooth in them, and what edges add."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from app.engine.edges.boundary import CHUNK, Boundary, boundary
from app.engine.edges.interior import averaged
from app.engine.edges.settings import Settings
from app.engine.tile import Image, Tangents, Tile, Vectors
from renderers import Pixels

Differentiate = Callable[[Tile, Vectors], tuple[Image, Tangents]]


@dataclass(frozen=True, slots=True, eq=False)
class Average:
    """A tile's derivative of the image averaged over pixels.

    Attributes:
        image: the image at the centres of the pixels.
        tangents: the derivative along each direction. Where no edge moves through a pixel, that of
            the pixel's centre.
        standard_error: of the tangents, 0 where no edge moves.
        edges: what moving edges contribute, and what was met on the way.
    """

    image: Float[Tensor, "rows width channels"]
    tangents: Float[Tensor, "n rows width channels"]
    standard_error: Float[Tensor, "n rows width channels"]
    edges: Boundary


def average(
    tile: Tile,
    directions: Vectors,
    differentiate: Differentiate,
    settings: Settings | None = None,
) -> Average:
    """The derivative of the image averaged over pixels.

    Args:
        tile: a pixel renderer at a grid of pixels.
        directions: directions in parameter space.
        differentiate: an automatic derivative, for what is smooth.
        settings: how closely edges are looked at.

    Raises:
        PositionsError: the renderer cannot be asked at positions of our choice.
    """
    image, tangents = differentiate(tile, directions)
    edges = boundary(tile, image, directions, settings)
    where, moves = tile.where, (edges.values != 0).any(-1)
    assert isinstance(where, Pixels)  # noqa: S101 - anything else was refused

    def at(positions: Pixels) -> Tensor:
        return differentiate(replace(tile, where=positions), directions)[1]

    inside, error = averaged(where, tangents, moves, at, max(where.x.numel(), CHUNK))
    # The error of the crossings, and of what is smooth beside them.
    error = torch.hypot(error, edges.standard_error)
    return Average(
        image, torch.where(moves[..., None], inside + edges.values, tangents), error, edges
    )
