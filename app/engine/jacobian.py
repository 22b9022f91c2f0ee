"""Chosen parts of the Jacobian of any function of torch, by well-chosen vectors.

A column of `J` is `J e` with a unit vector `e`, and several columns that share no output are one
product with the sum of theirs: of a batch `(n, inputs) -> (n, outputs)` in which no sample answers
to another's input, ones in one column of inputs give that column of every sample's Jacobian at
once, where the whole has `(n outputs) x (n inputs)` entries, nearly all of them zero.
"""

from collections.abc import Callable, Sequence
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor
from torch.func import jvp, vmap

from app.engine.errors import RegionError
from app.engine.memory import out_of_memory
from app.engine.operations import ForwardFormulas

Function = Callable[[Tensor], Tensor]
Mode = Literal["forward", "reverse"]

# Vectors that are carried at once.
TOGETHER = 64


def jacobian_columns(
    function: Function, value: Tensor, directions: Float[Tensor, "n *inputs"]
) -> Float[Tensor, "n *outputs"]:
    """`J d` for each direction `d`: columns of the Jacobian, or sums of them, in forward mode.

    Args:
        function: from a tensor to a tensor.
        value: where the derivative is taken.
        directions: of the input's shape; a unit vector for a column.

    Raises:
        RegionError: directions of another shape or dtype, or none.
    """
    _check(directions, value, "directions")

    def push(direction: Tensor) -> Tensor:
        tangent: Tensor = jvp(function, (value,), (direction,))[1]
        return tangent

    with torch.no_grad(), ForwardFormulas():
        if len(directions) == 1:
            return push(directions[0])[None]
        try:
            return torch.cat([vmap(push)(few) for few in torch.split(directions, TOGETHER)])
        except Exception as error:
            if out_of_memory(error):
                raise
            # Something that `vmap` refuses: one after another.
            return torch.stack([push(direction) for direction in directions])


def jacobian_rows(
    function: Function, value: Tensor, cotangents: Float[Tensor, "n *outputs"]
) -> Float[Tensor, "n *inputs"]:
    """`u J` for each cotangent `u`: rows of the Jacobian, or sums of them, in reverse mode.

    Args:
        function: from a tensor to a tensor.
        value: where the derivative is taken.
        cotangents: of the output's shape; a unit vector for a row.

    Raises:
        RegionError: cotangents of another shape or dtype, none, or an output without derivative.
    """
    with torch.enable_grad():
        leaf = value.detach().clone().requires_grad_()
        output = function(leaf)
    _check(cotangents, output, "cotangents")
    if not output.requires_grad:
        raise RegionError(
            "The output does not connect to the input in reverse mode.",
            code="unconnected",
            field="function",
        )
    each = torch.split(cotangents, TOGETHER)
    try:
        return torch.cat([_pull(output, leaf, few, batched=True) for few in each])
    except Exception as error:
        if out_of_memory(error):
            raise
        return torch.stack([_pull(output, leaf, one, batched=False) for one in cotangents])


def jacobian_block(
    function: Function, value: Tensor, outputs: Sequence[int], inputs: Sequence[int]
) -> tuple[Float[Tensor, "outputs inputs"], Mode]:
    """Single entries of the Jacobian, by as few vectors as there are rows or columns of them.

    Args:
        function: from a tensor to a tensor.
        value: where the derivative is taken.
        outputs: positions in the output, in C order.
        inputs: positions in the input, in C order.

    Returns:
        The entries, and the mode in which they were got: `forward` where there are no more inputs
        than outputs.

    Raises:
        RegionError: positions that are not there, or none.
    """
    _positions(inputs, value.numel(), "inputs")
    if len(inputs) <= len(outputs):
        tangents = jacobian_columns(function, value, _units(value, inputs)).flatten(1)
        _positions(outputs, tangents.shape[1], "outputs")
        return tangents[:, list(outputs)].T, "forward"
    with torch.no_grad():
        output = function(value)
    _positions(outputs, output.numel(), "outputs")
    gradients = jacobian_rows(function, value, _units(output, outputs)).flatten(1)
    return gradients[:, list(inputs)], "reverse"


def _pull(output: Tensor, leaf: Tensor, cotangent: Tensor, *, batched: bool) -> Tensor:
    (found,) = torch.autograd.grad(
        output, leaf, cotangent, retain_graph=True, is_grads_batched=batched
    )
    return found


def _units(like: Tensor, positions: Sequence[int]) -> Float[Tensor, "n *shape"]:
    units = torch.zeros(len(positions), like.numel(), dtype=like.dtype, device=like.device)
    units[torch.arange(len(positions)), torch.tensor(list(positions))] = 1.0
    return units.reshape(len(positions), *like.shape)


def _check(vectors: Tensor, like: Tensor, field: str) -> None:
    if vectors.shape[1:] != like.shape or not len(vectors) or vectors.dtype != like.dtype:
        raise RegionError(
            f"There must be {field}, at least one, each of shape {list(like.shape)} and dtype "
            f"{like.dtype}; got {list(vectors.shape)} of {vectors.dtype}.",
            code="invalid_shape",
            field=field,
        )


def _positions(positions: Sequence[int], count: int, field: str) -> None:
    if not positions or not all(0 <= at < count for at in positions):
        raise RegionError(
            f"`{field}` must be positions from 0 to {count - 1}, at least one.",
            code="unknown_entry",
            field=field,
        )
