"""The worker as a process that dies, hangs, is killed and is abandoned, behind a real server."""

import asyncio
import contextlib
import io
import itertools
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import pytest

from app.compute import (
    Catalogue,
    LocalBackend,
    LocalSettings,
    NotReadyError,
    Work,
    WorkerDiedError,
)
from app.compute.backends import UNWATCHED, _process, local
from app.compute.kinds import maps
from app.compute.pool import IDLE_PIECES
from renderers import Subject
from renderers.disc import disc
from tests.closed_forms import positions
from tests.server import FAULTS, START_S, Server, problem

SIDE = 400
SEEDS = itertools.count(1)
GAIN = {"wrt": "gain", "width": SIDE, "height": SIDE}


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with little patience. The last test of this file kills it."""
    running = Server.start(
        tmp_path_factory.mktemp("strict") / "log.txt",
        renderers=[str(FAULTS / "faults.py")],
        memory_budget="1MiB",
        queue=2,
        timeout_s=6,
    )
    try:
        # Asked before there is a worker.
        problem(running.await_answer("/v1/renderers", [503]), 503, "not_ready")
        problem(running.map("paced", GAIN), 503, "not_ready")
        running.await_ready()
        # The first map of a kind takes seconds: torch loads what it needs for it.
        assert_right(running.map("paced", GAIN))
        yield running
    finally:
        running.stop()


def assert_right(answer: httpx2.Response) -> None:
    assert answer.status_code == 200, answer.text[:300]
    values = np.load(io.BytesIO(answer.content), allow_pickle=False)
    expected = positions(SIDE, SIDE)[0].astype(np.float32)[..., None]
    np.testing.assert_allclose(values, expected, rtol=1e-6, atol=1e-7)


def await_right(server: Server) -> float:
    """Ask until a map is right; meanwhile the only other answer is that no worker is up."""
    started = time.monotonic()
    while True:
        answer = server.map("paced", GAIN)
        if answer.status_code == 200:
            assert_right(answer)
            return time.monotonic() - started
        assert "retry-after" in answer.headers
        problem(answer, 503, "not_ready")
        assert time.monotonic() - started < START_S
        time.sleep(0.05)


def until(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def abandoned(server: Server, seconds: float) -> socket.socket:
    """A connection on which a map of many bands is asked for, each of them this long."""
    # Each of its own: of equal ones, one would be computed for all.
    fields = f"wrt=gain&width={SIDE}&height={SIDE}&seconds={seconds}&seed={next(SEEDS)}"
    line = socket.create_connection(("127.0.0.1", server.port), timeout=5)
    line.sendall(f"GET /v1/renderers/paced/map.npy?{fields} HTTP/1.1\r\nHost: h\r\n\r\n".encode())
    return line


def gone(pid: int) -> bool:
    """Whether a process has ended; nobody may have read its status yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_a_map_whose_worker_dies_half_way_is_done_by_the_next(server: Server, marker: Path) -> None:
    marker.unlink(missing_ok=True)
    before = server.worker
    answer = server.map("dies_once", GAIN)
    assert marker.exists()
    assert_right(answer)
    assert server.worker != before


def test_a_map_that_kills_every_worker_is_given_up_and_the_next_is_right(server: Server) -> None:
    answer = server.map("dies_always", GAIN)
    assert "SIGKILL" in problem(answer, 502, "renderer_crashed")["detail"]
    await_right(server)


def test_a_worker_killed_from_outside_is_replaced(server: Server) -> None:
    killed = server.worker
    os.kill(killed, signal.SIGKILL)
    took = await_right(server)
    assert server.worker != killed
    assert took < START_S


def test_of_ten_at_once_one_runs_two_wait_and_seven_are_refused(strict: Server) -> None:
    def ask(seed: int) -> tuple[httpx2.Response, float]:
        with strict.new_client() as client:
            started = time.monotonic()
            # Of equal requests, one would be computed for all.
            fields = {"wrt": "gain", "width": SIDE, "height": 8, "params": {"seconds": 1},
                      "seed": seed}  # fmt: skip
            answer = client.post("/v1/renderers/paced/map?format=npy", json=fields)
            return answer, time.monotonic() - started

    with ThreadPoolExecutor(10) as clients:
        answers = list(clients.map(ask, range(10)))
    admitted = [answer for answer, _ in answers if answer.status_code == 200]
    refused = [(answer, took) for answer, took in answers if answer.status_code != 200]
    assert len(admitted) == 3
    for answer, took in refused:
        problem(answer, 503, "queue_full")
        assert int(answer.headers["retry-after"]) >= 1
        assert took < 0.9, "before a map could have been done"
    assert len({answer.content for answer in admitted}) == 1


def test_a_client_that_goes_away_frees_the_device_at_the_end_of_a_band(strict: Server) -> None:
    line = abandoned(strict, 0.5)  # 7 bands, 3.5 seconds
    time.sleep(0.8)
    line.close()
    started = time.monotonic()
    assert_right(strict.map("paced", GAIN))
    assert time.monotonic() - started < 1.7
    assert strict.client.get("/readyz").json()["waiting"] == 0


def test_a_client_that_goes_away_while_it_waits_leaves_the_queue_at_once(strict: Server) -> None:
    lines = [abandoned(strict, 0.3) for _ in range(3)]
    until(lambda: strict.client.get("/readyz").json()["waiting"] == 2)
    for line in lines[1:]:
        line.close()
    until(lambda: strict.client.get("/readyz").json()["waiting"] == 0, 1.0)
    lines[0].close()
    assert_right(strict.map("paced", GAIN))


