"""What every command line shares: its help, its version, and how soon it is there."""

import subprocess
import sys
import tomllib

import pytest
from typer.testing import CliRunner

from app.cli import cli
from tests.server import ROOT

RUNNER = CliRunner()
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def test_the_version_is_that_of_the_package() -> None:
    result = RUNNER.invoke(cli, ["--version"])
    assert (result.exit_code, result.output) == (0, f"sensmap {VERSION}\n")


def test_the_help_says_what_it_is_and_names_every_command() -> None:
    result = RUNNER.invoke(cli, ["--help"])
    assert result.exit_code == 0
    assert "Sensitivity maps d(image)/d(parameter)" in result.output
    for word in ("check", "map", "renderers", "serve", "sweep", "--version"):
        assert word in result.output


HEAVY = ("torch", "app.engine", "renderers", "fastapi", "uvicorn")
SPY = f"""
import sys
from app.cli import main
try:
    main()
finally:
    print("imported:", *[name for name in {HEAVY} if name in sys.modules])
"""


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["--help"], 0),
        (["--version"], 0),
        (["chekc"], 2),
        (["map", "--help"], 0),
        (["serve", "--help"], 0),
        (["check"], 2),
        (["map", "disc"], 2),
        (["map", "disc", "--wrt", "radius", "--size", "0x3"], 2),
        (["map", "disc", "--wrt", "radius", "--set", "radius"], 2),
        (["map", "disc", "--wrt", "radius", "--dtype", "float16"], 2),
        (["map", "disc", "--wrt", "radius", "--rescale", "2,1"], 2),
        (["map", "disc", "--wrt", "radius", "--colormap", "vikk"], 2),
        (["map", "disc", "--wrt", "radius", "-o", "map.pgn"], 2),
        (["sweep", "--help"], 0),
        (["sweep", "disc"], 2),
        (["sweep", "disc", "--wrt", "radius"], 2),
        (["sweep", "disc", "--along", "radius"], 2),
        (["sweep", "disc", "--wrt", "radius", "--along", "radius", "--values", "one"], 2),
        (
            ["sweep", "disc", "--wrt", "radius", "--along", "radius", "--values", "1", "--to", "1"],
            2,
        ),
        (["sweep", "disc", "--wrt", "radius", "--along", "radius", "--milliseconds", "1"], 2),
        (["sweep", "disc", "--wrt", "radius", "--along", "radius", "-o", "sweep.gif"], 2),
        (["probe", "--help"], 0),
        (["probe", "disc"], 2),
        (["probe", "disc", "--at", "1"], 2),
        (["entries", "disc"], 2),
        (["check", "disc", "--option", "file"], 2),
        (["renderers", "--option", "file"], 2),
        (["serve", "--port", "70000"], 2),
    ],
)
def test_what_needs_no_renderer_waits_for_no_torch(words: list[str], status: int) -> None:
    asked = subprocess.run([sys.executable, "-c", SPY, *words], cwd=ROOT, capture_output=True,
                           text=True, check=False)  # fmt: skip
    assert asked.returncode == status, asked.stderr
    assert asked.stdout.splitlines()[-1] == "imported:"
    assert "Traceback" not in asked.stderr


def test_the_spy_sees_what_is_imported() -> None:
    asked = subprocess.run([sys.executable, "-c", SPY, "map", "spere", "--wrt", "radius"],
                           cwd=ROOT, capture_output=True, text=True, check=False)  # fmt: skip
    assert asked.returncode == 2
    assert asked.stdout.splitlines()[-1] == "imported: torch app.engine renderers"
