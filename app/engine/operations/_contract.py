"""What an operation is: the torch callables that reach it, and ours that stand in for them.

To add the next one, write one file with

1. a frozen dataclass that is a `Formula`: its fields are the options of the operation, its methods
   the value, the tangent and reverse mode;
2. for each torch callable that reaches the operation, a function of the same signature that ends
   in `evaluate(formula, *inputs)`;
3. an `Operation` that pairs them, and its place in `table.py`.

An operation whose every output point answers to a point of its own (a sample to its position) needs
no new mathematics: its backward kernel, called with ones, holds the derivative at every point.
`grid_sample.py` is that case; `cdist.py` is the other one, a formula written out.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from torch import Tensor

from app.engine.operations._evaluation import evaluate
from app.engine.operations._formula import Formula

StandIns = Mapping[Callable[..., Any], Callable[..., Tensor]]
"""A torch callable to the function of the same signature that is called in its place."""


@dataclass(frozen=True, slots=True, eq=False)
class Operation:
    """One operation of torch that is given a forward formula.

    Attributes:
        name: torch's name for it.
        stand_ins: every callable through which a renderer reaches it, with ours.
    """

    name: str
    stand_ins: StandIns


def merge(operations: Iterable[Operation]) -> StandIns:
    """The stand-ins of all operations, frozen.

    Raises:
        ValueError: two operations stand in for the same callable.
    """
    every: dict[Callable[..., Any], Callable[..., Tensor]] = {}
    for operation in operations:
        for function, ours in operation.stand_ins.items():
            if function in every:
                raise ValueError(f"{operation.name!r} stands in for {function}, which is taken.")
            every[function] = ours
    return MappingProxyType(every)


__all__ = ["Formula", "Operation", "StandIns", "evaluate", "merge"]
