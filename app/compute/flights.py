"""Work that is under way: each is done once, however many wait for it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from app.compute.backends import Watch
from app.compute.work import Arrays, Result, Work


@dataclass(slots=True, eq=False)
class _Flight:
    """Work under way, who waits for it, and how far it is."""

    task: "asyncio.Future[Result]"
    waiting: list[Watch] = field(default_factory=list)
    arrays: Arrays | None = None
    done: tuple[int, int] | None = None

    def begun(self, arrays: Arrays) -> None:
        """Tell all."""
        self.arrays, self.done = arrays, None
        for watch in self.waiting:
            watch.begun(arrays)

    def advanced(self, done: int, total: int) -> None:
        """Tell all."""
        self.done = (done, total)
        for watch in self.waiting:
            watch.advanced(done, total)

    def joined(self, watch: Watch) -> None:
        """One more waits, and is told what the others know."""
        self.waiting.append(watch)
        if self.arrays is not None:
            watch.begun(self.arrays)
        if self.done is not None:
            watch.advanced(*self.done)


class Flights:
    """Joins those who ask for the same work at the same time."""

    def __init__(self, compute: Callable[[str, Work, Watch], Awaitable[Result]]) -> None:
        """Have work done by `compute(address, work, watch)`."""
        self._compute = compute
        self._flights: dict[str, _Flight] = {}

    async def join(self, key: str, work: Work, watch: Watch) -> tuple[Result, bool]:
        """The result of work whose address is `key`, and whether somebody else had asked first.

        Whoever is cancelled leaves the others waiting; with the last one the work is dropped, and
        that one waits until it has stopped. Raises what the work raises, to all.
        """
        flight = self._flights.get(key)
        shared = flight is not None
        if flight is None:
            flight = self._flights[key] = self._begun(key, work)
        flight.joined(watch)
        try:
            return await asyncio.shield(flight.task), shared
        finally:
            flight.waiting.remove(watch)
            if not flight.waiting and not flight.task.done():
                # Whoever comes from here on begins anew.
                self._landed(key, flight)
                flight.task.cancel()
                await asyncio.wait({flight.task})
                flight.task.cancelled() or flight.task.exception()

    def _begun(self, key: str, work: Work) -> _Flight:
        watch = Watch(
            lambda arrays: flight.begun(arrays), lambda done, total: flight.advanced(done, total)
        )
        flight = _Flight(asyncio.ensure_future(self._compute(key, work, watch)))
        flight.task.add_done_callback(lambda _: self._landed(key, flight))
        return flight

    def _landed(self, key: str, flight: _Flight) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]
        flight.arrays = None  # an error's traceback may keep the flight for a while
