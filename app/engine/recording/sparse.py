"""Gradients that are mostly zeros, kept apart from them.

The backward of taking a part of a tensor is a tensor of zeros around the part's gradient, and what
several parts give is added up: of a vector whose entries are taken one by one, that is the square
of its length; and the gradient of one channel of an image is carried, as zeros, through all others.
Here parts are laid side by side, and what is zero is not carried. The numbers are the same, but
where zero times infinity has spoilt one.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from app.engine.recording.factor import Shared, View, common_factor
from app.engine.recording.graph import Argument, Graph, Output, Reference, Step, references, rename
from app.engine.recording.parts import Parts
from app.engine.recording.rules import LINEAR, RULES

aten = torch.ops.aten


def without_zeros(graph: Graph) -> Graph:
    """The same computation without carrying zeros."""
    return Sparing(graph).result()


class Sparing:
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
        if step.op in LINEAR and any(self.zero(argument) for argument in _factors(step)):
            return (Parts(step.shape or (), self._like(step)),) if step.parts is None else None
        return None

    def zero(self, argument: Argument) -> bool:
        """Whether a tensor is held back as all zeros."""
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
        return self._in_order(self.permuted(whole, order), len(order))

    def _in_order(self, reference: Reference, axes: int) -> Reference:
        """A tensor as autograd would have laid it out, where a view may join its axes later."""
        return reference if axes < 3 else self.new(aten.contiguous.default, reference)

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
