"""The local backend: a worker process on this machine that owns the device."""

import asyncio
import contextlib
import itertools
import json
import socket
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from app.compute.backends._contract import Catalogue, Watch
from app.compute.backends._process import cause_of, environment
from app.compute.compiling import CompileSettings
from app.compute.errors import NotReadyError, WorkerDiedError, WorkFailedError
from app.compute.pool import Pool
from app.compute.segment import Segment
from app.compute.work import Arrays, Result, Work
from renderers import Spec

# A line holds the parameters of a request, whose body is bounded, or a catalogue of renderers.
LINE_BYTES = 64 << 20
# Between a worker that died at start and the next try.
PAUSE_S = 1.0
# What a worker said last may still be on the line when its process is gone already.
LAST_WORDS_S = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalSettings:
    """How the worker is set up.

    Attributes:
        device: `cpu`, `cuda` or `cuda:N`.
        budget: bytes of working memory beside the result.
        files: the operator's own renderers, `path/to/file.py:name`.
        options: options of renderers, by renderer and name.
        probe: whether the worker finds out, while idle, how parameters are differentiated.
        compiling: what is compiled while it is idle, and where that is kept.
    """

    device: str
    budget: int
    files: tuple[str, ...] = ()
    options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    probe: bool = True
    compiling: CompileSettings = field(default_factory=CompileSettings)


@dataclass(slots=True)
class _Running:
    """Work that the worker has, until its outcome is in."""

    outcome: "asyncio.Future[dict[str, Any]]"
    watch: Watch
    # Not given to another result before the worker has let go of it, whoever has gone.
    arrays: Arrays = field(default_factory=dict)
    attempt: int = 0

    def hear(self, event: Mapping[str, Any]) -> None:
        """Tell who looks on."""
        if event["attempt"] != self.attempt:
            self.attempt = event["attempt"]
            self.watch.begun(self.arrays)
        if event["event"] == "progress":
            self.watch.advanced(event["done"], event["total"])


