import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from app.cli import cli


def run(*words: object) -> tuple[int, str]:
    result = CliRunner().invoke(cli, ["information", *(str(word) for word in words)])
    return result.exit_code, result.output


def test_bounds_are_told_and_written(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("told.json", "told.png", "told.npz")]
    outputs = [word for file in files for word in ("-o", file)]
    code, said = run("disc", "--wrt", "radius,softness", "--size", "20x16", "--sigma", "0.1",
                     *outputs)  # fmt: skip
    assert code == 0, said
    assert "All 2 parameters can be told apart." in said
    told = json.loads(files[0].read_text())
    assert told["request"]["noise"] == {"sigma": 0.1}
    assert f"{told['bounds'][0]:.3g}" in said
    with Image.open(files[1]) as shown:
        assert shown.width > 40
    assert np.load(files[2])["information"].shape == (16, 20, 2)


def test_what_an_image_confuses_is_told_with_status_1() -> None:
    code, said = run("sphere", "--wrt", "light", "--size", "24x24")
    assert code == 1, said
    assert "not determined" in said
    assert "cannot be told apart" in said


def test_a_variance_comes_from_a_file(tmp_path: Path) -> None:
    np.save(tmp_path / "variance.npy", np.full((16, 20), 0.04))
    same = [run("disc", "--wrt", "radius", "--size", "20x16", *noise)
            for noise in (("--variance", tmp_path / "variance.npy"), ("--sigma", 0.2))]  # fmt: skip
    assert same[0] == same[1]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--sigma", "0.1", "--photons", "5"], "one of"),
        (["--sigma", "0"], "sigma"),
        (["--picture", "map"], "dominant"),
        (["-o", "told.npy"], "npz"),
        (["--variance", "nowhere.npy"], "nowhere.npy"),
        (["--wrt", "radios"], "radius"),
    ],
)
def test_what_makes_no_sense_is_said_with_status_2(words: list[str], told: str) -> None:
    code, said = run("disc", "--size", "8x8", *words)
    assert code == 2, said
    assert told in said
