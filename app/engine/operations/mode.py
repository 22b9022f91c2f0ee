"""The mode that puts forward formulas in the place of operations while a renderer runs."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.overrides import TorchFunctionMode

from app.engine.operations.table import STAND_INS

aten = torch.ops.aten
# A Python number beside a tensor reaches torch's forward formulas as a float64 tensor of its own.
# That makes the tangent of a float32 scalar come out in float64, and has torch work out the shape
# of a tangent of zeros in Python, which takes longer than the operation. These take it as a number.
WITH_NUMBER: Mapping[str, Callable[[Tensor, float], Tensor]] = MappingProxyType(
    {
        "mul": aten.mul.Scalar,
        "multiply": aten.mul.Scalar,
        "add": aten.add.Scalar,
        "sub": aten.sub.Scalar,
        "subtract": aten.sub.Scalar,
        "div": aten.div.Scalar,
        "divide": aten.div.Scalar,
        "true_divide": aten.div.Scalar,
        "__rdiv__": lambda tensor, number: aten.mul.Scalar(tensor.reciprocal(), number),
    }
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
        if func in STAND_INS:
            return STAND_INS[func](*args, **(kwargs or {}))
        if len(args) == 2 and not kwargs and getattr(func, "__name__", "") in WITH_NUMBER:
            ours = with_number(func.__name__, *args)
            if ours is None:
                ours = beside_constant(func.__name__, *args)
            if ours is not None:
                return ours
        return func(*args, **(kwargs or {}))


def with_number(name: str, first: Any, second: Any) -> Tensor | None:
    """Arithmetic of a real tensor and a Python number; None where it is something else."""
    if isinstance(first, Tensor) and type(second) in (float, int):
        tensor, number = first, second
    elif isinstance(second, Tensor) and type(first) in (float, int) and name in ("mul", "add"):
        tensor, number = second, first
    else:
        return None
    return WITH_NUMBER[name](tensor, number) if tensor.is_floating_point() else None


def beside_constant(name: str, first: Any, second: Any) -> Tensor | None:
    """Arithmetic of two real tensors of which one has a tangent; None where it is something else.

    torch gives the other a tangent of zeros, and works out what becomes of them in Python; here
    the tangent goes through the operation by itself, with the same result.
    """
    if not (isinstance(first, Tensor) and isinstance(second, Tensor)):
        return None
    if first.dtype != second.dtype or not first.is_floating_point():
        return None
    primal, tangent = forward_ad.unpack_dual(first)  # type: ignore[no-untyped-call]
    other, others = forward_ad.unpack_dual(second)  # type: ignore[no-untyped-call]
    if (tangent is None) == (others is None):
        return None
    if name in ("mul", "multiply"):
        moved = tangent * other if others is None else primal * others
        return _dual(primal * other, moved)
    if name in ("div", "divide", "true_divide") and others is None:
        return _dual(primal / other, tangent / other)
    if name in ("add", "sub", "subtract"):
        value = primal + other if name == "add" else primal - other
        if others is None:
            return _dual(value, tangent.expand(value.shape))
        return _dual(value, (others if name == "add" else -others).expand(value.shape))
    return None


def _dual(value: Tensor, tangent: Tensor) -> Tensor:
    dual: Tensor = forward_ad.make_dual(value, tangent)  # type: ignore[no-untyped-call]
    return dual
