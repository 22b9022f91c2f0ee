"""Times of several things taken turn by turn, whoever's clock they come from."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch

from benchmarks.machine import Timed, ratios

Run = Callable[[], float]
"""Computes once, and says how many seconds that took."""


def timed(run: Callable[[], object]) -> Run:
    """A run by this process's clock; what a GPU was told to do is waited for."""

    def once() -> float:
        started = time.perf_counter()
        result = run()
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        seconds = time.perf_counter() - started
        del result  # giving memory back is not counted, nor is it for those who keep theirs
        return seconds

    return once


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a table: who, how it is run once, and how much of the work that is.

    Attributes:
        who: the peer.
        run: computes once.
        times: how many times the run's work the whole is; the rest is extrapolated.
        note: what a reader must know.
    """

    who: str
    run: Run
    times: float = 1.0
    note: str = ""


def turn_by_turn(entries: Iterable[Entry], repeats: int) -> list[Timed]:
    """Seconds of the whole, each entry beside the others in every turn, after one to warm up."""
    entries = list(entries)
    for entry in entries:
        entry.run()
    turns = [[entry.times * entry.run() for entry in entries] for _ in range(repeats)]
    return [Timed(tuple(each)) for each in zip(*turns, strict=True)]


def shown(taken: Timed) -> str:
    """Median, least and greatest; seconds where they are many."""
    each = (taken.median, min(taken.seconds), max(taken.seconds))
    if taken.median >= 10:
        return "{:,.0f} s ({:,.0f} to {:,.0f})".format(*each)
    return "{} ms ({} to {})".format(*map(milliseconds, each))


def milliseconds(seconds: float) -> str:
    """Three digits, or all before the point."""
    taken = 1e3 * seconds
    return f"{taken:,.0f}" if taken >= 100 else f"{taken:.3g}"


def times_ours(taken: Timed, mine: Timed) -> str:
    """How many times our seconds: median, least and greatest over the turns."""
    middle, low, high = ratios(taken, mine)
    if middle >= 1000:
        return f"{middle:,.0f} x"
    return f"{middle:.2f} x ({low:.2f} to {high:.2f})"
