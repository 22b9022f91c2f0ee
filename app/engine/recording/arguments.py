"""What an operation is called with, as plain data in which the number of positions is left open."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import torch
from torch import Tensor

from app.engine.evaluate import LANES
from app.engine.recording.graph import Argument, Reference, Size

aten = torch.ops.aten
# Those whose last argument is a shape.
SHAPED = frozenset(
    {
        aten.view.default, aten._unsafe_view.default, aten.expand.default, aten.new_zeros.default,
        aten.new_ones.default, aten.new_empty.default,
    }
)  # fmt: skip
# Into how many parts of one length the positions may be cut: threads share out no fewer.
PARTS = LANES


class Arguments:
    """Reads arguments at a known number of positions.

    Args:
        size: that number; every whole multiple of it is taken to be one, so it should be a number
            that nobody would write down.
        name_of: what a tensor is called.
    """

    def __init__(self, size: int, name_of: Callable[[Tensor], Reference]) -> None:
        self.size = size
        self.name_of = name_of

    def of(
        self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[tuple[Argument, ...], tuple[tuple[str, Argument], ...]]:
        """The arguments in order, and those by name."""
        plain = numbers_of(func)

        def read(key: int | str, value: Any) -> Argument:
            if key in plain and type(value) is int:
                return value
            shaped = func in SHAPED and key == len(args) - 1
            return self._read(value, PARTS if shaped else 1)

        named = tuple((name, read(name, value)) for name, value in kwargs.items())
        return tuple(read(place, value) for place, value in enumerate(args)), named

    def sizes(self, shape: tuple[int, ...]) -> tuple[Argument, ...]:
        """A shape, in which the number of positions is left open."""
        return tuple(self._read(size, 1) for size in shape)

    def _read(self, value: Any, parts: int) -> Argument:
        if isinstance(value, Tensor):
            return self.name_of(value)
        if isinstance(value, list | tuple):
            return tuple(self._read(part, parts) for part in value)
        if type(value) is int and value and (value * parts) % self.size == 0:
            share = Fraction(value, self.size)
            return Size(share.numerator, share.denominator)
        return value


@cache
def numbers_of(func: Any) -> frozenset[int | str]:
    """Places and names of arguments that are numbers of a formula; those of a range are sizes."""
    if func._schema.name in ("aten::arange", "prims::iota"):
        return frozenset()
    numbers = [
        (place, declared.name)
        for place, declared in enumerate(func._schema.arguments)
        if "number" in str(declared.type).lower()
    ]
    return frozenset(key for pair in numbers for key in pair)
