"""The server on loopback beside the engine: what HTTP adds to a map, and whether health answers."""

import http.client
import json
import os
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2

from benchmarks.machine import Row
from benchmarks.peers.ours import FOLDER

READY_S = 60
# Where an answer is read into, written once so that it is mapped.
ROOM = memoryview(bytearray(b"\1" * (1 << 20)))


@contextmanager
def server(**settings: str) -> Iterator[httpx2.Client]:
    """A real server on a free port, and a client of it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-c", "from app.cli import main; main()", "serve"]
    process = subprocess.Popen(
        [*command, "--port", str(port)],
        env={**os.environ, "SENSMAP_PROBE": "false", **settings},
        stderr=subprocess.DEVNULL,
    )
    try:
        with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=300) as client:
            wait_until_ready(client)
            yield client
    finally:
        process.terminate()
        process.wait()


def wait_until_ready(client: httpx2.Client) -> None:
    """Ask until the worker is up."""
    deadline = time.monotonic() + READY_S
    while time.monotonic() < deadline:
        try:
            if client.get("/readyz").status_code == 200:
                return
        except httpx2.TransportError:
            pass
        time.sleep(0.1)
    raise TimeoutError("the server did not become ready")


def added(client: httpx2.Client, form: str, side: int, goal: float, repeats: int) -> Row:
    """Wall time of a request at the client over the engine's own time, in percent more."""
    more: list[float] = []
    walls: list[float] = []
    for index in range(repeats + 1):
        # Another value each time: nothing may be answered from memory.
        radius = 0.6 + 0.001 * index
        body = {"wrt": "radius", "params": {"radius": radius}, "width": side, "height": side}
        started = time.perf_counter()
        timing = posted(client, f"/v1/renderers/sphere/map?format={form}", body)
        wall = time.perf_counter() - started
        more.append(100 * (wall / engine_seconds(timing) - 1))
        walls.append(wall)
    more, walls = more[1:], walls[1:]
    return Row(
        f"`.{form}` of `sphere` {side}x{side} over HTTP: added to the engine call",
        statistics.median(more), goal, "%", spread=(min(more), max(more)),
        note=f"{1e3 * statistics.median(walls):.0f} ms in all",
    )  # fmt: skip


def posted(client: httpx2.Client, path: str, body: dict[str, object]) -> str:
    """Post and read it all; the `Server-Timing` header.

    By the standard library's client, straight into memory that is there already: a parser in
    Python, or the mapping of fifty new megabytes, would take longer than the server.
    """
    line = http.client.HTTPConnection(client.base_url.host, client.base_url.port or 80)
    try:
        line.request("POST", path, json.dumps(body))
        answer = line.getresponse()
        if answer.status != 200:
            raise RuntimeError(answer.read(500))
        while answer.readinto(ROOM):
            pass
        return answer.headers["server-timing"]
    finally:
        line.close()


def engine_seconds(timing: str) -> float:
    """Seconds of the engine's stages in a `Server-Timing` header."""
    stages = dict(item.strip().split(";dur=") for item in timing.split(","))
    return sum(float(stages[name]) for name in ("plan", "compute", "certify")) / 1e3


def latency(client: httpx2.Client, side: int, goal_ms: float, repeats: int) -> Row:
    """Median wall time of a PNG, another value each time, over one connection."""
    line = http.client.HTTPConnection(client.base_url.host, client.base_url.port or 80)
    taken: list[float] = []
    tiles = ""
    for index in range(repeats + 5):
        body = {"wrt": "radius", "params": {"radius": 0.5 + 1e-4 * index}, "width": side,
                "height": side}  # fmt: skip
        started = time.perf_counter()
        line.request("POST", "/v1/renderers/sphere/map?format=png", json.dumps(body))
        answer = line.getresponse()
        answer.read()
        taken.append(1e3 * (time.perf_counter() - started))
        tiles = answer.headers["x-sensmap-tiles"]
    line.close()
    taken = sorted(taken[5:])
    return Row(
        f"`.png` of `sphere` {side}x{side} over HTTP, {tiles}, certified: p50",
        statistics.median(taken), goal_ms, "ms", spread=(taken[0], taken[len(taken) * 9 // 10]),
        note="in brackets the fastest, and what nine of ten stay below",
    )  # fmt: skip


def start(folder: str) -> Iterator[Row]:
    """From nothing to ready and to the first map; then maps that were compiled before."""
    started = time.perf_counter()
    with server(SENSMAP_PROBE="true", SENSMAP_COMPILE="ahead",
                SENSMAP_COMPILE_FOLDER=folder) as client:  # fmt: skip
        ready = time.perf_counter() - started
        body = {"wrt": "radius", "width": 512, "height": 512}
        started = time.perf_counter()
        client.post("/v1/renderers/sphere/map?format=png", json=body).raise_for_status()
        yield Row("cold start: ready", ready, 6.0, "s")
        first = time.perf_counter() - started
        yield Row("cold start: first map of `sphere`, 512x512, once ready", first, 3.0, "s")
        deadline = time.monotonic() + READY_S
        while time.monotonic() < deadline:
            time.sleep(2)
            again = client.post("/v1/renderers/sphere/map?format=json", json=body)
            if again.headers["x-sensmap-tiles"] == "compiled":
                break
        yield latency(client, 64, 8.0, 100)
        yield latency(client, 512, 30.0, 50)


def health(client: httpx2.Client, side: int, goal_ms: float) -> Row:
    """99th percentile of `/healthz` while the worker computes without a pause."""
    busy = threading.Event()
    busy.set()

    def compute() -> None:
        with httpx2.Client(base_url=client.base_url, timeout=300) as other:
            index = 0
            while busy.is_set():
                index += 1
                body = {"wrt": "radius", "params": {"radius": 0.5 + 1e-4 * index},
                        "width": side, "height": side}  # fmt: skip
                other.post("/v1/renderers/sphere/map?format=json", json=body)

    thread = threading.Thread(target=compute)
    thread.start()
    taken: list[float] = []
    try:
        for _ in range(400):
            started = time.perf_counter()
            client.get("/healthz").raise_for_status()
            taken.append(1e3 * (time.perf_counter() - started))
            time.sleep(0.01)
    finally:
        busy.clear()
        thread.join()
    p99 = statistics.quantiles(taken, n=100)[98]
    return Row("`/healthz` while the worker is busy: p99", p99, goal_ms, "ms",
               note=f"median {statistics.median(taken):.1f} ms")  # fmt: skip


def rows(side: int, repeats: int) -> Iterator[Row]:
    """The table of this file."""
    with server() as client:
        yield added(client, "npy", side, 15.0, repeats)
        yield added(client, "png", side, 25.0, repeats)
        yield health(client, side, 50.0)
        yield latency(client, 64, 8.0, 100)
    yield from start(str(FOLDER))
