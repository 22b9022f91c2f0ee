"""`sensmap serve` as an operator starts it."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from tests.server import ROOT, START_S, Server

SCENE = """
from torch import Tensor
from renderers import Pixels, param, renderer

@renderer(channels="grey", name="{name}")
class PointCamera:
    def __init__(self, device, dtype):
        self.level = 2.0

    def render(self, pixels: Pixels, level: Tensor = param(1.0)) -> Tensor:
        return self.level * level * pixels.x
"""


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with two renderers of the operator's, and three that do not load."""
    folder = tmp_path_factory.mktemp("scenes")
    (folder / "first.py").write_text(SCENE.format(name="eye"))
    (folder / "second.py").write_text(SCENE.format(name="lens"))
    (folder / "broken.py").write_text("raise ValueError('no texture')")
    unplaced = SCENE.format(name="unplaced").replace("self.level = 2.0", "raise OSError('no file')")
    (folder / "unplaced.py").write_text(unplaced)
    targets = ("first.py:PointCamera", "second.py:lens", "broken.py:mine", "missing.py",
               "unplaced.py")  # fmt: skip
    port = free_port()
    words = ["serve", "--port", str(port), "--device", "cpu"]
    words += [word for target in targets for word in ("--renderer", target)]
    log = folder / "log.txt"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-c", "from app.cli import main; main()", *words],
            cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT), "SENSMAP_PROBE": "0"},
            stdout=subprocess.DEVNULL, stderr=output,
        )  # fmt: skip
    server = Server(process, port, log)
    try:
        yield server.await_ready()
    finally:
        server.stop()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def test_what_does_not_load_is_told_on_stderr_with_the_reason_and_once(serving: Server) -> None:
    reasons = {
        "mine": "ValueError: no texture",
        "missing": "There is no Python file 'missing.py' at the path given.",
        "unplaced": "OSError: no file",
    }
    assert serving.client.get("/readyz").json()["failures"] == len(reasons)
    deadline = time.monotonic() + START_S
    while serving.log.read_text().count("did not load") < len(reasons):
        assert time.monotonic() < deadline, serving.log.read_text()
        time.sleep(0.1)
    time.sleep(1.2)  # it looks again, and says nothing twice
    lines = serving.log.read_text().splitlines()
    for name, why in reasons.items():
        assert lines.count(f"sensmap: renderer {name!r} did not load: {why}") == 1
    assert sum("did not load" in line for line in lines) == len(reasons)


def test_a_file_is_served_by_either_name_of_its_renderer(serving: Server) -> None:
    for name in ("eye", "lens"):
        answer = serving.map(name, {"wrt": "level", "width": 4, "height": 4})
        assert answer.status_code == 200, answer.text
