"""Forward mode: a tangent is pushed through the renderer beside the values."""

from functools import partial

import torch
from torch import Tensor
from torch.func import jvp, vmap

from app.engine.operations import ForwardFormulas
from app.engine.strategies._contract import Strategy
from app.engine.tile import Image, Tangents, Tile, Vectors


def push(tile: Tile, direction: Tensor) -> tuple[Image, Tensor]:
    """The image and its tangent along one direction, which may itself be differentiated.

    One direction goes without `vmap`, whose batching rules cover less of torch than the operations
    themselves.
    """
    with ForwardFormulas():
        image, tangent = jvp(tile, (tile.value,), (direction,))  # type: ignore[misc]
    return image, tangent


def differentiate(tile: Tile, directions: Vectors) -> tuple[Image, Tangents]:
    """The image and its tangents, in one pass for all directions.

    Exact to rounding. `no_grad` keeps weights that require a gradient from growing a graph; it does
    not stop forward mode.
    """
    with torch.no_grad():
        if len(directions) == 1:
            image, tangent = push(tile, directions[0])
            return image, tangent[None]
        image, tangents = vmap(
            partial(push, tile),
            out_dims=(None, 0),  # type: ignore[arg-type]
            randomness="same",
        )(directions)
        return image, tangents


forward = Strategy(
    "forward", "forward mode of torch, exact, one pass", differentiate, recordable=True
)
