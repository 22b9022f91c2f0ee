"""The rooms: imports point down, nothing goes round a room's face, and modules stay small."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# What each room may import of ours; `app.settings`, `app.captions` and `app.documents` belong to
# the top floor.
ALLOWED = {
    "renderers": {"renderers"},
    "app.imaging": {"app.imaging"},
    "app.engine": {"app.engine", "renderers"},
    "app.compute": {"app.compute", "app.engine", "renderers"},
    "app.captions": {"app.imaging", "renderers"},
    "app.documents": {"app.documents", "app.captions", "app.compute", "app.imaging", "renderers"},
    "app.settings": set(),
    "app.api": {"app.api", "app.compute", "app.documents", "app.engine", "app.imaging",
                "app.settings", "renderers"},
    "app.cli": {"app.cli", "app.compute", "app.documents", "app.engine", "app.imaging", "app.main",
                "app.settings", "renderers"},
    "app.testing": {"app.engine", "renderers"},
    "app.main": {"app.api", "app.compute", "app.settings"},
}  # fmt: skip
# The engine computes and the pictures are drawn: neither knows the other's libraries or the web.
FORBIDDEN = {
    "renderers": {"fastapi", "starlette", "pydantic", "uvicorn", "cmap"},
    "app.imaging": {"torch", "fastapi", "starlette", "pydantic"},
    "app.engine": {"PIL", "cmap", "fastapi", "starlette", "pydantic", "os"},
    "app.compute": {"PIL", "cmap", "fastapi", "starlette", "pydantic"},
}
MOST_LINES = 300


def modules() -> Iterator[tuple[str, Path]]:
    for top in ("app", "renderers"):
        for path in sorted((ROOT / top).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def room_of(module: str) -> str | None:
    fitting = [room for room in ALLOWED if module == room or module.startswith(room + ".")]
    return max(fitting, key=len, default=None)


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            # `from app.api import maps` imports the module `app.api.maps`.
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


MODULES = list(modules())


@pytest.mark.parametrize(("module", "path"), MODULES, ids=[name for name, _ in MODULES])
def test_imports_point_down(module: str, path: Path) -> None:
    room = room_of(module)
    if room is None:
        assert module == "app"
        return
    for imported in imports(path):
        if imported.split(".")[0] in ("app", "renderers"):
            assert room_of(imported) in ALLOWED[room], f"{module} imports {imported}"
        assert imported.split(".")[0] not in FORBIDDEN.get(room, set()), f"{module}: {imported}"


@pytest.mark.parametrize(("module", "path"), MODULES, ids=[name for name, _ in MODULES])
def test_private_modules_are_imported_by_their_own_folder_alone(module: str, path: Path) -> None:
    for imported in imports(path):
        parts = imported.split(".")
        private = [i for i, part in enumerate(parts) if part.startswith("_") and part != "__init__"]
        if parts[0] in ("app", "renderers") and private and private[0] < len(parts) - 1:
            folder = ".".join(parts[: private[0]])
            assert module == folder or module.startswith(folder + "."), f"{module}: {imported}"


@pytest.mark.parametrize(("module", "path"), MODULES, ids=[name for name, _ in MODULES])
def test_a_module_is_no_longer_than_one_idea(module: str, path: Path) -> None:
    assert len(path.read_text().splitlines()) <= MOST_LINES


def test_the_rule_about_imports_bites() -> None:
    assert room_of("app.api.maps") not in ALLOWED["app.engine"]
    assert room_of("app.imaging.heatmap") not in ALLOWED["app.engine"]
