"""Every command and snippet of the README is run, as a reader would run it."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from app.imaging import FORMATS
from app.testing import assert_conforms
from docs.generate import generated
from renderers import Frame, load_file
from tests.server import Server

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
HOST = "http://127.0.0.1:8000"
SAVED = dict(
    re.findall(
        r"[Ss]ave this as `(\w+\.py)`[^`]*```python\n(.*?)^```$", README, re.DOTALL | re.MULTILINE
    )
)
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
ACTIVATE = ". .venv/bin/activate"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A reader's folder, with the scenes and the volume that the README speaks of."""
    path = tmp_path_factory.mktemp("reader")
    for name, text in SAVED.items():
        (path / name).write_text(text)
    np.save(path / "head.npy", np.random.default_rng(0).random((8, 9, 10)).astype(np.float32))
    return path


@pytest.fixture(scope="module")
def reader_server(folder: Path) -> Iterator[Server]:
    server = Server.start(folder / "log.txt", renderers=[f"{folder}/{name}" for name in SAVED])
    try:
        yield server.await_ready()
    finally:
        server.stop()


def test_there_is_something_to_run() -> None:
    assert len(MAKE) == 2
    assert len(CURL) >= 4
    assert len(SENSMAP) >= 5
    assert commands().count(ACTIVATE) == 1
    assert len(MAKE) + len(CURL) + len(SENSMAP) + 1 == len(commands())
    assert set(SAVED) == {"my_scene.py", "more_scenes.py"}


def test_an_activated_shell_has_the_command() -> None:
    script = Path(sys.prefix) / "bin" / "activate"
    if not script.is_file() or not (script.parent / "sensmap").is_file():
        pytest.skip("these tests run outside a virtual environment")
    asked = subprocess.run(
        ["sh", "-c", f". {shlex.quote(str(script))} && command -v sensmap && sensmap --version"],
        capture_output=True, text=True, env={"PATH": os.environ["PATH"]}, check=True,
    )  # fmt: skip
    where, said = asked.stdout.splitlines()
    assert Path(where) == script.parent / "sensmap"
    assert said.startswith("sensmap ")


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
        elif written.suffix == ".npz":
            assert len(np.load(written, allow_pickle=False).files) >= 3
        else:
            with Image.open(written) as picture:
                assert picture.width >= 256


@pytest.mark.parametrize("command", [each for each in SENSMAP if " serve" not in each])
def test_a_command_line_works_as_written(command: str, folder: Path) -> None:
    words = shlex.split(command)[1:]
    run = "from app.cli import main; main()"
    # A compiler is found along the path; nothing else needs one.
    path = os.environ["PATH"] if words[0] == "compile" else ""
    compiled = str(folder / "compiled")
    environment = {"PYTHONPATH": str(ROOT), "PATH": path, "SENSMAP_COMPILE_FOLDER": compiled}
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


def test_the_twins_are_named_and_there(reader_server: Server) -> None:
    fields = {"map": {"wrt": "radius", "width": 8}, "image": {"width": 8}}
    named = re.findall(r"`(map|image)\.(\w+)`", README)
    assert {(kind, form) for kind in fields for form in FORMATS} == set(named)
    for kind, form in named:
        by_get = reader_server.client.get(
            f"/v1/renderers/sphere/{kind}.{form}", params=fields[kind]
        )
        by_post = reader_server.client.post(
            f"/v1/renderers/sphere/{kind}?format={form}", json=fields[kind]
        )
        assert (by_get.status_code, by_post.status_code) == (200, 200)
        assert by_get.headers["content-type"] == by_post.headers["content-type"]


def test_the_archive_is_read_as_written(
    reader_server: Server, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (fetch,) = [command for command in CURL if command.endswith("-o map.npz")]
    words = shlex.split(fetch.replace(HOST, f"http://127.0.0.1:{reader_server.port}"))
    subprocess.run([*words, "--fail", "--silent"], cwd=folder, check=True)
    monkeypatch.chdir(folder)
    text = next(text for text in blocks("python") if "np.load" in text)
    names: dict[str, Any] = {}
    exec(compile(text, "README.md", "exec"), names)
    assert names["values"].shape == names["image"].shape == (512, 512, 3)
    said = re.findall(r'"(\w+)"', text.rpartition("#")[2].partition("metadata = ")[0])
    assert len(said) == 5
    assert set(said) <= set(names["metadata"])
    with np.load("map.npz") as file:
        assert set(re.findall(r'file\["(\w+)"\]', text)) == set(file.files)


def test_positions_are_where_they_are_said_to_be() -> None:
    found = re.search(
        r"At (\d)x(\d) pixels, `x` is ([-\d., ]+) along each\s+row and `y` is (\S+) in the first "
        r"row, the top one, and (\S+) in the last\.", README,
    )  # fmt: skip
    assert found is not None
    width, height = int(found[1]), int(found[2])
    pixels = Frame(width, height, 0, height, torch.device("cpu"), torch.float64).pixels()
    assert pixels.x.tolist() == [[float(text) for text in found[3].split(",")]] * height
    assert pixels.y[:, 0].tolist() == [float(found[4]), float(found[5])]


@pytest.mark.parametrize("name", SAVED)
def test_the_renderers_of_the_readme_conform(name: str, folder: Path) -> None:
    for found in load_file(str(folder / name)):
        assert_conforms(found)


def test_a_halo_of_the_readme_is_wide_enough(folder: Path) -> None:
    (soft_rings,) = load_file(f"{folder}/more_scenes.py:soft_rings")
    placed, params = soft_rings.load(), soft_rings.spec.bind({})
    halo = soft_rings.spec.halo
    assert halo is not None
    whole, rows = (
        placed(Frame(40, 40, start, stop, torch.device("cpu"), torch.float64), params)
        for start, stop in ((0, 40), (12 - halo, 20 + halo))
    )
    assert torch.allclose(whole[12:20], rows[halo:-halo], rtol=1e-12, atol=1e-12)
    assert not torch.allclose(whole[12 - 1], rows[halo - 1], rtol=1e-12, atol=1e-12)


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
