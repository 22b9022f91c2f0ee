import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from app.cli import cli

RUNNER = CliRunner()
SCENE = """
from torch import Tensor
from renderers import Pixels, param, renderer

@renderer(channels="grey")
def ramp(pixels: Pixels, slope: Tensor = param(2.0)) -> Tensor:
    return slope * pixels.x
"""


def run(*arguments: object) -> tuple[int, str]:
    result = RUNNER.invoke(cli, [str(argument) for argument in arguments])
    return result.exit_code, result.output


def test_a_map_is_written_in_the_format_of_each_suffix(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("map.png", "map.npy", "map.npz", "map.json")]
    outputs = [word for file in files for word in ("-o", file)]
    code, said = run("map", "disc", "--wrt", "radius", "--set", "radius=0.7", "--size", "40x30",
                     "--image", tmp_path / "image.png", *outputs)  # fmt: skip
    assert code == 0, said
    with Image.open(files[0]) as picture, Image.open(tmp_path / "image.png") as image:
        assert (picture.size, image.size, image.mode) == ((40, 30), (40, 30), "RGB")
    assert np.load(files[1], allow_pickle=False).shape == (30, 40, 3)
    assert json.loads(files[3].read_text())["request"]["params"] == {"radius": 0.7}
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(
        ["image.png", *(f.name for f in files)]
    )


def test_a_file_of_ones_own_is_mapped(tmp_path: Path) -> None:
    (tmp_path / "scene.py").write_text(SCENE)
    code, said = run("map", "ramp", "--wrt", "slope", "--renderer", f"{tmp_path}/scene.py:ramp",
                     "--size", "4x4", "-o", tmp_path / "map.npy")  # fmt: skip
    assert code == 0, said
    assert np.load(tmp_path / "map.npy")[0, :, 0].tolist() == [-0.75, -0.25, 0.25, 0.75]


def test_what_is_doubtful_of_a_map_is_said(tmp_path: Path) -> None:
    (tmp_path / "scene.py").write_text(SCENE.replace("slope *", "float(slope) *"))
    code, said = run("map", f"{tmp_path}/scene.py:ramp", "--wrt", "slope", "--size", "4x4",
                     "-o", tmp_path / "map.npy")  # fmt: skip
    assert code == 0, said
    assert "tangent_lost: " in said
    assert np.load(tmp_path / "map.npy")[0, :, 0] == pytest.approx([-0.75, -0.25, 0.25, 0.75])


def test_a_zero_has_no_sign(tmp_path: Path) -> None:
    text = SCENE.replace("slope * pixels.x", "-slope * pixels.x.clamp(min=0)")
    (tmp_path / "scene.py").write_text(text.replace("param(2.0)", "param(-0.0)"))
    code, said = run("map", f"{tmp_path}/scene.py:ramp", "--wrt", "slope", "--size", "4x4",
                     "-o", tmp_path / "map.npy")  # fmt: skip
    assert code == 0, said
    assert np.signbit(np.load(tmp_path / "map.npy").max())
    assert "-0.75 to 0, " in said
    shown = run("renderers", f"{tmp_path}/scene.py")[1]
    assert shown.splitlines()[-1].split()[:2] == ["slope", "0"]


def drawn_range(path: Path) -> list[float]:
    with Image.open(path) as picture:
        found: list[float] = json.loads(picture.info["sensmap:rescale"])
        return found


@pytest.mark.parametrize(
    ("words", "expected"),
    [([], (-0.75, 0.75)), (["--symmetric"], (-0.75, 0.75)), (["--no-symmetric"], (-0.75, 0.0))],
)
def test_a_range_is_symmetric_unless_it_is_not_to_be(
    tmp_path: Path, words: list[str], expected: tuple[float, float]
) -> None:
    text = SCENE.replace("slope * pixels.x", "slope * pixels.x.clamp(max=0)")
    (tmp_path / "scene.py").write_text(text)
    path = tmp_path / "map.png"
    code, said = run("map", f"{tmp_path}/scene.py", "--wrt", "slope", "--size", "4x4",
                     "-o", path, *words)  # fmt: skip
    assert code == 0, said
    assert tuple(drawn_range(path)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["map", "spere", "--wrt", "radius"], "Did you mean 'sphere'"),
        (["map", "disc", "--wrt", "radus"], "Did you mean 'radius'"),
        (["map", "disc", "--wrt", "radius", "-o", "map.pgn"], "Did you mean 'png'"),
        (["map", "disc", "--wrt", "radius", "--size", "0x3"], "WIDTHxHEIGHT"),
        (["map", "disc", "--wrt", "radius", "--set", "radius"], "NAME=VALUE"),
        (["map", "disc", "--wrt", "radius", "--set", "radius=nan"], "wants a number"),
        (["map", "disc", "--wrt", "radius", "--set", "radius=9"], "between 0.05 and 1.5"),
        (["map", "disc", "--wrt", "radius", "--colormap", "vikk"], "vik"),
        (["map", "disc", "--wrt", "radius", "--rescale", "1"], "LOW,HIGH"),
        (["map", "disc", "--wrt", "radius", "--rescale", "1,two"], "LOW,HIGH"),
        (["map", "disc", "--wrt", "radius", "--rescale", "nan,1"], "two finite numbers"),
        (["map", "disc", "--wrt", "radius", "--rescale", "2,1"], "2"),
        (["map", "disc", "--wrt", "radius", "--dtype", "float16"], "float32"),
        (["map", "disc", "--wrt", "radius", "--device", "cuda:9"], "cuda:9"),
        (["map", "disc", "--wrt", "radius", "--device", "tpu"], "tpu"),
        (["map", "disc", "--wrt", "radius", "--strategy", "forwrd"], "Did you mean 'forward'"),
        (["map", "disc", "--wrt", "radius", "-o", "no/such/folder/map.png"], "folder"),
        (["renderers", "dics"], "Did you mean 'disc'"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line_with_status_2(
    arguments: list[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, said = run(*arguments)
    assert code == 2
    assert words in said
    assert "Traceback" not in said
    assert not list(tmp_path.iterdir())


def test_the_renderers_are_listed_with_what_did_not_load(tmp_path: Path) -> None:
    (tmp_path / "scene.py").write_text("raise ValueError('no texture')")
    code, said = run("renderers", "--renderer", f"{tmp_path}/scene.py:mine")
    assert code == 0
    assert "disc" in said
    assert "mine: did not load: ValueError: no texture" in said


def test_a_renderer_is_shown_with_its_parameters() -> None:
    code, said = run("renderers", "disc")
    assert code == 0
    assert "between 0.05 and 1.5 scene unit" in said
