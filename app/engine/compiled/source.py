"""What is compiled of a recording: its work on a tile, for one direction, as a graph of its own.

Whatever does not depend on a position is an input, weights and volumes too: what is compiled holds
for other values of them, and two renderers that do the same share it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from app.engine.recording import Recording
from app.engine.recording.graph import (
    Constant,
    Graph,
    Input,
    Output,
    Reference,
    Step,
    rename,
)

aten = torch.ops.aten
# The positions come first.
POSITIONS = (Input(0), Input(1))


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A tile's work as a graph that brings nothing along.

    Attributes:
        graph: without constants; its inputs are the positions x and y, then what `taken` names.
        taken: what each further input is called in the recording.
    """

    graph: Graph
    taken: tuple[Reference, ...]

    @classmethod
    def of(cls, recording: Recording) -> "Source":
        """Cut a recording's work on a tile out of it."""
        stages = recording.stages
        numbers = {number: place for place, number in enumerate(stages.pixels)}
        steps = [_plainer(stages.graph.steps[number]) for number in stages.pixels]
        results = stages.graph.results
        named = [leaf for step in steps for leaf in step.references]
        named += Step(len, results).references
        own = {leaf for leaf in named if isinstance(leaf, Output) and leaf.step in numbers}
        taken = tuple(dict.fromkeys(leaf for leaf in named if leaf not in own | {*POSITIONS}))
        names: dict[Reference, Reference] = {
            leaf: Output(numbers[leaf.step], leaf.part) for leaf in own
        }
        names |= {leaf: Input(len(POSITIONS) + place) for place, leaf in enumerate(taken)}
        graph = Graph(
            inputs=len(POSITIONS) + len(taken),
            steps=tuple(step.renamed(names) for step in steps),
            constants=(),
            results=rename(results, names),
        )
        return cls(graph, taken)

    def given(
        self, recording: Recording, inputs: Sequence[Tensor], known: Mapping[Output, Any]
    ) -> list[Tensor]:
        """The further inputs, without gaps in memory.

        Args:
            recording: what this was cut out of.
            inputs: those of the recording.
            known: what its scene has given.
        """
        constants = recording.stages.graph.constants

        def tensor(reference: Reference) -> Tensor:
            if isinstance(reference, Input):
                return inputs[reference.number]
            if isinstance(reference, Constant):
                return constants[reference.number]
            found: Tensor = known[reference]
            return found

        return [tensor(reference).contiguous() for reference in self.taken]


def _plainer(step: Step) -> Step:
    """The step by an operation that compilers know, where it is one of autograd's own."""
    if step.op is aten._new_zeros_with_same_feature_meta.default:
        return replace(step, op=aten.zeros_like.default, args=step.args[1:2], kwargs=())
    return step
