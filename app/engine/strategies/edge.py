"""Forward mode, and what moving hard edges contribute to the average of a pixel."""

import torch

from app.engine.edges import boundary
from app.engine.strategies._contract import Strategy
from app.engine.strategies.forward import forward
from app.engine.tile import Directions, Image, Tangents, Tile


def differentiate(tile: Tile, directions: Directions) -> tuple[Image, Tangents]:
    """The image at the centres of the pixels, and the tangents of the image averaged over pixels.

    The average's derivative is that of the interior, taken at the centre, plus what edges add that
    move through the pixel. A pixel without a moving edge has the tangent of `forward`, to the bit.

    Raises:
        PositionsError: the renderer cannot be asked at positions of our choice.
    """
    image, tangents = forward.differentiate(tile, directions)
    edges = boundary(tile, image, directions).values
    return image, torch.where(edges == 0, tangents, tangents + edges)


edge = Strategy(
    "edge", "forward mode, and what moving hard edges add to a pixel's average", differentiate
)
