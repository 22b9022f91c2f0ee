from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from renderers import LoadError, Registry, UnknownRendererError, load
from renderers import _registry as registry_module
from renderers.disc import disc

GOOD = """
from torch import Tensor
from renderers import Pixels, param, renderer

@renderer(channels="grey")
def mine(pixels: Pixels, level: Tensor = param(1.0)) -> Tensor:
    return level * pixels.x
"""


def test_the_folder_is_the_catalogue() -> None:
    found = load(plugins=False)
    folder = Path(registry_module.__file__).parent
    files = {path.stem for path in folder.glob("*.py") if not path.stem.startswith("_")}
    assert set(found.names()) == files
    assert not found.failures


def test_a_file_of_the_operator_is_served(tmp_path: Path) -> None:
    path = tmp_path / "scene.py"
    path.write_text(GOOD)
    assert "mine" in load([f"{path}:mine"], plugins=False).names()
    assert "mine" in load([str(path)], plugins=False).names()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("raise ValueError('no scene')", "ValueError: no scene"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("def broken(:", "SyntaxError"),
        ("x = 1", "has no 'mine'"),
        ("mine = 1", "is no renderer"),
        (GOOD.replace("= param(1.0)", "= 1.0"), "`param"),
    ],
)
def test_a_file_that_does_not_load_takes_nothing_else_down(
    tmp_path: Path, text: str, words: str
) -> None:
    path = tmp_path / "scene.py"
    path.write_text(text)
    found = load([f"{path}:mine"], plugins=False)
    assert "disc" in found.names()
    assert words in found.failures["mine"]
    with pytest.raises(LoadError, match="did not load"):
        found.get("mine")


def test_a_missing_file_is_said_without_its_path(tmp_path: Path) -> None:
    found = load([f"{tmp_path}/nothing.py:mine"], plugins=False)
    assert str(tmp_path) not in found.failures["mine"]


def test_a_taken_name_is_refused_and_the_first_stays() -> None:
    first = Registry().add(disc)
    with pytest.raises(LoadError, match="is taken"):
        first.add(disc)
    assert first.get("disc") is disc


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownRendererError, match="Did you mean 'disc'"):
        Registry().add(disc).get("dics")


def test_an_installed_package_brings_its_renderer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "sensmap_plugin_of_a_test.py").write_text(GOOD)
    monkeypatch.syspath_prepend(tmp_path)
    point = EntryPoint("mine", "sensmap_plugin_of_a_test:mine", registry_module.ENTRY_POINT_GROUP)
    monkeypatch.setattr(registry_module, "entry_points", lambda **_: [point])
    assert "mine" in load().names()


def test_a_name_that_is_skipped_is_not_run(tmp_path: Path) -> None:
    path = tmp_path / "scene.py"
    path.write_text("raise AssertionError('it was run')")
    found = load([f"{path}:mine"], plugins=False, skip={"mine": "it crashed before"})
    assert found.failures["mine"] == "it crashed before"


def test_each_name_is_told_before_its_code_runs() -> None:
    told: list[str] = []
    found = load(plugins=False, loading=told.append)
    assert set(found.names()) <= set(told)
