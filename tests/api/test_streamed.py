"""Rows of a map leave while the rest is computed."""

import asyncio
import io
import time
from collections.abc import Iterator
from typing import Any

import httpx2
import numpy as np
import pytest

from app.api.stream import BegunAnewError, Rows
from app.compute import Result, Work
from app.compute.worker import BETWEEN_S, Channel, Telling
from tests.closed_forms import positions
from tests.server import FAULTS, Server, problem
from tests.tolerances import CLOSED_FORM

SIDE = 400
ASKED = {"wrt": "gain", "width": SIDE, "height": SIDE}
SLOWLY = {**ASKED, "params": {"seconds": 0.2}}

BREAKS = """
import time
from renderers import param, renderer

@renderer(channels="grey")
def breaks(pixels, gain=param(1.0)):
    \"\"\"Raises at the lowest rows; no recording can be made of it.\"\"\"
    lowest = float(pixels.y.min())
    if pixels.width == 400 and pixels.x.numel() > 5000:
        time.sleep(0.05)
        if lowest < -0.9:
            raise ValueError("the lowest rows")
    return gain * pixels.x
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("streaming")
    (folder / "breaks.py").write_text(BREAKS)
    running = Server.start(
        folder / "log",
        renderers=[str(FAULTS / "faults.py"), f"{folder / 'breaks.py'}:breaks"],
        memory_budget="1MiB",
        compile="off",
    )
    running.await_ready()
    running.map("paced", ASKED)
    yield running
    running.stop()


def streamed(server: Server, name: str, asked: dict[str, Any]) -> Any:
    return server.client.stream(
        "POST", f"/v1/renderers/{name}/map?format=npy", json={**asked, "stream": True}
    )


def test_the_first_rows_come_long_before_the_last(server: Server) -> None:
    started = time.monotonic()
    with streamed(server, "paced", SLOWLY) as answer:
        assert answer.status_code == 200
        assert answer.headers["x-sensmap-origin"] == "streamed"
        assert answer.headers["x-sensmap-shape"] == f"{SIDE},{SIDE},1"
        assert answer.headers["x-sensmap-wrt"] == "gain"
        assert "etag" not in answer.headers
        assert "x-sensmap-min" not in answer.headers
        pieces, first = [], 0.0
        for piece in answer.iter_raw():
            pieces.append(piece)
            if not first and sum(map(len, pieces)) > 1000:
                first = time.monotonic() - started
    whole = time.monotonic() - started
    body = b"".join(pieces)
    assert len(body) == int(answer.headers["content-length"])
    assert first < whole / 2
    x, _ = positions(SIDE, SIDE)
    values = np.load(io.BytesIO(body), allow_pickle=False)
    np.testing.assert_allclose(values[:, :, 0], x, rtol=0, atol=CLOSED_FORM["float32"])


def test_what_is_there_at_once_is_answered_as_ever(server: Server) -> None:
    small = {"wrt": "gain", "width": 8, "height": 8}
    with streamed(server, "paced", small) as answer:
        body = answer.read()
    whole = server.map("paced", small)
    assert body == whole.content
    assert answer.headers["x-sensmap-min"] == whole.headers["x-sensmap-min"]


def test_what_fails_before_the_first_row_is_an_error_like_any(server: Server) -> None:
    with streamed(server, "raises", ASKED) as answer:
        answer.read()
    problem(answer, 502, "renderer_failed")


def test_what_fails_after_that_closes_the_connection_before_the_end(server: Server) -> None:
    with streamed(server, "breaks", ASKED) as answer:
        assert answer.status_code == 200
        with pytest.raises(httpx2.RemoteProtocolError):
            answer.read()
    assert server.map("paced", ASKED).status_code == 200
    log = server.log.read_text()
    assert "an answer was broken off" in log
    assert "Traceback" not in log


def test_a_client_that_goes_away_frees_the_device(server: Server) -> None:
    with streamed(server, "paced", {**ASKED, "params": {"seconds": 0.5}}) as answer:
        next(answer.iter_raw())
    started = time.monotonic()
    assert server.map("paced", ASKED).status_code == 200
    assert time.monotonic() - started < 2
    assert server.client.get("/readyz").json()["waiting"] == 0


def test_other_formats_say_that_they_need_all_rows(server: Server) -> None:
    for form in ("png", "npz", "json"):
        answer = server.map("paced", {**ASKED, "stream": True}, form)
        assert "npy" in problem(answer, 422, "not_streamable")["detail"]
    path = f"/v1/renderers/paced/map.npy?wrt=gain&width={SIDE}&height={SIDE}&stream=true"
    assert server.client.get(path).content == server.map("paced", ASKED).content
    answer = server.client.post(
        "/v1/renderers/paced/sweep", json={**ASKED, "along": "seconds", "stream": True}
    )
    assert problem(answer, 422, "unknown_field")["field"] == "stream"


def test_rows_that_no_longer_count_are_never_completed() -> None:
    async def test() -> None:
        array = np.arange(12.0).reshape(4, 3)
        rows = Rows("map")
        rows.watch.begun({"map": array})
        rows.watch.advanced(1, 4)
        rows.watch.begun({"map": array})  # nothing was sent: nothing is lost
        assert rows.next() is None
        rows.watch.advanced(2, 4)
        np.testing.assert_array_equal(rows.next(), array[:2])
        rows.watch.begun({"map": array})
        rows.watch.advanced(3, 4)
        with pytest.raises(BegunAnewError):
            rows.next()
        rows.finished(Result(work=Work(kind="map", renderer=""), arrays={"map": array}, facts={}))
        with pytest.raises(BegunAnewError):
            rows.next()

    asyncio.run(test())


class Told(Channel):
    """A line on which what is said is kept."""

    def __init__(self) -> None:
        self.said: list[dict[str, Any]] = []

    def send(self, **event: Any) -> None:
        self.said.append(event)


def test_a_worker_tells_of_its_progress_now_and_then_and_of_every_new_attempt() -> None:
    channel = Told()
    telling = Telling(channel, 7)
    for done in range(1, 1000):
        telling.progress(done, 1000)
    assert len(channel.said) <= 2, "what is done at once is not told of"
    time.sleep(2 * BETWEEN_S)
    telling.progress(1000, 1000)
    assert telling.attempt == 0
    telling.progress(500, 1000)
    telling.progress(500, 1000)
    assert telling.attempt == 2
    assert channel.said[-1] == {
        "event": "progress", "id": 7, "attempt": 1, "done": 500, "total": 1000,
    }  # fmt: skip
    assert all(event["done"] < 1000 for event in channel.said), "the outcome says so"
