"""A map that is sent while it is computed: its rows leave in order, as they are done."""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from app.api.dependencies import disconnected, ended
from app.compute import ComputeError, Result, Scheduler, Watch, Work
from app.imaging import Encoding

# A body is handed to the socket in pieces of about this size, so that a slow client is noticed.
PIECE_BYTES = 1 << 20
LOG = logging.getLogger("sensmap")


class BegunAnewError(Exception):
    """The work began anew, by another method, when some of it had been sent."""


class Rows:
    """One array of work under way, as far as it is done and not yet sent."""

    def __init__(self, name: str) -> None:
        """Look on at the array of this name."""
        self.name = name
        self.watch = Watch(self._begun, self._advanced)
        self.changed = asyncio.Event()
        self.array: NDArray[Any] | None = None
        self._done = 0
        self._sent = 0
        self._anew = False

    @property
    def waiting(self) -> int:
        """How many rows are done and not sent."""
        return self._done - self._sent

    def finished(self, result: Result) -> None:
        """All of them are done."""
        self.array = result.arrays[self.name]
        self._done = len(self.array)

    def next(self) -> NDArray[Any] | None:
        """Some of them, about as many as make a piece; None where there are none.

        Raises:
            BegunAnewError: what was sent no longer counts.
        """
        self.changed.clear()
        if self._anew:
            raise BegunAnewError("the work began anew when some of it had been sent")
        if self.array is None or self.waiting <= 0:
            return None
        most = max(1, PIECE_BYTES // self.array[0].nbytes)
        start, self._sent = self._sent, min(self._done, self._sent + most)
        return self.array[start : self._sent]

    def _begun(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._anew |= self._sent > 0
        self.array, self._done = arrays[self.name], 0
        self.changed.set()

    def _advanced(self, done: int, _total: int) -> None:
        self._done = done
        self.changed.set()


@dataclass(frozen=True, slots=True, eq=False)
class Begun:
    """Work under way of which some rows are done.

    Attributes:
        rows: those.
        running: the work.
        gone: done when the client has gone.
    """

    rows: Rows
    running: "asyncio.Future[Result]"
    gone: "asyncio.Future[None]"

    async def changed(self) -> None:
        """Wait for more rows, or for the end.

        Raises:
            ClientDisconnect: the client went away.
        """
        more = asyncio.ensure_future(self.rows.changed.wait())
        waited: set[asyncio.Future[Any]] = {more, self.running, self.gone}
        try:
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        finally:
            more.cancel()
        if self.gone.done() and not self.running.done():
            self.gone.result()
            raise ClientDisconnect


class Streamed(Response):
    """A file whose rows are sent as they are done.

    Its length is known. Where the work fails or begins anew the connection is closed before that,
    which every client takes for the failure that it is.
    """

    def __init__(self, begun: Begun, form: Encoding[Any], headers: Mapping[str, str]) -> None:
        array = begun.rows.array
        assert array is not None  # noqa: S101 - some are done
        assert form.head is not None  # noqa: S101 - it was asked for by rows
        self.head = form.head(array)
        size = len(self.head) + array.nbytes
        super().__init__(headers={**headers, "Content-Length": str(size)})
        self.headers["Content-Type"] = form.media_type
        self.begun = begun

    async def __call__(
        self,
        scope: Scope,  # noqa: ARG002 - the interface's
        receive: Receive,  # noqa: ARG002
        send: Send,
    ) -> None:
        """Send the headers, then rows until there are no more."""
        rows, running = self.begun.rows, self.begun.running
        try:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            await send(_body(self.head))
            while not running.done():
                await _sent(rows, send)
                await self.begun.changed()
            rows.finished(running.result())
            await _sent(rows, send)
            await send({"type": "http.response.body", "body": b""})
        except (BegunAnewError, ComputeError) as error:
            # The server closes a connection whose answer it was not given to the end.
            LOG.warning("an answer was broken off: %s", error)
        except ClientDisconnect:
            pass
        finally:
            await ended(running, self.begun.gone)


async def _sent(rows: Rows, send: Send) -> None:
    """Send what is done by now."""
    while (some := rows.next()) is not None:
        await send(_body(some.reshape(-1).view(np.uint8).data))


def _body(piece: bytes | memoryview) -> Message:
    return {"type": "http.response.body", "body": piece, "more_body": True}


async def begun(receive: Receive, scheduler: Scheduler, work: Work, name: str) -> Result | Begun:
    """Begin, until some rows are done: what fails before can still be answered as an error.

    Args:
        receive: tells when the client goes away.
        scheduler: who computes.
        work: what is computed.
        name: which of its arrays is sent.

    Returns:
        the result, where it is there as soon.

    Raises:
        ComputeError: it cannot be computed.
        ClientDisconnect: the client went away.
    """
    rows = Rows(name)
    running = asyncio.ensure_future(scheduler.run(work, rows.watch))
    found = Begun(rows, running, asyncio.ensure_future(disconnected(receive)))
    try:
        while not (rows.waiting > 0 or running.done()):
            rows.changed.clear()
            await found.changed()
        if not running.done():
            return found
        result = running.result()
    except BaseException:
        await ended(running, found.gone)
        raise
    await ended(found.gone)
    return result
