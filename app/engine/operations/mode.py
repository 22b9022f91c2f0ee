"""The mode that puts forward formulas in the place of operations while a renderer runs."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from app.engine.operations.table import STAND_INS

# Operations whose forward formula takes a Python number for a float64 tensor, so that the tangent
# of a scalar parameter comes out in float64 and meets float32 further on.
PROMOTING = frozenset(
    {"mul", "add", "sub", "div", "multiply", "subtract", "divide", "true_divide", "__rdiv__"}
)


class ForwardFormulas(TorchFunctionMode):
    """While it is active, operations of torch that lack a forward formula have ours.

    It acts on the calling thread and on what is called through torch's Python functions, so not on
    code that was compiled or scripted before. Outside it nothing is changed.
    """

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Call ours where there is one, and torch's everywhere else."""
        del types
        call: Callable[..., Any] = STAND_INS.get(func, func)
        if call is func and getattr(func, "__name__", "") in PROMOTING:
            args = of_one_dtype(args)
        return call(*args, **(kwargs or {}))


def of_one_dtype(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """A Python number beside a scalar tensor as a tensor of its dtype; anything else as it is."""
    if len(args) != 2 or not any(isinstance(arg, float) for arg in args):
        return args
    beside = next((arg for arg in args if isinstance(arg, Tensor)), None)
    if beside is None or beside.dim() or not beside.is_floating_point():
        return args
    if beside.dtype is torch.float64:
        return args
    return tuple(
        torch.full((), arg, dtype=beside.dtype, device=beside.device)
        if isinstance(arg, float)
        else arg
        for arg in args
    )