def test_fifty_abandoned_maps_leave_nothing_behind(strict: Server) -> None:
    def idle() -> bool:
        return strict.client.get("/readyz").json()["waiting"] == 0

    assert_right(strict.map("paced", GAIN))
    before = strict.descriptors()
    for number in range(50):
        line = abandoned(strict, 0.01)
        time.sleep(0.002 * (number % 25))
        line.close()
    until(idle)
    assert_right(strict.map("paced", GAIN))
    # A few pieces of memory are kept for the next results, and not those of fifty.
    until(lambda: strict.descriptors() <= before + 2 * IDLE_PIECES)

    def held() -> int:
        # The worker hears with the next piece of work what is no longer kept.
        assert_right(strict.map("paced", GAIN))
        targets = [str(p.readlink()) for p in Path(f"/proc/{strict.worker}/fd").iterdir()]
        return sum("sensmap" in target for target in targets)

    until(lambda: held() <= IDLE_PIECES + 1)
    log = strict.log.read_text()
    assert "Traceback" not in log
    assert "Task exception" not in log


def test_a_map_past_its_time_is_stopped_and_what_waits_is_done_by_the_next_worker(
    strict: Server,
) -> None:
    with ThreadPoolExecutor(2) as clients:
        started = time.monotonic()
        endless = clients.submit(lambda: strict.map("forever", GAIN))
        until(lambda: not idle_slot(strict), 2.0)
        waiting = clients.submit(lambda: post_alone(strict))
        assert "6 seconds" in problem(endless.result(), 504, "timed_out")["detail"]
        took = time.monotonic() - started
        assert 5.9 < took < 12
        assert_right(waiting.result())


def idle_slot(server: Server) -> bool:
    """Whether the worker has no result's memory in its hands."""
    held = Path(f"/proc/{server.worker}/fd").iterdir()
    with contextlib.suppress(FileNotFoundError):
        return not any("memfd:sensmap" in str(path.readlink()) for path in held)
    return True


def post_alone(server: Server) -> httpx2.Response:
    with server.new_client() as client:
        return client.post("/v1/renderers/paced/map?format=npy", json=GAIN)


def test_a_killed_server_leaves_no_process_and_no_memory(strict: Server) -> None:
    await_right(strict)
    worker = strict.worker
    line = abandoned(strict, 0.5)
    until(lambda: not idle_slot(strict), 3.0)
    strict.process.kill()
    strict.process.wait()
    line.close()
    until(lambda: gone(worker))
    assert not list(Path("/dev/shm").glob("*sensmap*"))


def work() -> Work:
    return maps.work(disc.spec, maps.Frame(width=4, height=4), Subject())


def test_work_for_a_worker_that_has_just_died_waits_for_the_next() -> None:
    async def test() -> None:
        backend = LocalBackend(LocalSettings(device="cpu", budget=1 << 20))
        ours, theirs = socket.socketpair()
        _, backend._writer = await asyncio.open_connection(sock=ours)
        backend._descriptors, other = socket.socketpair()
        backend.catalogue = Catalogue("cpu")
        theirs.close()
        other.close()
        with pytest.raises(WorkerDiedError):
            await backend.submit(work(), UNWATCHED)
        assert backend.catalogue is None, "or a retry would find the same dead worker"
        backend._writer.close()
        backend._descriptors.close()
        await backend.stop()

    asyncio.run(test())


def test_without_a_worker_nothing_is_computed() -> None:
    async def test() -> None:
        backend = LocalBackend(LocalSettings(device="cpu", budget=1 << 20))
        with pytest.raises(NotReadyError, match="starting"):
            await backend.submit(work(), UNWATCHED)
        await backend.stop()

    asyncio.run(test())


@pytest.mark.parametrize(
    ("status", "cause"),
    [(0, "status 0"), (3, "status 3"), (-9, "signal SIGKILL"), (-11, "signal SIGSEGV"),
     (-40, "signal 40")],
)  # fmt: skip
def test_every_end_of_a_process_has_a_name(status: int, cause: str) -> None:
    assert _process.cause_of(status) == cause


def test_the_worker_gets_no_secret_of_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_SECRET_ACCESS_KEY", "SENSMAP_TOKEN", "DATABASE_URL", "GITHUB_TOKEN"):
        monkeypatch.setenv(name, "secret")
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    given = _process.environment()
    assert "secret" not in given.values()
    assert given["OMP_NUM_THREADS"] == "3"


def test_a_backend_that_cannot_start_a_process_tries_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tries = threading.Semaphore(0)

    async def refuse(*_: Any, **__: Any) -> None:
        tries.release()
        raise OSError(24, "Too many open files")

    async def test() -> None:
        backend = LocalBackend(LocalSettings(device="cpu", budget=1 << 20))
        await backend.start()
        for _ in range(200):
            if tries.acquire(blocking=False):
                break
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        assert "Too many open files" in backend.trouble
        assert tries.acquire(blocking=False), "a second try"
        await backend.stop()

    monkeypatch.setattr(local, "PAUSE_S", 0.02)
    monkeypatch.setattr(asyncio, "create_subprocess_exec", refuse)
    asyncio.run(test())


def test_a_result_for_which_there_is_no_room_is_refused_for_now() -> None:
    with pytest.raises(local.WorkFailedError, match="no room") as caught:
        local.LocalBackend(local.LocalSettings(device="cpu", budget=1))._memory(1 << 62)
    assert caught.value.code == "no_room"
