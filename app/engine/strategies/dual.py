"""Dual tensors: forward mode without the transform, for renderers that write into their state.

The transform refuses an in-place write into a tensor that it does not know, such as a buffer of a
layer that is set from the parameter; a dual tensor passes. It is no general replacement: foreign
code that reads storage loses a dual tensor's tangent without a word.
"""

import torch
from torch.autograd import forward_ad

from app.engine.errors import StrategyError
from app.engine.strategies._contract import Strategy
from app.engine.tile import Image, Tangents, Tile, Vectors


def differentiate(tile: Tile, directions: Vectors) -> tuple[Image, Tangents]:
    """The image and its tangents, one direction after another."""
    found = []
    with torch.no_grad():
        for direction in directions:
            with forward_ad.dual_level():
                # A copy, so that a setter that compares with the value it holds sees a new one.
                dual = forward_ad.make_dual(tile.value.clone(), direction)  # type: ignore[no-untyped-call]
                image, tangent = forward_ad.unpack_dual(tile(dual))  # type: ignore[no-untyped-call]
                if tangent is None:
                    raise StrategyError("The tangent is lost on the way to the image.")
                found.append((image.clone(), tangent.clone()))
    return found[0][0], torch.stack([tangent for _, tangent in found])


dual = Strategy(
    "dual", "forward mode on dual tensors, for in-place writes", differentiate, recordable=True
)
