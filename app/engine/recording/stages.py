"""Which part of a recording is done once a map, once a tile, and once a direction."""

from enum import Flag, auto
from functools import cached_property

from app.engine.recording.graph import Argument, Graph, Input, Output, references
from app.engine.recording.program import Program, program


class Depends(Flag):
    """What a step's answer depends on."""

    NOTHING = 0
    PARAMETERS = auto()
    POSITIONS = auto()
    DIRECTION = auto()


class Stages:
    """A recording, whose results are an image and tangents where it has any, as programs."""

    def __init__(self, graph: Graph, inputs: tuple[Depends, ...]) -> None:
        self.graph = graph
        depends = dependencies(graph, inputs)
        self.pixels = [n for n, on in enumerate(depends) if Depends.POSITIONS in on]
        self._scene = [n for n, on in enumerate(depends) if Depends.POSITIONS not in on]
        self._shared = [n for n in self.pixels if Depends.DIRECTION not in depends[n]]
        self._along = [n for n in self.pixels if Depends.DIRECTION in depends[n]]

    @cached_property
    def separable(self) -> bool:
        """Whether the image is the same for all directions: it shares no memory with a tangent."""
        along = set(self._along)
        return all(
            leaf.step not in along
            for leaf in references(self.graph.results[:1])
            if isinstance(leaf, Output)
        )

    @cached_property
    def scene(self) -> Program:
        """What depends on no position: done once a map and direction."""
        results = self.graph.results
        return self._program(self._scene, self._given(self._scene, self.pixels, results))

    @cached_property
    def whole(self) -> Program:
        """All the rest, for one direction."""
        return self._program(self.pixels, self.graph.results)

    @cached_property
    def shared(self) -> Program:
        """What no direction changes, the image first: done once a tile."""
        image, tangents = self.graph.results[:1], self.graph.results[1:]
        kept = self._given(self._shared, self._along, tangents)
        return self._program(self._shared, (*image, *kept))

    @cached_property
    def along(self) -> Program:
        """What is left: done once a tile and direction."""
        return self._program(self._along, self.graph.results[1:])

    def _program(self, steps: list[int], given: tuple[Argument, ...]) -> Program:
        return program(self.graph, steps, given)

    def _given(
        self, first: list[int], then: list[int], results: tuple[Argument, ...]
    ) -> tuple[Output, ...]:
        """What later steps, or the results, take from earlier ones."""
        own = set(first)
        used = [leaf for n in then for leaf in self.graph.steps[n].references]
        used += list(references(results))
        return tuple(
            dict.fromkeys(leaf for leaf in used if isinstance(leaf, Output) and leaf.step in own)
        )


def dependencies(graph: Graph, inputs: tuple[Depends, ...]) -> list[Depends]:
    """What each step depends on. Steps that write into one memory, or use it, stay together."""
    found = [Depends.NOTHING] * len(graph.steps)
    memory = dict.fromkeys(graph.written, Depends.NOTHING)
    while True:
        before = list(found)
        for number, step in enumerate(graph.steps):
            depends = Depends.POSITIONS if step.sized else Depends.NOTHING
            for leaf in step.references:
                if isinstance(leaf, Input):
                    depends |= inputs[leaf.number]
                elif isinstance(leaf, Output):
                    depends |= found[leaf.step]
            for piece in step.memory & memory.keys():
                memory[piece] |= depends
                depends |= memory[piece]
            found[number] = depends
        if not memory or found == before:
            return found
