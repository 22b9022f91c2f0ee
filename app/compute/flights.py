"""Work that is under way: each is done once, however many wait for it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from app.compute.backends import Progress
from app.compute.work import Result, Work


@dataclass(slots=True, eq=False)
class _Flight:
    """Work under way, and who waits for it."""

    task: "asyncio.Future[Result]"
    waiting: list[Progress] = field(default_factory=list)


class Flights:
    """Joins those who ask for the same work at the same time."""

    def __init__(self, compute: Callable[[str, Work, Progress], Awaitable[Result]]) -> None:
        """Have work done by `compute(address, work, progress)`."""
        self._compute = compute
        self._flights: dict[str, _Flight] = {}

    async def join(self, key: str, work: Work, progress: Progress) -> tuple[Result, bool]:
        """The result of work whose address is `key`, and whether somebody else had asked first.

        Whoever is cancelled leaves the others waiting; with the last one the work is dropped, and
        that one waits until it has stopped. Raises what the work raises, to all.
        """
        flight = self._flights.get(key)
        shared = flight is not None
        if flight is None:
            flight = self._flights[key] = self._begun(key, work)
        flight.waiting.append(progress)
        try:
            return await asyncio.shield(flight.task), shared
        finally:
            flight.waiting.remove(progress)
            if not flight.waiting and not flight.task.done():
                # Whoever comes from here on begins anew.
                self._landed(key, flight)
                flight.task.cancel()
                await asyncio.wait({flight.task})
                flight.task.cancelled() or flight.task.exception()

    def _begun(self, key: str, work: Work) -> _Flight:
        def tell(done: int, total: int) -> None:
            for progress in flight.waiting:
                progress(done, total)

        flight = _Flight(asyncio.ensure_future(self._compute(key, work, tell)))
        flight.task.add_done_callback(lambda _: self._landed(key, flight))
        return flight

    def _landed(self, key: str, flight: _Flight) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]
