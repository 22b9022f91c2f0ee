from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from app.cli import cli


def run(*words: object) -> tuple[int, str]:
    result = CliRunner().invoke(cli, ["diagonal", *(str(word) for word in words)])
    return result.exit_code, result.output


def test_a_diagonal_is_written_and_its_trace_told(tmp_path: Path) -> None:
    code, said = run("darkroom", "--wrt", "picture", "--set", "softness=0", "--dtype", "float64",
                     "-o", tmp_path / "diagonal.npy", "-o", tmp_path / "diagonal.png")  # fmt: skip
    assert code == 0, said
    values = np.load(tmp_path / "diagonal.npy")
    assert f"trace: {values.sum():.8g}" in said
    assert "by pointwise in 1 passes" in said


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["darkroom", "--wrt", "exposure"], "picture"),
        (["disc", "--wrt", "colour"], "None here is"),
        (["darkroom", "--wrt", "picture", "--method", "stensil"], "Did you mean 'stencil'"),
        (["darkroom", "--wrt", "picture", "--method", "xtrace", "-o", "d.png"], "trace alone"),
    ],
)
def test_what_makes_no_sense_is_said_with_status_2(words: list[str], told: str) -> None:
    code, said = run(*words)
    assert code == 2, said
    assert told in said
