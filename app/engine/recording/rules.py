"""What operations make of tensors that are mostly zeros, without computing it."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import torch

from app.engine.recording.graph import Output, Reference, Step
from app.engine.recording.parts import Parts, Shape

if TYPE_CHECKING:
    from app.engine.recording.sparse import Sparing

aten = torch.ops.aten
Made = tuple[Parts | Reference, ...]
"""What a step answers with, where that is held back or is there already."""
# Of zeros, these make zeros.
LINEAR = frozenset(
    {
        aten.view.default, aten._unsafe_view.default, aten.expand.default, aten.squeeze.dim,
        aten.unsqueeze.default, aten.permute.default, aten.select.int, aten.neg.default,
        aten.mul.Tensor, aten.mul.Scalar, aten.sum.dim_IntList, aten.sum.default, aten.t.default,
        aten.tanh_backward.default, aten.sigmoid_backward.default, aten.alias.default,
        aten.select_backward.default, aten.slice_backward.default, aten.div.Tensor,
        aten.slice.Tensor, aten.clone.default, aten.div.Scalar,
    }
)  # fmt: skip


def _select_backward(pass_: "Sparing", step: Step) -> Made | None:
    gradient, shape, axis, index = step.args
    held = pass_.held.get(gradient)
    if held is not None and not held.parts:
        return None
    axis %= len(shape)
    if held is not None and shape[axis] == 1:
        return (_inserted(pass_, held, axis, shape),)
    if type(index) is not int or type(shape[axis]) is not int:
        return None
    part = pass_.new(aten.unsqueeze.default, pass_.whole(gradient), 0)
    index %= shape[axis]
    return (Parts(shape, part, axis, {index: (index + 1, part)}),)


def _slice_backward(pass_: "Sparing", step: Step) -> Made | None:
    gradient, shape, axis, start, stop, every = step.args
    axis %= len(shape)
    plain = all(type(number) is int for number in (shape[axis], start, stop))
    if not plain or every != 1 or not 0 <= start < stop <= shape[axis] or pass_.zero(gradient):
        return None
    order = (axis, *range(axis), *range(axis + 1, len(shape)))
    part = pass_.permuted(pass_.whole(gradient), order)
    return (Parts(shape, part, axis, {start: (stop, part)}),)


def _inserted(pass_: "Sparing", held: Parts, axis: int, shape: Shape) -> Parts:
    """Parts with another axis of length one."""
    own = held.axis + (axis <= held.axis)
    place = 1 + axis - (axis > own)
    parts = {
        start: (stop, pass_.new(aten.unsqueeze.default, part, place))
        for start, (stop, part) in held.parts.items()
    }
    return Parts(shape, held.like, own, parts)


def _select(pass_: "Sparing", step: Step) -> Made | None:
    source, axis, index = step.args
    held = pass_.held.get(source)
    if held is None or not held.parts or type(index) is not int or step.shape is None:
        return None
    return (_taken(pass_, held, axis % len(held.shape), index, step.shape),)


def _unbind(pass_: "Sparing", step: Step) -> Made | None:
    held = pass_.held.get(step.args[0])
    if held is None or step.shape is None or step.parts is None:
        return None
    axis = (step.args[1] if len(step.args) > 1 else 0) % len(held.shape)
    return tuple(_taken(pass_, held, axis, index, step.shape) for index in range(step.parts))


def _taken(pass_: "Sparing", held: Parts, axis: int, index: int, shape: Shape) -> Parts | Reference:
    """What stands at an index along an axis."""
    if not held.parts:
        return Parts(shape, held.like)
    if axis != held.axis:
        place = 1 + axis - (axis > held.axis)
        parts = {
            start: (stop, pass_.new(aten.select.int, part, place, index))
            for start, (stop, part) in held.parts.items()
        }
        return Parts(shape, held.like, held.axis - (axis < held.axis), parts)
    index %= held.shape[axis]
    for start, (stop, part) in held.parts.items():
        if start <= index < stop:
            return pass_.new(aten.select.int, part, 0, index - start)
    return Parts(shape, held.like)


def _add(pass_: "Sparing", step: Step) -> Made | None:
    first, second = step.args[:2]
    if step.kwargs or len(step.args) > 2:
        return None
    held = [pass_.held.get(each) if isinstance(each, Output) else None for each in (first, second)]
    if held[0] is not None and held[1] is not None:
        joined = held[0].joined(held[1])
        return None if joined is None else (joined,)
    for zero, other in ((held[0], second), (held[1], first)):
        if zero is not None and not zero.parts and isinstance(other, Reference):
            # Autograd adds up gradients of one shape; anything else may broadcast.
            same = isinstance(other, Output) and pass_.graph.steps[other.step].shape == step.shape
            return (pass_.whole(other),) if same else None
    return None


def _permute(pass_: "Sparing", step: Step) -> Made | None:
    source, order = step.args
    held = pass_.held.get(source)
    if held is None or not held.parts or step.shape is None:
        return None
    order = tuple(axis % len(order) for axis in order)
    rest = [axis for axis in range(len(order)) if axis != held.axis]
    inner = (0, *(1 + rest.index(axis) for axis in order if axis != held.axis))
    parts = {
        start: (stop, pass_.permuted(part, inner)) for start, (stop, part) in held.parts.items()
    }
    return (Parts(step.shape, held.like, order.index(held.axis), parts),)


Rule = Callable[["Sparing", Step], Made | None]
RULES: Mapping[Any, Rule] = MappingProxyType(
    {
        aten.select_backward.default: _select_backward,
        aten.slice_backward.default: _slice_backward,
        aten.select.int: _select,
        aten.unbind.int: _unbind,
        aten.add.Tensor: _add,
        aten.permute.default: _permute,
    }
)
