"""What every command line shares: its help, its version, and how soon it is there."""

import tomllib

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
    for word in ("check", "map", "renderers", "serve", "--version"):
        assert word in result.output
