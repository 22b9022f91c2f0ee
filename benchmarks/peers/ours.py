"""This project's own map, as a warm server computes it."""

from collections.abc import Callable
from dataclasses import replace

from app.engine import MOST, Arrays, allocate, find_method, sensitivity_map
from benchmarks.engine import touch
from benchmarks.peers.picture import Picture
from renderers import Subject

HOW = ("recorded",)


def ours(
    picture: Picture, how: str = "recorded", *, primal: bool = False
) -> tuple[Callable[[], object], Arrays]:
    """What computes the map (or the primal image alone) once, and where it goes."""
    if how not in HOW:
        raise LookupError(f"There is no way {how!r}; there is {', '.join(HOW)}.")
    task = replace(picture.task, subject=Subject()) if primal else picture.task
    # A long recording is made while a server is idle.
    method = find_method(picture.loaded, task, limit=MOST)
    out = allocate(picture.loaded, task)
    touch(out)
    return lambda: sensitivity_map(picture.loaded, task, method=method, out=out), out
