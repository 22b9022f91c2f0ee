"""The renderer that a command names: one of the registry, or one in a file."""

from collections.abc import Iterable

from app.cli.terminal import UsageError
from renderers import (
    LoadError,
    Registry,
    Renderer,
    UnknownRendererError,
    load,
    load_file,
    split_target,
)


def find(target: str, files: Iterable[str] = ()) -> Renderer:
    """The renderer of that name, or the one in `path/to/file.py:name`, whatever others there are.

    Args:
        target: a name, a file that declares one renderer, or a file with the name of one.
        files: the operator's own, as `--renderer` names them.

    Raises:
        LoadError: it did not load.
        UnknownRendererError: there is none of that name.
        UsageError: a file with several renderers, none of which is named.
    """
    if is_file(target):
        return only(split_target(target)[0], load_file(target))
    return held(load(files), target)


def is_file(target: str) -> bool:
    """Whether a file is meant, and not a name."""
    return split_target(target)[0].endswith(".py")


def held(registry: Registry, name: str) -> Renderer:
    """The renderer of that name; what did not load is told where there is none.

    Raises:
        LoadError: it did not load.
        UnknownRendererError: there is none of that name.
    """
    if name in registry.failures:  # also where another has the name: that is not what is meant
        raise LoadError(f"Renderer {name!r} did not load: {registry.failures[name]}")
    try:
        return registry.get(name)
    except UnknownRendererError as error:
        lost = [f"{label!r} did not load: {why}" for label, why in registry.failures.items()]
        raise UnknownRendererError(" ".join([str(error), *lost])) from None


def only(path: str, found: list[Renderer]) -> Renderer:
    """The one renderer of a file.

    Raises:
        UsageError: there are several.
    """
    if len(found) > 1:
        choices = ", ".join(f"{path}:{each.spec.name}" for each in found)
        raise UsageError(f"{path} declares several renderers. Name one of them: {choices}.")
    return found[0]
