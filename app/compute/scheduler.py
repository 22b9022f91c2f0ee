"""Who is computed when: a bounded queue before the device, one retry, and a time limit."""

import asyncio
from dataclasses import dataclass, replace

from app.compute.address import address
from app.compute.backends import UNWATCHED, Backend, Catalogue, Watch
from app.compute.errors import (
    BusyError,
    NotReadyError,
    TimedOutError,
    WorkerDiedError,
)
from app.compute.flights import Flights
from app.compute.store import Store
from app.compute.work import Result, Work

# How long work waits for the next worker to come up.
REVIVAL_S = 60.0
POLL_S = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What the scheduler lets in.

    Attributes:
        queue: how many pieces of work may wait behind the one that runs.
        timeout_s: how long one piece may run before its worker is replaced.
        store_bytes: how much of finished results is kept.
    """

    queue: int
    timeout_s: float
    store_bytes: int = 0


class Scheduler:
    """Hands work to a backend in order of arrival, and refuses what the queue cannot hold."""

    def __init__(self, backend: Backend, limits: Limits) -> None:
        """Schedule for one backend of one slot."""
        self.backend = backend
        self.limits = limits
        self.store = Store(limits.store_bytes)
        self._flights = Flights(self._kept)
        self._instance = ""
        self._slot = asyncio.Lock()
        self._inside = 0

    @property
    def waiting(self) -> int:
        """How many pieces of work wait for the device."""
        return max(0, self._inside - 1)

    @property
    def instance(self) -> str:
        """Of the worker that is up, or of the last one that was.

        What an earlier one computed is not asked for again, and leaves the store as the longest
        unused.
        """
        if self.backend.catalogue:
            self._instance = self.backend.catalogue.instance
        return self._instance

    def catalogue(self) -> Catalogue:
        """What can be rendered.

        Raises:
            NotReadyError: the worker is not up.
        """
        if self.backend.catalogue is None:
            raise NotReadyError(self.backend.trouble)
        return self.backend.catalogue

    async def run(self, work: Work, watch: Watch = UNWATCHED) -> Result:
        """The result of a piece of work: kept, under way, or computed when its turn comes.

        Raises:
            BusyError: the queue is full.
            NotReadyError: no worker is up.
            TimedOutError: it ran longer than it may; its worker was replaced.
            WorkerDiedError: the worker died over it, and the next one did as well.
            WorkFailedError: the worker said why it could not be computed.
        """
        key = address(work, self.instance)
        if found := self.store.get(key):
            return replace(found, origin="stored")
        result, shared = await self._flights.join(key, work, watch)
        return replace(result, origin="shared") if shared else result

    async def _kept(self, key: str, work: Work, watch: Watch) -> Result:
        """Compute, and keep: before it is no longer under way, so that nobody comes between."""
        result = await self._queued(work, watch)
        self.store.put(key, result)
        return result

    async def _queued(self, work: Work, watch: Watch) -> Result:
        """Compute a piece of work when its turn comes."""
        if self._inside > self.limits.queue:
            raise BusyError(
                f"{self.limits.queue} requests are waiting already. Try again in a moment."
            )
        self._inside += 1
        try:
            async with self._slot:
                await self._revived()
                try:
                    return await self._timed(work, watch)
                except WorkerDiedError:
                    await self._revived()
                    return await self._timed(work, watch)
        finally:
            self._inside -= 1

    async def _timed(self, work: Work, watch: Watch) -> Result:
        """Run under the time limit. The slot is free when the worker has stopped, not before."""
        running = asyncio.ensure_future(self.backend.submit(work, watch))
        try:
            done, _ = await asyncio.wait({running}, timeout=self.limits.timeout_s)
        except asyncio.CancelledError:
            running.cancel()
            # A renderer that never comes to the end of its tile is killed by the time limit.
            if not (await asyncio.wait({running}, timeout=self.limits.timeout_s))[0]:
                await self._kill(running)
            raise
        if not done:
            await self._kill(running)
            raise TimedOutError(
                f"It ran longer than {self.limits.timeout_s:g} seconds and was stopped. "
                "Ask for a smaller frame, or for fewer entries or values."
            )
        return running.result()

    async def _kill(self, running: "asyncio.Future[Result]") -> None:
        await self.backend.replace()
        await asyncio.wait({running})
        running.cancelled() or running.exception()

    async def _revived(self) -> None:
        """Wait for the next worker, when the last one was replaced while this work waited."""
        deadline = asyncio.get_running_loop().time() + REVIVAL_S
        while self.backend.catalogue is None:
            if asyncio.get_running_loop().time() > deadline:
                raise NotReadyError(self.backend.trouble)
            await asyncio.sleep(POLL_S)
