"""`POST .../check`, and what an idle worker finds out of each parameter."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.server import Server

SCENE = """
import os
import torch
from torch import Tensor
from renderers import Pixels, param, renderer

@renderer(channels="grey")
def aab_lost(
    pixels: Pixels, kept: Tensor = param(0.5), lost: Tensor = param(0.3)
) -> Tensor:
    return kept * pixels.x + lost.item() * pixels.y

@renderer(channels="grey")
def aaa_killer(pixels: Pixels, level: Tensor = param(1.0)) -> Tensor:
    if type(pixels.x) is not torch.Tensor or torch._C._functorch.is_functorch_wrapped_tensor(level):
        os.abort()
    return level * pixels.x
"""


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("scene") / "scene.py"
    path.write_text(SCENE)
    return path


@contextmanager
def closing(server: Server) -> Iterator[Server]:
    try:
        yield server
    finally:
        server.stop()


def test_a_check_tells_each_parameter_apart(server: Server) -> None:
    reports = server.client.post("/v1/renderers/disc/check").json()
    assert [report["wrt"] for report in reports] == ["radius", "centre", "softness", "colour"]
    assert all(report["strategy"] == "forward" and report["clean"] for report in reports)
    assert all(report["relative"] < 1e-4 and report["bytes_per_pixel"] > 0 for report in reports)
    assert all(2048 <= report["band"] <= 2048 * 2048 for report in reports)
    one = server.client.post("/v1/renderers/disc/check", json={"wrt": "colour[1]"}).json()
    assert [report["wrt"] for report in one] == ["colour[1]"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"wrt": "radus"}, "unknown_parameter"),
        ({"params": {"radius": 99}}, "out_of_range"),
        ({"width": 3}, "unknown_field"),
    ],
)
def test_a_check_of_what_there_is_not_is_refused(
    server: Server, body: dict[str, object], code: str
) -> None:
    answer = server.client.post("/v1/renderers/disc/check", json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, code)


def test_an_idle_worker_finds_out_and_a_deadly_renderer_becomes_a_failure(
    scene: Path, tmp_path: Path
) -> None:
    files = [f"{scene}:aab_lost", f"{scene}:aaa_killer"]
    with closing(Server.start(tmp_path / "log.txt", renderers=files, probe=True)) as server:
        server.await_ready()
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            listed = server.client.get("/v1/renderers")
            if listed.status_code == 200:
                body = listed.json()
                known = {item["name"]: item["params"] for item in body["renderers"]}
                if "aaa_killer" in body["failures"] and known["aab_lost"]["lost"]["strategy"]:
                    break
            time.sleep(0.3)
        else:
            pytest.fail(f"not found out in time: {listed.text[:500]}")
        assert "SIGABRT" in body["failures"]["aaa_killer"]
        assert known["aab_lost"]["kept"]["strategy"] == "forward"
        assert known["aab_lost"]["lost"]["strategy"] == "finite_difference"
        assert known["aab_lost"]["lost"]["warnings"][0]["code"] == "tangent_lost"
        assert known["aab_lost"]["lost"]["passed_over"][0]["strategy"] == "forward"
        asked = server.client.post("/v1/renderers/aaa_killer/map", json={"wrt": "level"})
        assert (asked.status_code, asked.json()["code"]) == (503, "load_failed")
        right = server.client.post(
            "/v1/renderers/aab_lost/map?format=json", json={"wrt": "lost", "width": 8, "height": 8}
        )
        assert right.status_code == 200
        assert right.headers["x-sensmap-warnings"] == "tangent_lost"


def test_a_forced_strategy_that_is_wrong_is_refused_unless_told_not_to_certify(
    scene: Path, tmp_path: Path
) -> None:
    with closing(Server.start(tmp_path / "log.txt", renderers=[f"{scene}:aab_lost"])) as server:
        server.await_ready()
        body = {"wrt": "lost", "width": 8, "height": 8, "strategy": "forward"}
        refused = server.client.post("/v1/renderers/aab_lost/map?format=json", json=body)
        assert (refused.status_code, refused.json()["code"]) == (422, "strategy_disagrees")
        given = server.client.post(
            "/v1/renderers/aab_lost/map?format=json", json={**body, "certify": False}
        )
        assert given.status_code == 200
        assert float(given.headers["x-sensmap-max"]) == 0.0
