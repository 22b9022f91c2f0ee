"""Every command and snippet of the README is run, as a reader would run it."""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from docs.generate import generated
from tests.server import Server

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
HOST = "http://127.0.0.1:8000"
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def blocks(language: str) -> list[str]:
    return [text for name, text in BLOCKS if name == language]


def commands() -> list[str]:
    """The lines of the shell blocks, continued lines joined, comments cut off."""
    text = "\n".join(blocks("sh")).replace("\\\n", " ")
    return [line.partition("  #")[0].strip() for line in text.splitlines() if line.strip()]


MAKE = [command for command in commands() if command.startswith("make ")]
CURL = [command for command in commands() if command.startswith("curl ")]
SENSMAP = [command for command in commands() if command.startswith("sensmap ")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A reader's folder, with the scene and the volume that the README speaks of."""
    path = tmp_path_factory.mktemp("reader")
    scene = next(text for text in blocks("python") if "def ripples(" in text)
    (path / "my_scene.py").write_text(scene)
    np.save(path / "head.npy", np.random.default_rng(0).random((8, 9, 10)).astype(np.float32))
    return path


@pytest.fixture(scope="module")
def reader_server(folder: Path) -> Iterator[Server]:
    server = Server.start(folder / "log.txt", renderers=[f"{folder}/my_scene.py:ripples"])
    try:
        yield server.await_ready()
    finally:
        server.stop()


def test_there_is_something_to_run() -> None:
    assert len(MAKE) == 2
    assert len(CURL) >= 4
    assert len(SENSMAP) >= 5
    assert len(MAKE) + len(CURL) + len(SENSMAP) == len(commands())


@pytest.mark.parametrize("command", MAKE)
def test_a_make_command_is_a_target_of_the_makefile(command: str) -> None:
    # The targets themselves are run by CI; `make test` runs this very test.
    target = command.split()[1]
    asked = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, check=False)
    assert asked.returncode == 0, asked.stderr


@pytest.mark.parametrize("command", CURL)
def test_a_curl_command_works_as_written(command: str, reader_server: Server, folder: Path) -> None:
    words = shlex.split(command.replace(HOST, f"http://127.0.0.1:{reader_server.port}"))
    subprocess.run([*words, "--fail", "--silent", "--show-error"], cwd=folder, check=True)
    if "-o" in words:
        written = folder / words[words.index("-o") + 1]
        if written.suffix == ".npy":
            assert np.load(written, allow_pickle=False).dtype == np.float32
        else:
            with Image.open(written) as picture:
                assert picture.width >= 512


@pytest.mark.parametrize("command", [each for each in SENSMAP if " serve" not in each])
def test_a_command_line_works_as_written(command: str, folder: Path) -> None:
    words = shlex.split(command)[1:]
    run = "from app.cli import main; main()"
    environment = {"PYTHONPATH": str(ROOT), "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-c", run, *words], cwd=folder, env=environment, capture_output=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()


def test_the_image_of_the_page_is_there(reader_server: Server) -> None:
    (page,) = blocks("html")
    source = re.search(r'src="([^"]+)"', page)
    assert source is not None
    answer = reader_server.client.get(source[1].removeprefix(HOST))
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/png")


def test_the_conformance_test_of_the_readme_passes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(folder)
    text = next(text for text in blocks("python") if "assert_conforms" in text)
    names: dict[str, object] = {}
    exec(compile(text, "README.md", "exec"), names)
    names["test_ripples_conforms"]()  # type: ignore[operator]


def test_the_generated_parts_are_fresh() -> None:
    assert generated(README) == README, "run `make docs`"


def test_every_picture_is_there() -> None:
    for path in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", README):
        assert (ROOT / path).is_file(), path
