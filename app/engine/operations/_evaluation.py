"""A formula handed to torch."""

from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad

from app.engine.operations._batched import Batched
from app.engine.operations._formula import Formula


def evaluate(formula: Formula, *inputs: Tensor) -> Tensor:
    """The operation's value, which carries tangents and reverse mode by the formula."""
    output: Tensor = _Evaluation.apply(formula, *inputs)  # type: ignore[no-untyped-call]
    return output


class _Evaluation(torch.autograd.Function):
    """The formula is the first argument, its inputs are the others.

    https://docs.pytorch.org/docs/stable/notes/extending.func.html
    """

    @staticmethod
    def forward(formula: Formula, *inputs: Tensor) -> Tensor:
        return formula.value(*inputs)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.formula, *tensors = inputs
        # What does not move comes as None, not as zeros that cost as much as a tangent.
        ctx.set_materialize_grads(False)
        ctx.save_for_forward(*tensors, output)
        ctx.save_for_backward(*tensors, output)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Tensor:
        # torch switches forward mode off in here, which makes the derivative of this derivative
        # zero without a word. Switched on, and with the tangents of this level taken off, an outer
        # level is followed through the formula or refused by an operation that cannot.
        with forward_ad._set_fwd_grad_enabled(True):
            *inputs, output = (_still(saved) for saved in ctx.saved_tensors)
            tangent: Tensor = ctx.formula.tangent(inputs, tangents[1:], output)
        return tangent

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        needed = ctx.needs_input_grad[1:]
        if cotangents[0] is None:
            return (None,) * (1 + len(needed))
        *inputs, output = ctx.saved_tensors
        return None, *ctx.formula.cotangents(inputs, cotangents[0], output, needed)

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], formula: Formula, *inputs: Tensor) -> Any:
        del info
        return evaluate(Batched(formula, in_dims[1:]), *inputs), 0


def _still(saved: Tensor) -> Tensor:
    """The value without its tangent."""
    unpacked = forward_ad.unpack_dual(saved)  # type: ignore[no-untyped-call]
    value: Tensor = unpacked.primal
    return value
