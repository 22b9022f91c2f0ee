"""Finished results, kept for whoever asks for the same numbers in another form."""

from collections import OrderedDict
from dataclasses import replace

from app.compute.work import Result

# A result of up to so many bytes is copied out of shared memory, which goes back to its pool.
COPIED = 1 << 20
# What stays shared holds descriptors in both processes, of which each may have a thousand.
MOST_SHARED = 64
# What is said beside the arrays, in bytes, about: many small results have much to say.
BESIDE = 16 << 10


class Store:
    """Results by address, no more than so many bytes of them; the longest unused goes first."""

    def __init__(self, most_bytes: int) -> None:
        """Keep that much; 0 keeps nothing."""
        self.most_bytes = most_bytes
        self.bytes = 0
        self._kept: OrderedDict[str, Result] = OrderedDict()
        self._shared: OrderedDict[str, None] = OrderedDict()

    def get(self, address: str) -> Result | None:
        """The result at an address, if it is still there."""
        if address not in self._kept:
            return None
        self._kept.move_to_end(address)
        if address in self._shared:
            self._shared.move_to_end(address)
        return self._kept[address]

    def put(self, address: str, result: Result) -> None:
        """Keep a result, if it may stand for another one and is no larger than all that is kept."""
        size = size_of(result)
        if address in self._kept or size > self.most_bytes or not result.repeatable:
            return
        if size > COPIED:
            self._shared[address] = None
        self._kept[address] = result if size > COPIED else copied(result)
        self.bytes += size
        while len(self._shared) > MOST_SHARED:
            self._drop(next(iter(self._shared)))
        while self.bytes > self.most_bytes:
            self._drop(next(iter(self._kept)))

    def _drop(self, address: str) -> None:
        self.bytes -= size_of(self._kept.pop(address))
        self._shared.pop(address, None)


def size_of(result: Result) -> int:
    """Bytes of a result's arrays, and of what is said beside them."""
    return BESIDE + sum(array.nbytes for array in result.arrays.values())


def copied(result: Result) -> Result:
    """The result in memory of its own."""
    arrays = {name: array.copy() for name, array in result.arrays.items()}
    for array in arrays.values():
        array.setflags(write=False)
    return replace(result, arrays=arrays)
