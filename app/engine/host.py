"""Carrying tiles from the device into the result on the host, without waiting where it can."""

from collections import deque
from dataclasses import dataclass, field

import torch
from torch import Tensor

# Prepared on their way at once: one is copied while the next is computed.
IN_FLIGHT = 2


@dataclass(slots=True)
class HostWriter:
    """Writes tiles into host memory, in order.

    On the CPU a tile is copied at once. From CUDA it goes through pinned memory on the current
    stream, asynchronously; the host waits for a tile only when the one after next is ready.
    (The CUDA path has not been run on a device yet.)
    """

    pending: deque[tuple[torch.cuda.Event, Tensor, Tensor]] = field(default_factory=deque)

    def put(self, target: Tensor, tile: Tensor) -> None:
        """Copy a tile into its place; `target` is a view of the result, of the tile's shape."""
        if tile.device.type != "cuda":
            target.copy_(tile)
            return
        staging = torch.empty(tile.shape, dtype=target.dtype, pin_memory=True)
        staging.copy_(tile, non_blocking=True)
        event = torch.cuda.Event()  # type: ignore[no-untyped-call]
        event.record(torch.cuda.current_stream(tile.device))
        self.pending.append((event, target, staging))
        if len(self.pending) > IN_FLIGHT:
            self._finish_one()

    def flush(self) -> None:
        """Wait for every tile to be in its place."""
        while self.pending:
            self._finish_one()

    def _finish_one(self) -> None:
        event, target, staging = self.pending.popleft()
        event.synchronize()
        target.copy_(staging)
