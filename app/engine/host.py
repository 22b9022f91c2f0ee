"""Carrying tiles from the device into the result on the host, without waiting where it can."""

from collections import deque
from dataclasses import dataclass, field

import torch
from torch import Tensor

# Copies that the host has not waited for: while they are under way it makes the next tile ready.
IN_FLIGHT = 2


@dataclass(slots=True)
class HostWriter:
    """Writes tiles into host memory, in order.

    On the CPU a tile is copied at once. From CUDA it goes through pinned memory, asynchronously;
    the host waits for a tile only when the one after next is ready.

    The CUDA path has not run on a GPU. It is tested against a stand-in of a device, and rests on
    what torch's sources and documentation say:

    - The copy is queued on the stream that computed the tile. torch hands a tile's memory on
      to that stream alone, whose later work comes after the copy: `record_stream` is not needed.
    - `copy_` returns before the copy is done, and nothing stops a reader of pinned memory from
      reading too early: so each copy has an event, which is waited for. A failure on the device
      is raised there.
    - Pinned memory that is let go while a copy is under way (a map was cancelled) is not given
      out again before the copy is done. What torch gives out is rounded up to a power of two.
    - A tile that does not lie in the order of the result is first rearranged on the device, in
      memory that the plan did not count.
    """

    pending: deque[tuple[torch.cuda.Event, Tensor, Tensor]] = field(default_factory=deque)
    taken: int = 0

    @property
    def landed(self) -> int:
        """How many of the tiles that it was given lie in their place; they land in order."""
        return self.taken - len(self.pending)

    def put(self, target: Tensor, tile: Tensor) -> None:
        """Copy a tile into its place; `target` is a view of the result, of the tile's shape."""
        self.taken += 1
        if tile.device.type != "cuda":
            target.copy_(tile)
        elif not self._start(target, tile):
            # What waits is older, and memory is scarce: first things first, and a row at a time.
            self.flush()
            for place, row in zip(target, tile, strict=True):
                place.copy_(row)
        elif len(self.pending) > IN_FLIGHT:
            self._finish_one()

    def flush(self) -> None:
        """Wait for every tile to be in its place."""
        while self.pending:
            self._finish_one()

    def _start(self, target: Tensor, tile: Tensor) -> bool:
        """Queue a copy, or say that memory was refused: pinned on the host, or on the device."""
        try:
            staging = torch.empty(tile.shape, dtype=target.dtype, pin_memory=True)
            staging.copy_(tile, non_blocking=True)
        except RuntimeError as error:
            # Pinned memory is refused with a plain CUDA error, not with an OutOfMemoryError.
            if "out of memory" not in str(error):
                raise
            return False
        event = torch.cuda.Event()  # type: ignore[no-untyped-call]
        event.record(torch.cuda.current_stream(tile.device))
        self.pending.append((event, target, staging))
        return True

    def _finish_one(self) -> None:
        event, target, staging = self.pending.popleft()
        event.synchronize()
        target.copy_(staging)
