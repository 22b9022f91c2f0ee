"""This project's own map, as a warm server computes it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from app.compute.compiling import BACKGROUND, CompileSettings, compile_now
from app.engine import MOST, Arrays, Method, Task, allocate, find_method, sensitivity_map
from benchmarks.engine import touch
from benchmarks.peers.picture import Picture
from renderers import Loaded, Subject

HOW = ("compiled", "recorded")
FOLDER = Path(__file__).parents[1] / "out" / "compiled"


def ours(
    picture: Picture, how: str = "compiled", *, primal: bool = False
) -> tuple[Callable[[], object], Arrays]:
    """What computes the map (or the primal image alone) once, and where it goes."""
    task = replace(picture.task, subject=Subject()) if primal else picture.task
    method = found(picture.loaded, task, how)
    out = allocate(picture.loaded, task)
    touch(out)
    return lambda: sensitivity_map(picture.loaded, task, method=method, out=out), out


def found(loaded: Loaded, task: Task, how: str) -> Method:
    """How it is computed, as an idle server finds it out.

    Raises:
        LookupError: there is no such way.
        UncompilableError: it cannot be compiled here.
    """
    if how not in HOW:
        raise LookupError(f"There is no way {how!r}; there is {', '.join(HOW)}.")
    if how == "recorded":
        # A long recording is made while a server is idle.
        return find_method(loaded, task, limit=MOST)
    return compile_now(loaded, task, CompileSettings(mode=BACKGROUND, folder=str(FOLDER)))
