"""Making a recording shorter, without changing a bit of what it answers.

Steps that hand on what they were given, steps that were done before, steps on constants alone, and
steps that nobody waits for are left out. Where an operation writes in place, order is all: memory
that is written into is left as it was.
"""

from dataclasses import replace
from typing import Any

from torch import Tensor

from app.engine.recording.graph import Constant, Graph, Output, Reference, Step, rename
from app.engine.recording.sparse import without_zeros


def cleaned(graph: Graph) -> Graph:
    """The same computation in fewer steps."""
    for spare in (without_repetitions, without_dead, without_zeros, without_repetitions):
        graph = spare(graph)
    return without_dead(graph)


def without_repetitions(graph: Graph) -> Graph:
    """Leave out what is known, what only hands on, and what was done before."""
    written = graph.written
    names: dict[Reference, Reference] = {}
    done: dict[Any, int] = {}
    constants: list[Tensor] = list(graph.constants)
    steps = list(graph.steps)
    for number, step in enumerate(steps):
        here = steps[number] = step.renamed(names)
        if step.memory & written:
            # An alias of memory that is written into is that memory; a copy is not.
            if step.repeats and not step.copies:
                names[Output(number)] = here.args[0]
            continue
        if number in graph.known:
            constants.append(graph.known[number])
            names[Output(number)] = Constant(len(constants) - 1)
        elif step.repeats:
            names[Output(number)] = here.args[0]
        else:
            key = (here.op, _exactly(here.args), _exactly(here.kwargs))
            first = done.setdefault(key, number)
            if first != number:
                names |= {Output(number, part): Output(first, part) for part in _parts(here)}
    results = rename(graph.results, names)
    return replace(graph, steps=tuple(steps), constants=tuple(constants), results=results, known={})


def without_dead(graph: Graph) -> Graph:
    """Leave out what no result depends on."""
    needed = _needed(graph)
    order = sorted(needed)
    place = {number: index for index, number in enumerate(order)}
    names: dict[Reference, Reference] = {
        Output(number, part): Output(place[number], part)
        for number in order
        for part in _parts(graph.steps[number])
    }
    steps = tuple(graph.steps[number].renamed(names) for number in order)
    return replace(graph, steps=steps, results=rename(graph.results, names))


def _needed(graph: Graph) -> set[int]:
    """Steps that a result depends on, and those that write into memory that one of them uses."""
    needed: set[int] = set()
    writers = [number for number, step in enumerate(graph.steps) if step.writes]
    found = {leaf.step for leaf in _outputs(graph.results)}
    while found:
        needed |= found
        taken = {leaf.step for number in found for leaf in _outputs(graph.steps[number])}
        used = frozenset().union(*(graph.steps[number].memory for number in found))
        taken |= {number for number in writers if graph.steps[number].writes & used}
        found = taken - needed
    return needed


def _outputs(of: Step | tuple[Any, ...]) -> list[Output]:
    step = of if isinstance(of, Step) else Step(len, of)
    return [leaf for leaf in step.references if isinstance(leaf, Output)]


def _parts(step: Step) -> tuple[int | None, ...]:
    return (None,) if step.parts is None else tuple(range(step.parts))


def _exactly(argument: Any) -> Any:
    """An argument as a key that tells 0.0 from -0.0, and 1 from 1.0 and True."""
    if isinstance(argument, tuple):
        return tuple(_exactly(part) for part in argument)
    if isinstance(argument, float):
        return ("float", argument.hex())
    return (type(argument), argument)


__all__ = ["cleaned"]
