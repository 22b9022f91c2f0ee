"""Forward mode: a tangent is pushed through the renderer beside the values."""

import torch
from torch import Tensor
from torch.func import jvp, vmap

from app.engine.operations import ForwardFormulas
from app.engine.strategies._contract import Strategy
from app.engine.tile import Directions, Image, Tangents, Tile


def differentiate(tile: Tile, directions: Directions) -> tuple[Image, Tangents]:
    """The image and its tangents, in one pass for all directions.

    Exact to rounding. One direction goes without `vmap`, whose batching rules cover less of torch
    than the operations themselves. `no_grad` keeps weights that require a gradient from growing a
    graph; it does not stop forward mode.
    """

    def push(direction: Tensor) -> tuple[Tensor, Tensor]:
        image, tangent = jvp(tile, (tile.value,), (direction,))  # type: ignore[misc]
        return image, tangent

    with torch.no_grad(), ForwardFormulas():
        if len(directions) == 1:
            image, tangent = push(directions[0])
            return image, tangent[None]
        image, tangents = vmap(
            push,
            out_dims=(None, 0),  # type: ignore[arg-type]
            randomness="same",
        )(directions)
        return image, tangents


forward = Strategy(
    "forward", "forward mode of torch, exact, one pass", differentiate, recordable=True
)
