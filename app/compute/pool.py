"""Shared memory that is used again.

The system hands out new memory page by page, each zeroed when it is first written: for a large
result that takes longer than to compute it. What was written once stays mapped, in both processes.
"""

import weakref
from collections import OrderedDict, deque

import numpy as np
from numpy.typing import NDArray

from app.compute.segment import Segment

# Idle memory that is kept for the next result.
IDLE_BYTES = 256 << 20
# And so many pieces: each holds two descriptors.
IDLE_PIECES = 4
# A result is given memory of up to so many times its size.
ROOMY = 2


class Pool:
    """Segments by number, of which each is lent to one result at a time."""

    def __init__(self, idle_bytes: int = IDLE_BYTES) -> None:
        """Keep that much of what nobody uses."""
        self.idle_bytes = idle_bytes
        self._number = 0
        # The one that was used last stands last.
        self._idle: OrderedDict[int, Segment] = OrderedDict()
        # A finalizer runs whenever memory is collected, in any thread: it only appends here.
        self._returned: deque[tuple[int, Segment]] = deque()
        self._dropped: list[int] = []

    def take(self, size: int) -> tuple[int, Segment]:
        """Memory for a result, and its number; it has been written before, and is not zero.

        Raises:
            OSError: the system has no memory left.
        """
        self._collect()
        fitting = [
            (len(segment.memory), number)
            for number, segment in self._idle.items()
            if size <= len(segment.memory) <= ROOMY * max(1, size)
        ]
        if fitting:
            _, number = min(fitting)
            return number, self._idle.pop(number)
        self._number += 1
        return self._number, Segment.create(size)

    def lend(self, number: int, segment: Segment) -> NDArray[np.uint8]:
        """The memory as one array; it comes back when the last array that views it is gone."""
        whole = np.ndarray((len(segment.memory),), np.uint8, segment.memory)
        weakref.finalize(whole, self._returned.append, (number, segment)).atexit = False
        return whole

    def put(self, number: int, segment: Segment) -> None:
        """Give memory back that was not lent, or never used."""
        self._returned.append((number, segment))

    def dropped(self) -> list[int]:
        """Numbers that are no longer in use, since this was last asked."""
        self._collect()
        dropped, self._dropped = self._dropped, []
        return dropped

    def close(self) -> None:
        """Keep nothing any more."""
        self.idle_bytes = 0
        self._collect()

    def _collect(self) -> None:
        """Take in what has come back, and let go of what is more than is kept."""
        while self._returned:
            number, segment = self._returned.popleft()
            self._idle[number] = segment
        held = sum(len(segment.memory) for segment in self._idle.values())
        while self._idle and (held > self.idle_bytes or len(self._idle) > IDLE_PIECES):
            number, segment = self._idle.popitem(last=False)
            held -= len(segment.memory)
            segment.close_descriptor()
            self._dropped.append(number)
