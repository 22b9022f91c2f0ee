"""How large a band is best: what a few of them take, measured once for each method."""

import time
from collections.abc import Sequence
from dataclasses import replace

from app.engine.evaluate import lanes
from app.engine.frame import Band
from app.engine.method import Method
from app.engine.prepared import Prepared
from app.engine.task import Task
from renderers import Loaded

# Pixels of a band that are tried, the smallest first: from what a first-level cache holds of a
# short computation to what a call costs nothing beside.
TRIED = tuple(1 << power for power in (13, 14, 15, 16, 17, 18))
WIDTH = 1024
TURNS = 3
# A band that takes a twentieth longer for a pixel is as good: smaller ones take less memory, and
# tell of their progress sooner.
AS_GOOD = 1.05
# Seconds that one band of a trial may take.
LONGEST = 0.1


def calibrated(loaded: Loaded, task: Task, method: Method) -> Method:
    """The method with the band that is best for it, where it has a recording; measured once."""
    recording = method.recording(task)
    if recording is None or method.cost.band:
        return method
    tiles = Prepared.prepare(loaded, task, method.verdict, recording)
    return replace(method, cost=replace(method.cost, band=best_band(tiles)))


def best_band(tiles: Prepared) -> int:
    """Pixels of the smallest band that is about as fast for a pixel as any.

    Args:
        tiles: a method at work on a task; its frame is not that of the trial.
    """
    trial = replace(tiles, task=replace(tiles.task, width=WIDTH, height=TRIED[-1] // WIDTH))
    taken: dict[int, float] = {}
    for pixels in TRIED:
        if pixels % lanes():
            continue
        # The fastest of a few: whatever else the machine does only ever adds.
        taken[pixels] = min(_seconds(trial, pixels) for _ in range(TURNS))
        if taken[pixels] > LONGEST:
            break
    return smallest(tuple(taken), tuple(taken.values()))


def smallest(pixels: Sequence[int], seconds: Sequence[float]) -> int:
    """The smallest of some bands that is about as fast for a pixel as the fastest."""
    each = [second / count for count, second in zip(pixels, seconds, strict=True)]
    good = [count for count, rate in zip(pixels, each, strict=True) if rate <= AS_GOOD * min(each)]
    return min(good)


def _seconds(tiles: Prepared, pixels: int) -> float:
    started = time.perf_counter()
    tiles.evaluate(Band(0, pixels // WIDTH), slice(0, 1))
    return time.perf_counter() - started
