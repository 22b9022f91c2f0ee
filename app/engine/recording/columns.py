"""Gradients of parts of a vector, gathered at once where autograd adds up vectors of zeros.

The backward of taking a part is a vector of zeros around the part's gradient, and what several
parts give is added up: of a vector whose entries are taken one by one, that is the square of its
length. Here the parts are laid side by side instead, which gives the same numbers.
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import torch

from app.engine.recording.graph import Argument, Graph, Output, Reference, Step, references, rename

aten = torch.ops.aten
ZERO = aten.new_zeros.default


@dataclass(frozen=True, slots=True)
class _Parts:
    """A tensor that is zero but for parts of its last axis.

    Attributes:
        shape: of the tensor, as an argument.
        parts: by where they start, where they stop and what stands there, with that axis.
    """

    shape: tuple[Argument, ...]
    parts: dict[int, tuple[int, Reference]]


def gathered(graph: Graph) -> Graph:
    """The same computation with the parts of gradients laid side by side."""
    return _Gathering(graph).result()


class _Gathering:
    """Goes through the steps once, and holds sums of parts back until they are needed."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.steps: list[Step] = []
        self.names: dict[Reference, Reference] = {}
        self.held: dict[Output, _Parts] = {}

    def result(self) -> Graph:
        """The graph with as many steps as it takes; what nobody waits for is still in it."""
        written = self.graph.written
        for number, step in enumerate(self.graph.steps):
            held = None if step.memory & written else self._held(step)
            if held is not None:
                self.held[Output(number)] = held
                continue
            self._let_go(step.references)
            self._add(step.renamed(self.names), number, step.parts)
        self._let_go(tuple(references(self.graph.results)))
        results = rename(self.graph.results, self.names)
        return replace(self.graph, steps=tuple(self.steps), results=results, known={})

    def _add(self, step: Step, number: int, parts: int | None) -> None:
        place = len(self.steps)
        self.steps.append(step)
        for part in (None,) if parts is None else range(parts):
            self.names[Output(number, part)] = Output(place, part)

    def _held(self, step: Step) -> _Parts | None:
        """What a step makes, if it is parts of zeros or a sum of such."""
        if step.op is aten.select_backward.default:
            gradient, shape, axis, index = step.args
            if axis == len(shape) - 1 and type(index) is int and index >= 0:
                return _Parts(shape, {index: (index + 1, self._with_axis(gradient))})
        if step.op is aten.slice_backward.default:
            gradient, shape, axis, start, stop, every = step.args
            if axis == len(shape) - 1 and every == 1 and 0 <= start < stop <= shape[-1]:
                return _Parts(shape, {start: (stop, self._known(gradient))})
        if step.op is aten.add.Tensor and not step.kwargs:
            first, second = (self.held.get(argument) for argument in step.args)
            if first and second and first.shape == second.shape and _apart(first, second):
                return _Parts(first.shape, {**first.parts, **second.parts})
        return None

    def _known(self, reference: Reference) -> Reference:
        self._let_go((reference,))
        return self.names.get(reference, reference)

    def _with_axis(self, gradient: Reference) -> Reference:
        return self._new(aten.unsqueeze.default, (self._known(gradient), -1))

    def _let_go(self, references: tuple[Reference, ...]) -> None:
        """Write out what has been held back of these."""
        for reference in references:
            if isinstance(reference, Output) and reference in self.held:
                self.names[reference] = self._written(self.held.pop(reference))

    def _written(self, held: _Parts) -> Reference:
        laid: list[Reference] = []
        at = 0
        for start in sorted(held.parts):
            stop, part = held.parts[start]
            laid += [self._zeros(held, part, start - at)] if start > at else []
            laid.append(part)
            at = stop
        width = held.shape[-1]
        laid += [self._zeros(held, laid[0], width - at)] if at < width else []
        return laid[0] if len(laid) == 1 else self._new(aten.cat.default, (tuple(laid), -1))

    def _zeros(self, held: _Parts, like: Reference, count: int) -> Reference:
        return self._new(ZERO, (like, (*held.shape[:-1], count)))

    def _new(self, op: Any, args: tuple[Argument, ...]) -> Reference:
        self.steps.append(Step(op=op, args=args))
        return Output(len(self.steps) - 1)


def _apart(first: _Parts, second: _Parts) -> bool:
    """Whether no part of one overlaps a part of the other."""
    ends = sorted(
        (start, stop) for held in (first, second) for start, (stop, _) in held.parts.items()
    )
    return all(stop <= after for (_, stop), (after, _) in pairwise(ends))
