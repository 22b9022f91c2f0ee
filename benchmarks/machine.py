"""Which machine a figure was measured on, and how times are taken."""

import os
import platform
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import torch

from app.engine import keep_temporaries


def describe() -> str:
    """Processor, cores, threads, Python and torch in one line."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.partition(":")[2] for line in info.read_text().splitlines() if "model name" in line
        ]
        cpu = names[0].strip() if names else cpu
    return (
        f"{cpu}, {os.cpu_count()} cores, {torch.get_num_threads()} torch threads, "
        f"Python {platform.python_version()}, torch {torch.__version__}"
    )


@dataclass(frozen=True, slots=True)
class Timed:
    """Seconds of several runs of one thing."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle one."""
        return statistics.median(self.seconds)


def interleaved(runs: Sequence[Callable[[], object]], repeats: int) -> list[Timed]:
    """Time several things turn by turn, so that a noisy minute troubles all of them alike."""
    taken: list[list[float]] = [[] for _ in runs]
    for run in runs:
        run()
    for _ in range(repeats):
        for run, seconds in zip(runs, taken, strict=True):
            started = time.perf_counter()
            run()
            seconds.append(time.perf_counter() - started)
    return [Timed(tuple(seconds)) for seconds in taken]


def ratios(top: Timed, bottom: Timed) -> tuple[float, float, float]:
    """Median, least and greatest of the ratios of runs that stood beside each other."""
    each = [a / b for a, b in zip(top.seconds, bottom.seconds, strict=True)]
    return statistics.median(each), min(each), max(each)


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table: what was measured, what it is to be, and what it was."""

    what: str
    measured: float
    goal: float
    unit: str = "x"
    spread: tuple[float, float] | None = None
    note: str = ""

    @property
    def met(self) -> bool:
        """Whether the goal, an upper bound, is reached."""
        return self.measured <= self.goal

    def __str__(self) -> str:
        """The line of a Markdown table."""
        spread = f" ({self.spread[0]:.2f} to {self.spread[1]:.2f})" if self.spread else ""
        met = "yes" if self.met else "NO"
        measured, goal = (
            f"{self.measured:.2f} {self.unit}{spread}",
            f"≤ {self.goal:.3g} {self.unit}",
        )
        return f"| {self.what} | {measured} | {goal} | {met} | {self.note} |"


def table(*parts: Iterable[Row]) -> None:
    """Print the machine, and rows as they come. Memory is kept as in a server's worker."""
    keep_temporaries()
    print(f"{datetime.now(UTC):%Y-%m-%d}, {describe()}\n")
    print("| what | measured | goal | met | |\n|---|---|---|---|---|")
    for rows in parts:
        for row in rows:
            print(row, flush=True)
