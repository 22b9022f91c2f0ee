"""Gradients that are mostly zeros, kept apart from them.

The backward of taking a part of a tensor is a tensor of zeros around the part's gradient, and what
several parts give is added up: of a vector whose entries are taken one by one, that is the square
of its length; and the gradient of one channel of an image is carried, as zeros, through all others.
Here parts are laid side by side, and what is zero is not carried. The numbers are the same, but
where zero times infinity has spoilt one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import torch

from app.engine.recording.factor import Shared, View, common_factor
from app.engine.recording.graph import Argument, Graph, Output, Reference, Step, references, rename

aten = torch.ops.aten
Shape = tuple[Argument, ...]
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


@dataclass(frozen=True, slots=True)
class Parts:
    """A tensor that is zero but for parts along one axis; all zero where there are none.

    Attributes:
        shape: of the tensor.
        like: some tensor of its dtype and device.
        axis: along which the parts lie.
        parts: by where they start, where they stop and what stands there, with that axis first.
    """

    shape: Shape
    like: Reference
    axis: int = 0
    parts: Mapping[int, tuple[int, Reference]] = field(default_factory=dict)

    def joined(self, other: "Parts") -> "Parts | None":
        """The sum, where no part of one overlaps a part of the other."""
        if self.shape != other.shape or (self.parts and other.parts and self.axis != other.axis):
            return None
        ends = sorted((a, b) for held in (self, other) for a, (b, _) in held.parts.items())
        if any(stop > after for (_, stop), (after, _) in pairwise(ends)):
            return None
        axis = self.axis if self.parts else other.axis
        return Parts(self.shape, self.like, axis, {**self.parts, **other.parts})


def without_zeros(graph: Graph) -> Graph:
    """The same computation without carrying zeros."""
    return _Sparing(graph).result()


class _Sparing:
    """Goes through the steps once, and holds back what is mostly zeros until it is needed whole."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.steps: list[Step] = []
        self.names: dict[Reference, Reference] = {}
        self.held: dict[Output, Parts] = {}

    def result(self) -> Graph:
        """The graph; what nobody waits for is still in it."""
        written = self.graph.written
        for number, step in enumerate(self.graph.steps):
            known = None if step.memory & written else self._known(step)
            for output, found in zip(_outputs(number, step), known or (), strict=False):
                if isinstance(found, Parts):
                    self.held[output] = found
                else:
                    self.names[output] = found
            if known is None:
                self._keep(number, step)
        self._write_out(tuple(references(self.graph.results)))
        results = rename(self.graph.results, self.names)
        return replace(self.graph, steps=tuple(self.steps), results=results, known={})

    def _known(self, step: Step) -> "tuple[Parts | Reference, ...] | None":
        """What a step makes, where that is held back or is there already; None where it is not."""
        rule = RULES.get(step.op)
        found = rule(self, step) if rule else None
        if found is not None:
            return found
        if step.op in LINEAR and any(self._zero(argument) for argument in _factors(step)):
            return (Parts(step.shape or (), self._like(step)),) if step.parts is None else None
        return None

    def _zero(self, argument: Argument) -> bool:
        held = self.held.get(argument) if isinstance(argument, Output) else None
        return held is not None and not held.parts

    def _like(self, step: Step) -> Reference:
        """A tensor of a step's dtype, already there."""
        first: Reference = step.args[0] if isinstance(step.args[0], Reference) else step.args[1]
        held = self.held.get(first) if isinstance(first, Output) else None
        return held.like if held else self.names.get(first, first)

    def _keep(self, number: int, step: Step) -> None:
        self._write_out(step.references)
        place = len(self.steps)
        self.steps.append(step.renamed(self.names))
        parts = (None,) if step.parts is None else range(step.parts)
        self.names |= {Output(number, part): Output(place, part) for part in parts}

    def whole(self, reference: Reference) -> Reference:
        """A tensor as it stands in the new graph."""
        self._write_out((reference,))
        return self.names.get(reference, reference)

    def _write_out(self, wanted: tuple[Reference, ...]) -> None:
        """Write out what has been held back of these."""
        for reference in wanted:
            if isinstance(reference, Output) and reference in self.held:
                self.names[reference] = self._laid(self.held.pop(reference))

    def _laid(self, held: Parts) -> Reference:
        """Parts side by side, with zeros between; the axis goes back to its place."""
        if not held.parts:
            return self.new(aten.new_zeros.default, held.like, held.shape)
        rest = tuple(size for axis, size in enumerate(held.shape) if axis != held.axis)
        laid: list[Reference] = []
        at = 0
        for start, (stop, part) in sorted(held.parts.items()):
            if start > at:
                laid.append(self.new(aten.new_zeros.default, part, (start - at, *rest)))
            laid.append(part)
            at = stop
        if at < held.shape[held.axis]:
            missing = held.shape[held.axis] - at
            laid.append(self.new(aten.new_zeros.default, laid[0], (missing, *rest)))
        order = (*range(1, held.axis + 1), 0, *range(held.axis + 1, len(held.shape)))
        shared = common_factor(self.steps, laid)
        if shared is not None:
            return self._multiplied(shared, order)
        whole = laid[0] if len(laid) == 1 else self.new(aten.cat.default, tuple(laid), 0)
        return self.permuted(whole, order)

    def _multiplied(self, shared: Shared, order: tuple[int, ...]) -> Reference:
        """Parts with a factor that all of them have: they are laid out once for all factors."""
        others = [self._reshaped(each, shared.views) for each in shared.others]
        beside = self.permuted(self.new(aten.cat.default, tuple(others), 0), order)
        by = self.permuted(self._reshaped(shared.factor, shared.views), order)
        return self.new(aten.mul.Tensor, self.new(aten.contiguous.default, beside), by)

    def _reshaped(self, reference: Reference, views: tuple[View, ...]) -> Reference:
        for op, args in views:
            reference = self.new(op, reference, *args)
        return reference

    def permuted(self, reference: Reference, order: tuple[int, ...]) -> Reference:
        """A tensor with its axes in another order."""
        if order == tuple(range(len(order))):
            return reference
        return self.new(aten.permute.default, reference, order)

    def new(self, op: Callable[..., Any], *args: Argument) -> Reference:
        """One more step."""
        self.steps.append(Step(op=op, args=args))
        return Output(len(self.steps) - 1)


