"""The process that owns the device: renderers are loaded and differentiated here, one tile a time.

It speaks JSON lines over a socket and gets the memory for results as descriptors over a second
one. Started as `python -m app.compute.worker CONTROL DESCRIPTORS`.
"""

import gc
import json
import logging
import os
import queue
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from mmap import mmap
from typing import Any

from app.compute.compiling import CompileSettings
from app.compute.kinds import KINDS, Run
from app.compute.segment import Segment
from app.compute.studio import Studio, warm_up
from app.compute.work import Work
from app.engine import (
    EngineError,
    keep_temporaries,
    open_device,
    without_paths,
)
from renderers import RendererError, load

# Without a request for so long, the worker finds out what it will be asked.
IDLE_S = 0.5
# Between two words on how far work is: what is done sooner says nothing before it is done.
BETWEEN_S = 0.02
LOG = logging.getLogger("sensmap.worker")


@dataclass(slots=True)
class Channel:
    """The worker's end of the line: requests in, events out."""

    control: socket.socket
    descriptors: socket.socket
    requests: "queue.SimpleQueue[dict[str, Any]]" = field(default_factory=queue.SimpleQueue)
    cancelled: set[int] = field(default_factory=set)
    segments: dict[int, Segment] = field(default_factory=dict)

    def listen(self) -> None:
        """Read requests until the server goes; a cancel is noted at once, work is queued."""
        with self.control.makefile("r", encoding="utf-8") as lines:
            for line in lines:
                message = json.loads(line)
                if message["do"] == "cancel":
                    self.cancelled.add(message["id"])
                else:
                    self.requests.put(message)
        # Nobody is left to answer; whatever runs is of no use to anyone.
        os._exit(0)

    def send(self, **event: Any) -> None:
        """Tell the server."""
        self.control.sendall(json.dumps(event).encode() + b"\n")

    def memory(self, message: Mapping[str, Any]) -> mmap:
        """The memory for a result; what was mapped before stays mapped, its pages in place."""
        for number in message["dropped"]:
            self.segments.pop(number, None)
        number = message["memory"]
        if message["fresh"]:
            _, (descriptor,), *_ = socket.recv_fds(self.descriptors, 1, 1)
            self.segments[number] = Segment.attach(descriptor)
            self.segments[number].close_descriptor()
        return self.segments[number].memory


def serve(channel: Channel) -> None:
    """Load the renderers, say so, and compute what is asked until told to stop."""
    setup = channel.requests.get()
    try:
        device = open_device(setup["device"])
    except EngineError as error:
        channel.send(event="unusable", message=str(error))
        return

    def loading(name: str) -> None:
        channel.send(event="loading", name=name)

    registry = load(setup["files"], loading=loading, skip=setup["skip"])
    compiling = CompileSettings(**setup["compiling"])
    studio = Studio(registry, device, setup["budget"], setup["options"], compiling)
    studio.load_all(loading, setup["skip"])
    warm_up()
    channel.send(
        event="ready",
        device=str(device),
        renderers=[studio.registry.get(n).spec.describe() for n in studio.registry.names()],
        failures={name: without_paths(why) for name, why in studio.registry.failures.items()},
    )
    # What is loaded stays: a look through all of it takes twenty times as long as a small map.
    gc.collect()
    gc.freeze()
    unknown = studio.unknown() if setup["probe"] else None
    while (message := next_request(studio, channel, unknown))["do"] != "stop":
        answer(studio, channel, message)


def next_request(
    studio: Studio, channel: Channel, unknown: Iterator[tuple[str, str]] | None
) -> dict[str, Any]:
    """The next request; until it comes, what will make it faster is done, if it may be.

    What callers have asked for is recorded, then one parameter after another is probed.
    """
    idle = unknown is not None
    while idle:
        try:
            return channel.requests.get(timeout=IDLE_S)
        except queue.Empty:
            if studio.waiting:
                record(studio, channel)
            elif studio.workshop.open:
                compile_next(studio)
            elif found := next(unknown, None) if unknown else None:
                probe(studio, channel, *found)
            else:
                idle = False
    return channel.requests.get()


