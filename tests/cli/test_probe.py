import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from app.cli import cli


def run(*words: object) -> tuple[int, str]:
    result = CliRunner().invoke(cli, [str(word) for word in words])
    return result.exit_code, result.output


def test_regions_are_told_and_written(tmp_path: Path) -> None:
    weights = np.zeros((16, 20), np.uint8)
    weights[7, 14] = 255
    np.save(tmp_path / "mask.npy", weights > 0)
    Image.fromarray(weights).save(tmp_path / "mask.png")
    masks = [word for name in ("mask.npy", "mask.png") for word in ("--mask", tmp_path / name)]
    outputs = ["-o", tmp_path / "told.json", "-o", tmp_path / "told.npz"]
    code, said = run("probe", "disc", "--at", "14,7", "--rectangle", "14,7,15,8", *masks,
                     "--size", "20x16", *outputs)  # fmt: skip
    assert code == 0, said
    told = json.loads((tmp_path / "told.json").read_text())
    # Four ways to say one pixel.
    found = [region["gradients"]["radius"] for region in told["regions"]]
    assert found == pytest.approx([found[0]] * 4)
    assert found[0] > 0.1
    assert f"{found[0]:.4g}" in said
    assert np.load(tmp_path / "told.npz")["gradients/colour"].shape == (4, 3)


def test_what_moves_a_pixel_is_a_picture(tmp_path: Path) -> None:
    code, said = run("probe", "darkroom", "--wrt", "picture", "--at", "10,40", "--size", "64x48",
                     "-o", tmp_path / "moved.png")  # fmt: skip
    assert code == 0, said
    with Image.open(tmp_path / "moved.png") as shown:
        assert shown.width >= 256


def test_entries_are_told_and_written(tmp_path: Path) -> None:
    code, said = run("entries", "disc", "--output", "14,7,0", "--output", "14,7,g", "--size",
                     "20x16", "--entry", "radius,colour[1]", "-o", tmp_path / "told.npy",
                     )  # fmt: skip
    assert code == 0, said
    matrix = np.load(tmp_path / "told.npy")
    assert matrix.shape == (2, 2)
    # Red is 1 and green 0.4, and neither depends on the other's colour.
    assert matrix[1, 0] == pytest.approx(0.4 * matrix[0, 0])
    assert matrix[0, 1] == 0 < matrix[1, 1]
    assert "colour[1]" in said


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["probe", "disc"], "--at"),
        (["probe", "disc", "--at", "1"], "X,Y"),
        (["probe", "disc", "--rectangle", "1,2,3"], "X0,Y0,X1,Y1"),
        (["probe", "disc", "--at", "9,9"], "frame"),
        (["probe", "disc", "--at", "1,1", "--channel", "alpha"], "channel"),
        (["probe", "disc", "--mask", "nowhere.npy"], "nowhere.npy"),
        (["probe", "disc", "--at", "1,1", "-o", "told.npy"], "npz"),
        (["probe", "disc", "--at", "1,1", "-o", "told.png"], "image"),
        (["entries", "disc"], "--output"),
        (["entries", "disc", "--output", "1,1", "--entry", "radius"], "CHANNEL"),
        (["entries", "disc", "--output", "1,1,0", "--entry", "radios"], "radius"),
    ],
)
def test_what_makes_no_sense_is_said_with_status_2(words: list[str], told: str) -> None:
    code, said = run(*words, "--size", "8x8")
    assert code == 2, said
    assert told in said
