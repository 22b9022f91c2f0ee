"""Which renderers there are: this folder, installed packages, and files that the operator names.

A renderer that does not load is kept with its reason, so that one broken file takes nothing else
down and its author can read why.
"""

import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path
from types import MappingProxyType, ModuleType

from renderers._contract import Renderer
from renderers._errors import LoadError, RendererError, UnknownRendererError, suggestion

ENTRY_POINT_GROUP = "sensmap.renderers"


@dataclass(frozen=True, slots=True)
class Registry:
    """The renderers by name, and what did not load with the reason. Adding gives a new one."""

    renderers: Mapping[str, Renderer] = field(default_factory=dict)
    failures: Mapping[str, str] = field(default_factory=dict)

    def get(self, name: str) -> Renderer:
        """The renderer of that name, or else the one whose function or class is called so.

        Raises:
            LoadError: there is one, but it did not load.
            UnknownRendererError: there is none.
        """
        if name in self.renderers:
            return self.renderers[name]
        if name in self.failures:
            raise LoadError(f"Renderer {name!r} did not load: {self.failures[name]}")
        called = [r for r in self.renderers.values() if _called(r) == name]
        if len(called) == 1:
            return called[0]
        raise UnknownRendererError(
            f"There is no renderer {name!r}." + suggestion(name, self.renderers)
        )

    def names(self) -> list[str]:
        """The names of the renderers that loaded, sorted."""
        return sorted(self.renderers)

    def add(self, found: Renderer) -> "Registry":
        """A registry with one renderer more.

        Raises:
            LoadError: the name is taken.
        """
        name = found.spec.name
        if name in self.renderers:
            raise LoadError(f"The name {name!r} is taken; give `@renderer(name=...)` another.")
        return type(self)(MappingProxyType({**self.renderers, name: found}), self.failures)

    def fail(self, name: str, why: str) -> "Registry":
        """A registry that knows that `name` did not load, and why; the renderer is gone from it."""
        renderers = {key: value for key, value in self.renderers.items() if key != name}
        failures = {**self.failures, name: why}
        return type(self)(MappingProxyType(renderers), MappingProxyType(failures))


def load(
    files: Iterable[str] = (),
    *,
    plugins: bool = True,
    loading: Callable[[str], None] = lambda _: None,
    skip: Mapping[str, str] = MappingProxyType({}),
) -> Registry:
    """Find every renderer: the shipped ones, entry points, and the operator's files.

    Args:
        files: `path/to/file.py:name` for each renderer of the operator's own.
        plugins: whether to look for entry points of installed packages.
        loading: told the name before its code is run, so that a crash can be laid to it.
        skip: names that are not to be run, with the reason.
    """
    registry = Registry()
    for label, find in (*_shipped(), *(_plugins() if plugins else ()), *map(_file, files)):
        if label in skip:
            registry = registry.fail(label, skip[label])
            continue
        loading(label)
        try:
            for found in find():
                registry = registry.add(found)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - foreign code may raise anything
            registry = registry.fail(label, reason(error))
    return registry


def load_file(target: str) -> list[Renderer]:
    """The renderers of one file: the one that is named, or every one that it declares.

    Args:
        target: `path/to/file.py`, or `path/to/file.py:name`; the name is the renderer's or that of
            the Python object.

    Raises:
        LoadError: whatever its code raises, or no such file, or no renderer of that name in it.
    """
    label, find = _file(target)
    try:
        return list(find())
    except (Exception, SystemExit) as error:
        raise LoadError(f"Renderer {label!r} did not load: {reason(error)}") from error


def split_target(target: str) -> tuple[str, str]:
    """The path and the name of `path/to/file.py:name`; no name where the whole file is meant."""
    path, _, name = target.rpartition(":")
    return (path, name) if path.endswith(".py") else (target, "")


def reason(error: BaseException) -> str:
    """Why something did not load, in one line: the kind of the error and its message."""
    message = str(error).strip()
    return message if isinstance(error, RendererError) else f"{type(error).__name__}: {message}"


Found = tuple[str, Callable[[], Iterable[Renderer]]]


def _shipped() -> list[Found]:
    folder = Path(__file__).parent
    names = sorted(p.stem for p in folder.glob("*.py") if not p.stem.startswith("_"))
    return [(name, lambda name=name: _declared(_import(name))) for name in names]  # type: ignore[misc]


def _import(name: str) -> ModuleType:
    return importlib.import_module(f"renderers.{name}")


def _declared(module: ModuleType) -> list[Renderer]:
    """The renderers of a module, in the order in which they are declared."""
    found = [value for value in vars(module).values() if isinstance(value, Renderer)]
    if not found:
        raise LoadError("The file declares no renderer: decorate a function with `@renderer()`.")
    return found


def _plugins() -> list[Found]:
    points = sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda point: point.name)
    return [(p.name, lambda p=p: [_checked(p.load(), p.name)]) for p in points]  # type: ignore[misc]


def _checked(value: object, name: str) -> Renderer:
    if not isinstance(value, Renderer):
        raise LoadError(f"{name!r} is no renderer: decorate the function with `@renderer()`.")
    return value


def _file(target: str) -> Found:
    path, name = split_target(target)
    return name or Path(path).stem, lambda: _from_file(Path(path), name)


def _from_file(path: Path, name: str) -> list[Renderer]:
    module = _executed(path)
    return [_named(module, name, path.name)] if name else _declared(module)


def _executed(path: Path) -> ModuleType:
    if path.suffix != ".py" or not path.is_file():
        raise LoadError(f"There is no Python file {path.name!r} at the path given.")
    # The file's own folder is where its author expects its sibling modules to be found.
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.append(folder)
    spec = importlib.util.spec_from_file_location(f"sensmap_file_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise LoadError(f"{path.name!r} cannot be imported.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _named(module: ModuleType, name: str, file: str) -> Renderer:
    """The renderer that a module holds under that name, or else the one that is asked for by it.

    `class PointCamera` is both `PointCamera`, as its author wrote it, and `point_camera`.
    """
    held = {key: value for key, value in vars(module).items() if isinstance(value, Renderer)}
    by_name = {value.spec.name: value for value in held.values()}
    if found := held.get(name) or by_name.get(name):
        return found
    if hasattr(module, name):
        return _checked(getattr(module, name), name)  # raises: it is something else
    raise LoadError(f"{file!r} has no {name!r}." + suggestion(name, {*held, *by_name}))


def _called(found: Renderer) -> str:
    """The name of the decorated function or class."""
    return str(getattr(found.source, "__name__", ""))
