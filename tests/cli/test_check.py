import json
from pathlib import Path

import pytest
import torch
from torch import Tensor
from typer.testing import CliRunner

from app.cli import cli
from app.testing import assert_conforms
from renderers import Pixels, param, renderer
from renderers.disc import disc

RUNNER = CliRunner()
DETACHED = """
from torch import Tensor
from renderers import Pixels, param, renderer

@renderer(channels="grey")
def half(pixels: Pixels, a: Tensor = param(0.5), b: Tensor = param(0.5)) -> Tensor:
    return a * pixels.x + (b + b.detach() ** 2) * pixels.y
"""


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    path = tmp_path / "scene.py"
    path.write_text(DETACHED)
    return path


def test_a_clean_renderer_has_status_0() -> None:
    result = RUNNER.invoke(cli, ["check", "disc"])
    assert result.exit_code == 0, result.output
    assert result.output.count("forward") == 4


def test_a_wrong_parameter_has_status_1_and_words_to_act_on(scene: Path) -> None:
    result = RUNNER.invoke(cli, ["check", f"{scene}:half"])
    assert result.exit_code == 1
    assert "b: partly_detached" in result.output
    assert "a: " not in result.output


def test_the_reports_come_as_json_too(scene: Path) -> None:
    result = RUNNER.invoke(cli, ["check", str(scene), "--json", "--wrt", "b"])
    reports = json.loads(result.stdout)
    assert [report["strategy"] for report in reports] == ["finite_difference"]
    assert reports[0]["warnings"][0]["code"] == "partly_detached"


def test_what_does_not_load_has_status_2(tmp_path: Path) -> None:
    (tmp_path / "scene.py").write_text("raise ValueError('no texture')")
    result = RUNNER.invoke(cli, ["check", f"{tmp_path}/scene.py:half"])
    assert result.exit_code == 2
    assert "no texture" in result.output


def test_a_renderer_is_shown_with_its_rungs() -> None:
    result = RUNNER.invoke(cli, ["renderers", "disc"])
    assert result.exit_code == 0
    assert result.output.count("forward") == 4


def test_a_conforming_renderer_passes_its_authors_test() -> None:
    assert_conforms(disc)


@renderer(channels="grey")
def careless(pixels: Pixels, level: Tensor = param(0.5)) -> Tensor:
    return torch.tensor(float(level)) * pixels.x


def test_a_careless_renderer_fails_it_with_what_to_do() -> None:
    with pytest.raises(AssertionError, match=r"level: tangent_lost: .*keep the parameter a tensor"):
        assert_conforms(careless)
    assert_conforms(careless, allow=frozenset({"tangent_lost"}))


def test_a_finding_that_there_is_not_cannot_be_allowed() -> None:
    with pytest.raises(ValueError, match="tangent_lsot"):
        assert_conforms(disc, allow=frozenset({"tangent_lsot"}))
