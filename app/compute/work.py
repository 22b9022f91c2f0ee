"""Work as plain data: what crosses to the process that owns the device, and what comes back."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from mmap import mmap
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Buffer = mmap | NDArray[np.uint8]
"""Memory that is mapped, or an array of all of it."""

Arrays = dict[str, NDArray[Any]]
# Arrays start at multiples of a cache line.
ALIGNMENT = 64


@dataclass(frozen=True, slots=True)
class Output:
    """An array that work fills.

    Attributes:
        name: how it is asked for in the result.
        shape: its shape.
        dtype: its dtype, as NumPy names it.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str

    @property
    def bytes(self) -> int:
        """Bytes of the array, up to where the next one starts."""
        size = math.prod(self.shape) * np.dtype(self.dtype).itemsize
        return -(-size // ALIGNMENT) * ALIGNMENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Something to compute, as numbers and strings.

    Attributes:
        kind: what is computed; a key of `KINDS`.
        renderer: name of the renderer.
        dtype: `float32` or `float64`: the arithmetic.
        asked: what the kind is to know, as plain data.
        outputs: the arrays that it fills.
    """

    kind: str
    renderer: str
    dtype: str = "float32"
    asked: Mapping[str, Any] = field(default_factory=dict)
    outputs: tuple[Output, ...] = ()

    @property
    def total_bytes(self) -> int:
        """Bytes of the whole result."""
        return sum(output.bytes for output in self.outputs)

    def to_json(self) -> dict[str, Any]:
        """Plain data for the wire."""
        return {
            "kind": self.kind,
            "renderer": self.renderer,
            "dtype": self.dtype,
            "asked": self.asked,
            "outputs": [
                {"name": each.name, "shape": each.shape, "dtype": each.dtype}
                for each in self.outputs
            ],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The work back from the wire."""
        outputs = tuple(
            Output(each["name"], tuple(each["shape"]), each["dtype"]) for each in data["outputs"]
        )
        return cls(**{**data, "outputs": outputs})

    def arrays(self, memory: Buffer) -> Arrays:
        """The outputs as views of memory that holds them all, by name."""
        found: Arrays = {}
        start = 0
        for output in self.outputs:
            dtype = np.dtype(output.dtype)
            found[output.name] = np.ndarray(output.shape, dtype, memory, start)
            start += output.bytes
        return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Result:
    """Finished work. Its arrays live as long as the result does.

    Attributes:
        work: what was asked.
        arrays: the outputs, by name.
        facts: what is said beside them, as plain data.
        origin: `computed` for this request, `shared` with an equal one that came first, or
            `stored` since an earlier one.
    """

    work: Work
    arrays: Arrays
    facts: Mapping[str, Any]
    origin: str = "computed"

    @property
    def repeatable(self) -> bool:
        """Whether the same work is known to give the same numbers, so that one may stand for two.

        A renderer that draws from an unseeded source does not. Of other kinds of work than maps
        nobody has looked.
        """
        return bool(self.facts.get("repeatable"))
