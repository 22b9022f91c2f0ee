"""The renderer's own derivative: the door for renderers that are not written in torch."""

import torch

from app.engine.errors import StrategyError
from app.engine.strategies._contract import Strategy
from app.engine.tile import Image, Tangents, Tile, Vectors


def differentiate(tile: Tile, directions: Vectors) -> tuple[Image, Tangents]:
    """The image and its tangents by the renderer's `jvp`, one direction after another."""
    jvp = tile.loaded.jvp
    if jvp is None:
        raise StrategyError(f"Renderer {tile.loaded.spec.name!r} has no `jvp` of its own.")
    with torch.no_grad():
        found = [jvp(tile.where, dict(tile.params), tile.named(d)) for d in directions]
    shape = (*tile.shape, len(tile.loaded.spec.channels))
    for image, tangent in found:
        if tuple(image.shape) != shape or tuple(tangent.shape) != shape:
            raise StrategyError(
                f"`jvp` must return an image and a tangent of shape {list(shape)}; got "
                f"{list(image.shape)} and {list(tangent.shape)}."
            )
    return found[0][0], torch.stack([tangent for _, tangent in found])


native = Strategy("native", "the renderer's own derivative", differentiate)