class LocalBackend:
    """Keeps one worker process alive and hands it work, one piece at a time."""

    def __init__(self, settings: LocalSettings) -> None:
        """Remember the settings; `start` brings the worker up."""
        self.settings = settings
        self.catalogue: Catalogue | None = None
        self.trouble = "The worker is starting."
        self._keeper: asyncio.Task[None] | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._descriptors: socket.socket | None = None
        self._running: dict[int, _Running] = {}
        self._ids = itertools.count(1)
        self._pool = Pool()
        # Numbers of the memory that the worker of now has.
        self._shared: set[int] = set()
        self._skip: dict[str, str] = {}
        self._loading = ""

    async def start(self) -> None:
        """Begin to bring the worker up; returns at once."""
        self._keeper = asyncio.create_task(self._keep_alive())

    async def stop(self) -> None:
        """Stop the worker and wait for it to be gone."""
        if self._keeper:
            self._keeper.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._keeper
        self._kill()
        if self._process:
            await self._process.wait()
        self._pool.close()

    async def replace(self) -> None:
        """Kill the worker; the keeper brings up another."""
        self._kill()

    async def submit(self, work: Work, watch: Watch) -> Result:
        """Compute a piece of work; cancelling the call stops it at the end of a tile."""
        if self.catalogue is None or self._writer is None or self._descriptors is None:
            raise NotReadyError(self.trouble)
        id_ = next(self._ids)
        number, segment = self._memory(work.total_bytes)
        outcome: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._running[id_] = _Running(outcome, watch)
        try:
            fresh = number not in self._shared
            if fresh:
                socket.send_fds(self._descriptors, [b"s"], [segment.descriptor])
                self._shared.add(number)
            dropped = self._pool.dropped()
            self._shared.difference_update(dropped)
            self._send(do="work", id=id_, work=work.to_json(), memory=number, fresh=fresh,
                       dropped=dropped)  # fmt: skip
        except OSError as error:
            self._pool.put(number, segment)
            self._running.pop(id_)
            # Before the end of the line is read: a retry must wait for the next worker.
            self.catalogue = None
            self._kill()
            raise WorkerDiedError("The worker process is gone.") from error
        # From here on it is given back when nobody has an array of it any more.
        arrays = _unwritable(work.arrays(self._pool.lend(number, segment)))
        self._running[id_].arrays = arrays
        watch.begun(arrays)
        try:
            event = await self._outcome(id_, outcome)
        except BaseException:
            del arrays  # else the error's traceback keeps it, until somebody collects garbage
            raise
        if event["event"] == "failed":
            del arrays
            raise WorkFailedError(event["message"], code=event["code"], field=event["field"])
        return Result(work=work, arrays=arrays, facts=event["facts"])

    async def _outcome(self, id_: int, outcome: "asyncio.Future[dict[str, Any]]") -> dict[str, Any]:
        """Wait for the worker's word, also when the caller has gone: then the device is free."""
        try:
            return await asyncio.shield(outcome)
        except asyncio.CancelledError:
            with contextlib.suppress(OSError):
                self._send(do="cancel", id=id_)
            with contextlib.suppress(WorkerDiedError):
                await asyncio.shield(outcome)
            raise

    def _memory(self, size: int) -> tuple[int, Segment]:
        """Memory for a result."""
        try:
            return self._pool.take(size)
        except OSError as error:
            raise WorkFailedError(
                f"The server has no room for a result of {size} bytes just now.", code="no_room"
            ) from error

    def _send(self, **message: Any) -> None:
        if self._writer is None or self._writer.is_closing():
            raise OSError("the line to the worker is closed")
        self._writer.write(json.dumps(message).encode() + b"\n")

    def _kill(self) -> None:
        if self._process and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()

    async def _keep_alive(self) -> None:
        """Bring a worker up, follow it to its end, and bring up the next."""
        while True:
            try:
                was_ready = await self._follow()
            except OSError as error:  # no process or descriptor to be had just now
                self.trouble = f"No worker can be started: {error.strerror}."
                was_ready = False
            if not was_ready:
                await asyncio.sleep(PAUSE_S)

    async def _follow(self) -> bool:
        """One worker from birth to death; says whether it ever was ready."""
        reader = await self._spawn()
        was_ready = False
        hanging_up = asyncio.create_task(self._hang_up())
        try:
            while line := await reader.readline():
                was_ready |= self._hear(json.loads(line))
        except (ConnectionError, ValueError) as error:
            self.trouble = f"The line to the worker broke: {type(error).__name__}."
        finally:
            hanging_up.cancel()
            self.catalogue = None
            self._kill()
            if self._writer:
                self._writer.close()
            if self._descriptors:
                self._descriptors.close()
        assert self._process is not None  # noqa: S101 - `_spawn` made it
        self._bury(await self._process.wait())
        return was_ready

    async def _hang_up(self) -> None:
        """Close the line when the process is gone: a child that a renderer forked holds it open."""
        assert self._process is not None  # noqa: S101 - `_spawn` made them
        assert self._writer is not None  # noqa: S101
        writer = self._writer
        await self._process.wait()
        await asyncio.sleep(LAST_WORDS_S)
        writer.close()

    async def _spawn(self) -> asyncio.StreamReader:
        control, worker_control = socket.socketpair()
        self._descriptors, worker_descriptors = socket.socketpair()
        numbers = (worker_control.fileno(), worker_descriptors.fileno())
        with contextlib.ExitStack() as ours, worker_control, worker_descriptors:
            ours.callback(control.close)
            ours.callback(self._descriptors.close)
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "app.compute.worker",
                *map(str, numbers),
                pass_fds=numbers,
                env=environment(),
                stdin=asyncio.subprocess.DEVNULL,
            )
            ours.pop_all()  # from here on, they are closed at the worker's end
        reader, self._writer = await asyncio.open_connection(sock=control, limit=LINE_BYTES)
        self._loading = ""
        self._shared.clear()
        self._send(
            do="setup",
            device=self.settings.device,
            budget=self.settings.budget,
            files=list(self.settings.files),
            options=self.settings.options,
            skip=self._skip,
            probe=self.settings.probe,
            compiling=asdict(self.settings.compiling),
        )
        return reader

    def _hear(self, event: dict[str, Any]) -> bool:
        """Act on an event of the worker; says whether it is the one that it is ready."""
        kind = event["event"]
        if kind == "loading":
            self._loading = event["name"]
            self.trouble = f"The worker is starting; it loads {self._loading!r}."
        elif kind == "probing":
            self._loading = event["name"]
        elif kind == "unusable":
            self.trouble = event["message"]
        elif kind == "verdict" and self.catalogue:
            known = self.catalogue.verdicts.setdefault(event["renderer"], {})
            known[event["wrt"]] = event["verdict"]
        elif kind == "ready":
            specs = {item["name"]: Spec.from_description(item) for item in event["renderers"]}
            self.catalogue = Catalogue(event["device"], specs, event["failures"])
            self._loading = self.trouble = ""
        elif (running := self._running.get(event["id"])) is not None:
            running.hear(event)
            if kind != "progress":
                del self._running[event["id"]]
                running.outcome.set_result(event)
        return bool(kind == "ready")

    def _bury(self, status: int) -> None:
        """The worker is gone: lay it to the renderer it was loading, and fail what it had."""
        cause = cause_of(status)
        if self._loading:
            self._skip[self._loading] = f"The process died while it was tried out ({cause})."
            self._loading = ""
        if status or not self.trouble:  # one that says why it is of no use ends with status 0
            self.trouble = f"The worker died ({cause}); another one is starting."
        running, self._running = self._running, {}
        for item in running.values():
            if not item.outcome.done():
                item.outcome.set_exception(
                    WorkerDiedError(f"The worker process died over this request ({cause}).")
                )
                # Nobody may be waiting any more; an exception that no one reads is a warning.
                item.outcome.exception()


def _unwritable(arrays: Arrays) -> Arrays:
    """The same arrays: more than one answer may be made of them."""
    for array in arrays.values():
        array.setflags(write=False)
    return arrays
