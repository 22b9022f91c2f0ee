"""A computation as plain data: steps in order, and where each takes what it is given from."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from torch import Tensor


@dataclass(frozen=True, slots=True)
class Input:
    """A tensor that the computation is given."""

    number: int


@dataclass(frozen=True, slots=True)
class Constant:
    """A tensor that the computation brings along."""

    number: int


@dataclass(frozen=True, slots=True)
class Output:
    """A tensor that a step answered with: its only one, or one of a sequence."""

    step: int
    part: int | None = None


@dataclass(frozen=True, slots=True)
class Size:
    """A multiple of the number of positions, whatever that is, or a part of it."""

    times: int
    parts: int = 1


Reference = Input | Constant | Output
Argument = Any
"""A reference, a size, a tuple of arguments, or a plain value of torch (number, dtype, device)."""


@dataclass(frozen=True)
class Step:
    """One call of an operation of torch.

    Attributes:
        op: the operation.
        args: what it is called with, in order.
        kwargs: what it is called with by name.
        parts: how many tensors it answers with in a sequence; None for one tensor.
        shape: of its answer, or of each tensor of a sequence of equal ones.
        repeats: whether its answer is its first argument, in the same layout.
        copies: whether it does so in memory of its own.
        memory: numbers of the pieces of memory that it reads, writes or makes.
        writes: those of them that it writes into.
    """

    op: Callable[..., Any]
    args: tuple[Argument, ...]
    kwargs: tuple[tuple[str, Argument], ...] = ()
    parts: int | None = None
    shape: tuple[Argument, ...] | None = None
    repeats: bool = False
    copies: bool = False
    memory: frozenset[int] = frozenset()
    writes: frozenset[int] = frozenset()

    @cached_property
    def references(self) -> tuple[Reference, ...]:
        """The tensors that it takes."""
        return tuple(references((self.args, self.kwargs)))

    @property
    def sized(self) -> bool:
        """Whether it takes the number of positions."""
        return any(isinstance(leaf, Size) for leaf in leaves((self.args, self.kwargs)))

    def renamed(self, names: dict[Reference, Reference]) -> "Step":
        """The same step on other tensors."""
        if names.keys().isdisjoint(self.references):
            return self
        return replace(self, args=rename(self.args, names), kwargs=rename(self.kwargs, names))


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """A computation.

    Attributes:
        inputs: how many tensors it is given.
        steps: what is done, in order.
        constants: tensors that it brings along.
        results: what it answers with.
        known: answers of steps that depend on nothing, by step.
    """

    inputs: int
    steps: tuple[Step, ...]
    constants: tuple[Tensor, ...]
    results: tuple[Argument, ...]
    known: dict[int, Tensor] = field(default_factory=dict)

    @property
    def written(self) -> frozenset[int]:
        """Pieces of memory that some step writes into."""
        return frozenset().union(*(step.writes for step in self.steps))


def leaves(argument: Argument) -> Iterator[Argument]:
    """What an argument is made of."""
    if isinstance(argument, tuple):
        for part in argument:
            yield from leaves(part)
    else:
        yield argument


def references(argument: Argument) -> Iterator[Reference]:
    """The tensors in an argument."""
    return (leaf for leaf in leaves(argument) if isinstance(leaf, Reference))


def rename(argument: Argument, names: dict[Reference, Reference]) -> Argument:
    """An argument with other tensors in the place of some."""
    if isinstance(argument, tuple):
        return tuple(rename(part, names) for part in argument)
    if isinstance(argument, Reference):
        return names.get(argument, argument)
    return argument
