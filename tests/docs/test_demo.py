"""`make demo`, run as a newcomer runs it, in a folder of its own."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.server import ROOT, Server

SERVE = "http://127.0.0.1:8000"
FILES = ("demo/map.png", "demo/map.npy", "demo/image.png")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder in which the demo ran, and what it said."""
    bin_ = Path(sys.executable).parent
    if not (bin_ / "sensmap").is_file() or shutil.which("curl") is None:
        pytest.skip("the demo needs curl, and sensmap to be installed")
    folder = tmp_path_factory.mktemp("demo")
    clean = {key: value for key, value in os.environ.items()
             if not key.startswith("SENSMAP_") and key != "PORT"}  # fmt: skip
    ran = subprocess.run(
        ["sh", ROOT / "examples" / "demo.sh"], cwd=folder, capture_output=True, text=True,
        env={**clean, "BIN": str(bin_)}, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return folder, ran.stdout


def test_the_demo_writes_pictures_and_numbers(demo: tuple[Path, str]) -> None:
    folder, _ = demo
    for name in FILES:
        if name.endswith(".npy"):
            assert np.load(folder / name, allow_pickle=False).shape == (512, 512, 3)
        else:
            with Image.open(folder / name) as picture:
                assert picture.width >= 512


def test_what_the_demo_prints_works_with_the_server_that_it_names(
    demo: tuple[Path, str], server: Server, tmp_path: Path
) -> None:
    folder, said = demo
    commands = re.findall(r"^\$ (curl .*)$", said, re.MULTILINE)
    assert len(commands) == len(FILES)
    (tmp_path / "demo").mkdir()
    for command in commands:
        assert SERVE in command
        words = shlex.split(command.replace(SERVE, f"http://127.0.0.1:{server.port}"))
        subprocess.run([*words, "--fail", "--silent"], cwd=tmp_path, check=True)
    for name in FILES:
        assert (tmp_path / name).stat().st_size == pytest.approx(
            (folder / name).stat().st_size, 0.1
        )
    asked = subprocess.run(["make", "-n", "serve"], cwd=ROOT, capture_output=True, text=True,
                           check=True, env={"PATH": os.environ["PATH"]})  # fmt: skip
    assert "serve --port 8000" in asked.stdout


def test_the_demo_tells_which_server_it_asked(demo: tuple[Path, str]) -> None:
    folder, said = demo
    log = (folder / "demo" / "server.log").read_text()
    (own,) = re.findall(r"sensmap: (http://\S+?)/$", log, re.MULTILINE)
    assert own != SERVE
    assert f"a server of its own at {own}," in said
    assert said.count(own) == 1
