"""Products of a function's Jacobian with many vectors, by forward and by reverse mode."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.func import jvp, vmap

from app.engine.errors import StrategyError
from app.engine.memory import out_of_memory
from app.engine.operations import ForwardFormulas

Function = Callable[[Tensor], Tensor]
"""From a parameter to an image of as many entries."""
Products = Callable[[Tensor], Tensor]
"""From vectors `(k, n)` to the product of a matrix `(n, n)` with each, `(k, n)`."""


def pushing(function: Function, point: Tensor) -> Products:
    """The products `J v`, all vectors in one pass where `vmap` can, else one after another."""
    together = True

    def flat(value: Tensor) -> Tensor:
        return function(value).reshape(-1)

    def push(vector: Tensor) -> Tensor:
        tangent: Tensor = jvp(flat, (point,), (vector.reshape(point.shape),))[1]
        return tangent

    def products(vectors: Tensor) -> Tensor:
        nonlocal together
        # `no_grad` keeps weights from growing a graph; it does not stop forward mode.
        with torch.no_grad(), ForwardFormulas():
            if together and len(vectors) > 1:
                try:
                    return vmap(push, randomness="same")(vectors)
                except Exception as error:  # what `vmap` has no rule for is done without
                    if out_of_memory(error):
                        raise
                    together = False
            return torch.stack([push(vector) for vector in vectors])

    return products


def pulling(function: Function, point: Tensor) -> Products:
    """The products `J^T v`, one after another over one evaluation of the function."""

    def products(vectors: Tensor) -> Tensor:
        with torch.enable_grad():
            value = point.detach().clone().requires_grad_()
            image = function(value).reshape(-1)
            if not image.requires_grad:
                raise StrategyError("The image does not connect to the parameter in reverse mode.")
            pulled = [
                torch.autograd.grad(image, value, vector.to(image.dtype), retain_graph=True)[0]
                for vector in vectors
            ]
        return torch.stack([each.detach().reshape(-1) for each in pulled])

    return products
