"""The transpose of reverse mode, for operations that have a backward formula and no forward one.

The vector-Jacobian product `g(u) = u^T J` is linear in `u`, so differentiating it against `u` along
a direction `t` gives `J t` (Townsend 2017, "A new trick for calculating Jacobian vector products").
"""

import torch
from torch import Tensor

from app.engine.errors import StrategyError
from app.engine.strategies._contract import Strategy
from app.engine.tile import Image, Tangents, Tile, Vectors


def differentiate(tile: Tile, directions: Vectors) -> tuple[Image, Tangents]:
    """The image and its tangents; strict, so that what does not connect raises and is not zero."""
    with torch.enable_grad():
        value = tile.value.detach().clone().requires_grad_()
        image = tile(value)
        if not image.requires_grad:
            raise StrategyError("The image does not connect to the parameter in reverse mode.")
        cotangent = torch.zeros_like(image, requires_grad=True)
        (transposed,) = torch.autograd.grad(image, value, cotangent, create_graph=True)
        if not transposed.requires_grad:
            raise StrategyError("The backward formula cannot be differentiated.")
        tangents = [_push(transposed, cotangent, direction) for direction in directions]
    return image.detach(), torch.stack(tangents)


def _push(transposed: Tensor, cotangent: Tensor, direction: Tensor) -> Tensor:
    (tangent,) = torch.autograd.grad(
        transposed, cotangent, direction.to(transposed.dtype), retain_graph=True
    )
    return tangent.detach()


double_vjp = Strategy(
    "double_vjp",
    "reverse mode twice, where only a backward formula exists",
    differentiate,
    recordable=True,
)
