from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from renderers import (
    LoadError,
    Registry,
    UnknownRendererError,
    load,
    load_file,
    split_target,
)
from renderers import _registry as registry_module
from renderers.disc import disc

GOOD = """
from torch import Tensor
from renderers import Pixels, param, renderer

@renderer(channels="grey")
def mine(pixels: Pixels, level: Tensor = param(1.0)) -> Tensor:
    return level * pixels.x
"""


CLASSES = """
from torch import Tensor
from renderers import Pixels, param, renderer

@renderer(channels="grey")
class PointCamera:
    def __init__(self, device, dtype):
        self.level = 2.0

    def render(self, pixels: Pixels, level: Tensor = param(1.0)) -> Tensor:
        return self.level * level * pixels.x

@renderer(channels="grey", name="rings")
def ripples(pixels: Pixels, level: Tensor = param(1.0)) -> Tensor:
    return level * pixels.y

point = 3
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


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("PointCamera", "point_camera"),
        ("point_camera", "point_camera"),
        ("ripples", "rings"),
        ("rings", "rings"),
    ],
)
def test_a_renderer_in_a_file_has_its_own_name_and_that_of_the_object(
    tmp_path: Path, name: str, expected: str
) -> None:
    path = tmp_path / "mine.py"
    path.write_text(CLASSES)
    (found,) = load_file(f"{path}:{name}")
    assert found.spec.name == expected
    registry = load([f"{path}:{name}"], plugins=False)
    assert not registry.failures
    assert registry.get(name) is registry.get(expected)
    assert expected in registry.names()
    assert registry.names().count(name) == (name == expected)


def test_a_file_without_a_name_gives_all_its_renderers(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(CLASSES)
    assert [each.spec.name for each in load_file(str(path))] == ["point_camera", "rings"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("PointCamra", "Did you mean 'PointCamera'"),
        ("point_camra", "Did you mean 'point_camera'"),
        ("point", "is no renderer"),
    ],
)
def test_a_name_that_a_file_does_not_hold_is_answered_with_one_that_works(
    tmp_path: Path, name: str, words: str
) -> None:
    path = tmp_path / "mine.py"
    path.write_text(CLASSES)
    with pytest.raises(LoadError, match=words):
        load_file(f"{path}:{name}")


def test_whatever_a_file_raises_is_the_reason_that_it_did_not_load(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("import sys; sys.exit(3)")
    with pytest.raises(LoadError, match="'mine' did not load: SystemExit: 3"):
        load_file(str(path))


def test_a_name_that_two_objects_have_is_none(tmp_path: Path) -> None:
    for stem in ("one", "other"):
        text = GOOD.replace('channels="grey"', f'channels="grey", name="{stem}"')
        (tmp_path / f"{stem}.py").write_text(text)
    registry = load([str(tmp_path / "one.py"), str(tmp_path / "other.py")], plugins=False)
    with pytest.raises(UnknownRendererError):
        registry.get("mine")


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("a/mine.py:rings", ("a/mine.py", "rings")),
        ("a/mine.py", ("a/mine.py", "")),
        ("a/mine.py:", ("a/mine.py", "")),
        ("C:/a/mine.py", ("C:/a/mine.py", "")),
        ("C:/a/mine.py:rings", ("C:/a/mine.py", "rings")),
        ("mine.txt:rings", ("mine.txt:rings", "")),
    ],
)
def test_a_path_and_a_name_are_told_apart(target: str, expected: tuple[str, str]) -> None:
    assert split_target(target) == expected