def record(studio: Studio, channel: Channel) -> None:
    """Make a recording that would have kept a caller waiting. It is told of, as a probe is."""
    channel.send(event="probing", name=studio.waiting)
    try:
        studio.record_one()
    except Exception as error:  # noqa: BLE001 - foreign code may raise anything
        LOG.warning("recording: %s", without_paths(str(error)))
    channel.send(event="probing", name="")


def compile_next(studio: Studio) -> None:
    """See to what is being compiled."""
    try:
        studio.workshop.see_to()
    except Exception:  # whatever a disk or a compiler may do: maps go on as they are
        LOG.exception("compiling")
        studio.workshop.close()


def probe(studio: Studio, channel: Channel, name: str, wrt: str) -> None:
    """Find out how a parameter is differentiated.

    This runs foreign code in ways that may kill the process; it is told of before.
    """
    channel.send(event="probing", name=name)
    try:
        verdict = studio.probe(name, wrt)
        channel.send(event="verdict", renderer=name, wrt=wrt, verdict=verdict)
    except Exception as error:  # noqa: BLE001 - foreign code may raise anything
        LOG.warning("probing %s of %s: %s", wrt, name, without_paths(str(error)))
    channel.send(event="probing", name="")


def answer(studio: Studio, channel: Channel, message: Mapping[str, Any]) -> None:
    """Compute one piece of work and send its outcome."""
    id_ = message["id"]
    memory = channel.memory(message)
    telling = Telling(channel, id_)
    try:
        outcome: dict[str, Any] = {
            "event": "done",
            "facts": done(studio, telling, Work.from_json(message["work"]), memory),
        }
    except (EngineError, RendererError) as error:
        outcome = {
            "event": "failed",
            "code": error.code,
            "field": error.field,
            "message": str(error),
        }
    except SystemExit as error:
        outcome = {
            "event": "failed",
            "code": "renderer_failed",
            "field": "",
            "message": f"The renderer asked its process to exit ({without_paths(str(error))}).",
        }
    except Exception:
        LOG.exception("unexpected error over %s", message["work"].get("renderer"))
        outcome = {
            "event": "failed",
            "code": "internal_error",
            "field": "",
            "message": "The worker made a mistake; it has been logged.",
        }
    finally:
        channel.cancelled.discard(id_)
    channel.send(id=id_, attempt=telling.attempt, **outcome)


def done(studio: Studio, telling: "Telling", work: Work, memory: mmap) -> dict[str, Any]:
    """Do the work, telling of its progress; what is to be said of it."""
    cancelled, id_ = telling.channel.cancelled, telling.id
    run = Run(work.arrays(memory), telling.progress, lambda: id_ in cancelled)
    return KINDS[work.kind](studio, work, run)


class Telling:
    """Tells the server how far a piece of work is, as often as somebody could look at it."""

    def __init__(self, channel: Channel, id_: int) -> None:
        self.channel = channel
        self.id = id_
        self.attempt = 0
        """How often the work has begun anew: by another method, when the first did not hold."""
        self._done = 0
        self._next = time.monotonic() + BETWEEN_S

    def progress(self, done: int, total: int) -> None:
        """Note a band; that the last one is done, the outcome says."""
        self.attempt += done <= self._done
        self._done = done
        now = time.monotonic()
        if now >= self._next and done < total:
            self._next = now + BETWEEN_S
            self.channel.send(
                event="progress", id=self.id, attempt=self.attempt, done=done, total=total
            )


def main(control: int, descriptors: int) -> None:
    """Take the two sockets by their numbers and serve."""
    keep_temporaries()
    # An interrupt at the terminal is for the server, which then stops this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for descriptor in (control, descriptors):
        os.set_inheritable(descriptor, False)
    channel = Channel(socket.socket(fileno=control), socket.socket(fileno=descriptors))
    threading.Thread(target=channel.listen, name="listen", daemon=True).start()
    serve(channel)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
