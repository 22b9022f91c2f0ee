"""A part of a recording as a Python function.

Written out as source, one line an operation: nothing is looked up, and a value is let go after the
line that uses it last.
"""

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from app.engine.recording.graph import (
    Argument,
    Constant,
    Graph,
    Input,
    Output,
    Reference,
    Size,
    references,
)

Function = Callable[[int, Sequence[Tensor], Sequence[Any]], tuple[Any, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """Some of the steps of a graph.

    Attributes:
        function: `size, inputs, taken -> given`.
        taken: what it takes from programs before it.
        given: what it answers with.
    """

    function: Function
    taken: tuple[Output, ...]
    given: tuple[Argument, ...]

    def __call__(
        self, size: int, inputs: Sequence[Tensor], known: dict[Output, Any]
    ) -> tuple[Any, ...]:
        """Run the steps, on what programs before it have given."""
        return self.function(size, inputs, [known[name] for name in self.taken])


def program(graph: Graph, numbers: Collection[int], given: tuple[Argument, ...]) -> Program:
    """A program of some of a graph's steps, in their order."""
    writer = _Writer(graph, sorted(numbers), given)
    return Program(writer.function(), writer.taken, given)


class _Writer:
    """Writes the source of one program."""

    def __init__(self, graph: Graph, numbers: list[int], given: tuple[Argument, ...]) -> None:
        self.graph = graph
        self.numbers = numbers
        self.given = given
        own = set(numbers)
        used = [leaf for n in numbers for leaf in graph.steps[n].references]
        used += list(references(given))
        outputs = dict.fromkeys(leaf for leaf in used if isinstance(leaf, Output))
        self.taken = tuple(leaf for leaf in outputs if leaf.step not in own)
        self.own = own
        self.names: dict[str, Any] = {}
        self.plain: dict[int, str] = {}

    def function(self) -> Function:
        """The compiled function."""
        last = self._last_uses()
        lines = ["def replay(size, inputs, taken):"]
        inputs = ", ".join(f"i{n}" for n in range(self.graph.inputs))
        lines.append(f"    {inputs}, = inputs")
        if self.taken:
            lines.append(f"    {', '.join(self._name(name) for name in self.taken)}, = taken")
            lines.append("    taken.clear()")
        for number in self.numbers:
            lines.append(f"    v{number} = {self._call(number)}")
            if dead := last.get(number):
                lines.append(f"    {' = '.join(dead)} = None")
        results = "".join(f"{self._written(result)}, " for result in self.given)
        lines.append(f"    return ({results})")
        scope = dict(self.names)
        exec("\n".join(lines), scope)  # noqa: S102 - made above, of numbers and of torch's operations
        function: Function = scope["replay"]
        return function

    def _last_uses(self) -> dict[int, list[str]]:
        """The variables that no line after a step uses, by step."""
        last: dict[str, int] = {}
        for number in self.numbers:
            last[f"v{number}"] = number
            for leaf in self.graph.steps[number].references:
                if isinstance(leaf, Output):
                    last[self._variable(leaf)] = number
        for leaf in references(self.given):
            if isinstance(leaf, Output):
                last.pop(self._variable(leaf), None)
        dead: dict[int, list[str]] = {}
        for variable, number in last.items():
            dead.setdefault(number, []).append(variable)
        return dead

    def _variable(self, output: Output) -> str:
        """The variable that holds an output; parts of a sequence from before have one each."""
        if output.part is not None and output.step not in self.own:
            return f"v{output.step}_{output.part}"
        return f"v{output.step}"

    def _name(self, reference: Reference) -> str:
        """The expression of a tensor."""
        if isinstance(reference, Input):
            return f"i{reference.number}"
        if isinstance(reference, Constant):
            name = f"c{reference.number}"
            self.names[name] = self.graph.constants[reference.number]
            return name
        variable = self._variable(reference)
        whole = reference.part is None or variable != f"v{reference.step}"
        return variable if whole else f"{variable}[{reference.part}]"

    def _call(self, number: int) -> str:
        step = self.graph.steps[number]
        arguments = [self._written(argument) for argument in step.args]
        arguments += [f"{name}={self._written(value)}" for name, value in step.kwargs]
        return f"{self._plain(step.op)}({', '.join(arguments)})"

    def _written(self, argument: Argument) -> str:
        """An argument as source."""
        if isinstance(argument, tuple):
            return f"[{', '.join(self._written(part) for part in argument)}]"
        if isinstance(argument, Reference):
            return self._name(argument)
        if isinstance(argument, Size):
            return f"{argument.times} * size // {argument.parts}"
        return self._plain(argument)

    def _plain(self, value: Any) -> str:
        """A value that is no tensor: written out where that is exact, else by a name of its own."""
        if value is None or type(value) in (bool, int, str):
            return repr(value)
        if type(value) is float and math.isfinite(value):
            return repr(value)
        name = self.plain.setdefault(id(value), f"p{len(self.plain)}")
        self.names[name] = value
        return name
