"""The process that owns the device: renderers are loaded and differentiated here, one tile a time.

It speaks JSON lines over a socket and gets the memory for results as descriptors over a second
one. Started as `python -m app.compute.worker CONTROL DESCRIPTORS`.
"""

import json
import logging
import os
import queue
import signal
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from app.compute.segment import Segment
from app.compute.work import Work
from app.engine import (
    Arrays,
    Cost,
    EngineError,
    SensitivityMap,
    Task,
    open_device,
    sensitivity_map,
    trial_cost,
    without_paths,
)
from renderers import Loaded, LoadError, Registry, RendererError, load, parse_wrt, reason

LOG = logging.getLogger("sensmap.worker")
DTYPES = {"float32": torch.float32, "float64": torch.float64}


@dataclass(slots=True)
class Channel:
    """The worker's end of the line: requests in, events out."""

    control: socket.socket
    descriptors: socket.socket
    requests: "queue.Queue[dict[str, Any]]" = field(default_factory=queue.Queue)
    cancelled: set[int] = field(default_factory=set)

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

    def segment(self) -> Segment:
        """The memory for the next result."""
        _, (descriptor,), *_ = socket.recv_fds(self.descriptors, 1, 1)
        return Segment.attach(descriptor)


class Studio:
    """The renderers on the device, and what is known of their cost."""

    def __init__(
        self,
        registry: Registry,
        device: torch.device,
        budget: int,
        options: Mapping[str, Mapping[str, str]],
    ) -> None:
        self.registry = registry
        self.device = device
        self.budget = budget
        self.options = options
        self._loaded: dict[tuple[str, str], Loaded] = {}
        self._costs: dict[tuple[str, str, str, str], Cost] = {}

    def loaded(self, name: str, dtype: str) -> Loaded:
        """A renderer on the device; loaded when it is first asked for in that dtype."""
        key = (name, dtype)
        if key not in self._loaded:
            source = self.registry.get(name)
            try:
                loaded = source.load(self.device, DTYPES[dtype], self.options.get(name))
            except (Exception, SystemExit) as error:  # foreign code
                raise LoadError(without_paths(reason(error))) from error
            self._loaded[key] = loaded
        return self._loaded[key]

    def load_all(self, loading: Callable[[str], None], skip: Mapping[str, str]) -> None:
        """Load every renderer once, so that a missing file is known before it is asked for."""
        for name in self.registry.names():
            if name in skip:
                self.registry = self.registry.fail(name, skip[name])
                continue
            loading(name)
            try:
                self.loaded(name, "float32")
            except LoadError as error:
                self.registry = self.registry.fail(name, str(error))

    def compute(self, work: Work, segment: Segment, channel: Channel, id_: int) -> SensitivityMap:
        """Compute a map into the segment, telling of its progress."""
        loaded = self.loaded(work.renderer, work.dtype)
        task = Task(
            params=loaded.spec.bind(work.params),
            wrt=parse_wrt(work.wrt, loaded.spec.params) if work.wrt else None,
            width=work.width,
            height=work.height,
            seed=work.seed,
            strategy=work.strategy,
        )
        key = (work.renderer, work.wrt, work.dtype, work.strategy)
        if key not in self._costs:
            self._costs[key] = trial_cost(loaded, task)
        image, values = work.arrays(segment)
        return sensitivity_map(
            loaded,
            task,
            budget=self.budget,
            cost=self._costs[key],
            out=Arrays(image=image, values=values),
            progress=lambda done, total: channel.send(
                event="progress", id=id_, done=done, total=total
            ),
            cancelled=lambda: id_ in channel.cancelled,
        )


def facts(result: SensitivityMap) -> dict[str, Any]:
    """What is said of a finished map beside its arrays."""
    return {
        "strategy": result.strategy,
        "statistics": result.statistics.describe(),
        "rows": result.plan.rows,
        "tangents": result.plan.tangents,
        "halvings": result.halvings,
        "seconds": result.seconds,
        "peak_bytes": result.peak_bytes,
    }


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
    studio = Studio(registry, device, setup["budget"], setup["options"])
    studio.load_all(loading, setup["skip"])
    channel.send(
        event="ready",
        device=str(device),
        renderers=[studio.registry.get(n).spec.describe() for n in studio.registry.names()],
        failures={name: without_paths(why) for name, why in studio.registry.failures.items()},
    )
    while (message := channel.requests.get())["do"] != "stop":
        answer(studio, channel, message)


def answer(studio: Studio, channel: Channel, message: Mapping[str, Any]) -> None:
    """Compute one piece of work and send its outcome."""
    id_ = message["id"]
    segment = channel.segment()
    try:
        result = studio.compute(Work.from_json(message["work"]), segment, channel, id_)
        outcome: dict[str, Any] = {"event": "done", "facts": facts(result)}
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
        segment.close_descriptor()
        channel.cancelled.discard(id_)
    channel.send(id=id_, **outcome)


def main(control: int, descriptors: int) -> None:
    """Take the two sockets by their numbers and serve."""
    # An interrupt at the terminal is for the server, which then stops this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for descriptor in (control, descriptors):
        os.set_inheritable(descriptor, False)
    channel = Channel(socket.socket(fileno=control), socket.socket(fileno=descriptors))
    threading.Thread(target=channel.listen, name="listen", daemon=True).start()
    serve(channel)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