def _outputs(number: int, step: Step) -> tuple[Output, ...]:
    parts = (None,) if step.parts is None else range(step.parts)
    return tuple(Output(number, part) for part in parts)


def _factors(step: Step) -> tuple[Argument, ...]:
    """Those of a step's arguments of which one that is zero makes the answer zero."""
    return step.args[:2] if step.op is aten.mul.Tensor else step.args[:1]


def _select_backward(pass_: _Sparing, step: Step) -> "tuple[Parts | Reference, ...] | None":
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


def _slice_backward(pass_: _Sparing, step: Step) -> "tuple[Parts | Reference, ...] | None":
    gradient, shape, axis, start, stop, every = step.args
    axis %= len(shape)
    plain = all(type(number) is int for number in (shape[axis], start, stop))
    if not plain or every != 1 or not 0 <= start < stop <= shape[axis] or pass_._zero(gradient):
        return None
    order = (axis, *range(axis), *range(axis + 1, len(shape)))
    part = pass_.permuted(pass_.whole(gradient), order)
    return (Parts(shape, part, axis, {start: (stop, part)}),)


def _inserted(pass_: _Sparing, held: Parts, axis: int, shape: Shape) -> Parts:
    """Parts with another axis of length one."""
    own = held.axis + (axis <= held.axis)
    place = 1 + axis - (axis > own)
    parts = {
        start: (stop, pass_.new(aten.unsqueeze.default, part, place))
        for start, (stop, part) in held.parts.items()
    }
    return Parts(shape, held.like, own, parts)


def _select(pass_: _Sparing, step: Step) -> "tuple[Parts | Reference, ...] | None":
    source, axis, index = step.args
    held = pass_.held.get(source)
    if held is None or not held.parts or type(index) is not int or step.shape is None:
        return None
    return (_taken(pass_, held, axis % len(held.shape), index, step.shape),)


def _unbind(pass_: _Sparing, step: Step) -> "tuple[Parts | Reference, ...] | None":
    held = pass_.held.get(step.args[0])
    if held is None or step.shape is None or step.parts is None:
        return None
    axis = (step.args[1] if len(step.args) > 1 else 0) % len(held.shape)
    return tuple(_taken(pass_, held, axis, index, step.shape) for index in range(step.parts))


def _taken(pass_: _Sparing, held: Parts, axis: int, index: int, shape: Shape) -> Parts | Reference:
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


def _add(pass_: _Sparing, step: Step) -> "tuple[Parts | Reference, ...] | None":
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


def _permute(pass_: _Sparing, step: Step) -> "tuple[Parts | Reference, ...] | None":
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


Rule = Callable[[_Sparing, Step], "tuple[Parts | Reference, ...] | None"]
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
