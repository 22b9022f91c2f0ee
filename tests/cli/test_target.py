import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from app.cli import cli

RUNNER = CliRunner()
CLASSES = """
from torch import Tensor
from renderers import Pixels, param, renderer

@renderer(channels="grey")
class PointCamera:
    def __init__(self, device, dtype, *, gain="2"):
        self.gain = float(gain)

    def render(self, pixels: Pixels, level: Tensor = param(1.0)) -> Tensor:
        return self.gain * level * pixels.x

@renderer(channels="grey", name="rings")
def ripples(pixels: Pixels, level: Tensor = param(1.0)) -> Tensor:
    return level * pixels.y
"""
NAMES = ["PointCamera", "point_camera", "ripples", "rings"]


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "mine.py"
    path.write_text(CLASSES)
    return path


def run(*words: object) -> tuple[int, str]:
    result = RUNNER.invoke(cli, [str(word) for word in words])
    return result.exit_code, result.output


@pytest.mark.parametrize("name", NAMES)
def test_both_names_of_a_renderer_are_checked(mine: Path, name: str) -> None:
    code, said = run("check", f"mine.py:{name}", "--json")
    assert code == 0, said
    assert [report["wrt"] for report in json.loads(said)] == ["level"]


@pytest.mark.parametrize("name", NAMES)
def test_both_names_of_a_renderer_are_mapped_from_a_file(mine: Path, name: str) -> None:
    code, said = run("map", f"mine.py:{name}", "--wrt", "level", "--size", "4x4", "-o", "map.npz",
                     *(["--option", "point_camera.gain=3"] if "oint" in name else []))  # fmt: skip
    assert code == 0, said
    with np.load("map.npz") as file:
        request = json.loads(str(file["metadata"]))["request"]
        values = file["values"][..., 0]
    steps = np.array([-0.75, -0.25, 0.25, 0.75])
    if "oint" in name:  # the option reaches the class by the renderer's name
        assert request["renderer"] == "point_camera"
        assert np.array_equal(values, np.broadcast_to(3 * steps, (4, 4)))
    else:
        assert request["renderer"] == "rings"
        assert np.array_equal(values, np.broadcast_to(-steps[:, None], (4, 4)))


@pytest.mark.parametrize(("given", "asked"), [*zip(NAMES, NAMES, strict=True),
                                              ("PointCamera", "point_camera")])  # fmt: skip
def test_both_names_of_a_renderer_are_mapped_beside_others(
    mine: Path, given: str, asked: str
) -> None:
    code, said = run("map", asked, "--renderer", f"mine.py:{given}", "--wrt", "level",
                     "--size", "4x4")  # fmt: skip
    assert code == 0, said
    (written,) = mine.parent.glob("*_map.png")
    assert written.name in ("point_camera_map.png", "rings_map.png")


def test_a_renderer_of_a_file_is_shown(mine: Path) -> None:
    code, said = run("renderers", "mine.py:PointCamera")
    assert code == 0, said
    assert "level" in said
    assert "gain" in said


def test_a_file_of_several_is_answered_with_what_to_write(mine: Path) -> None:
    for command in (["check"], ["map", "--wrt", "level"]):
        code, said = run(*command, "mine.py")
        assert code == 2
        assert "mine.py:point_camera, mine.py:rings" in said


def test_a_file_of_ones_own_is_not_mistaken_for_what_is_shipped(mine: Path) -> None:
    mine.write_text(CLASSES.replace('name="rings"', 'name="disc"'))
    code, said = run("check", "mine.py:disc", "--json")
    assert [report["wrt"] for report in json.loads(said)] == ["level"]
    code, said = run("map", "disc", "--renderer", "mine.py:disc", "--wrt", "radius")
    assert code == 2
    assert "'disc' is taken" in said


def test_a_file_that_did_not_load_is_told_where_its_renderer_is_missed(mine: Path) -> None:
    mine.write_text("raise ValueError('no texture')")
    code, said = run("map", "rings", "--renderer", "mine.py", "--wrt", "level")
    assert code == 2
    assert "There is no renderer 'rings'" in said
    assert "'mine' did not load: ValueError: no texture" in said
