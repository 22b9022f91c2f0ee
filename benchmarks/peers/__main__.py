"""`python -m benchmarks.peers`: this project beside its peers, measured on this machine."""

import argparse
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from app.engine import keep_temporaries
from benchmarks import machine
from benchmarks.engine import placed
from benchmarks.peers import growth, jax_jvp, limit
from benchmarks.peers.ours import HOW
from benchmarks.peers.picture import Picture
from benchmarks.peers.plot import svg
from benchmarks.peers.table import beside

RESULTS = Path(__file__).parents[1] / "RESULTS.md"
PLOT = RESULTS.with_name("growth.svg")
# A whole marched scene in eager torch takes a minute and tens of gigabytes at the full side.
SMALLER = {"sphere": 1, "sdf_scene": 4}
INTRODUCTION = """# Results

One run of `make bench ARGS=--results`. Times are medians, with the least and the greatest; ratios
are of runs that stood beside each other, turn by turn. Who is not ours is written as its own users
would write it (`benchmarks/peers/`). Whole maps by torch, JAX and the limit were found equal to
ours before they were timed; central differences say how far off they are. Maps of ours are measured
warm and without a certificate, through the engine, into arrays of NumPy.
`the limit` is a kernel of dual numbers for this one derivative, written by hand in C++.

A load above 0 in the line below was others' work on the same cores; it widens the spreads, and it
stretches what waits for several threads more than what runs on one: libgomp's threads spin while
they wait.

It has not been run on a GPU yet: `make gpu` is ready to."""


def parsed() -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--side", type=int, default=2048, help="rows and columns of `sphere`")
    parser.add_argument("--largest", type=int, default=8192, help="side up to which growth is seen")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--cores", type=int, nargs="+", default=sorted({1, os.cpu_count() or 1}))
    parser.add_argument("--how", choices=HOW, default=HOW[0], help="how our own tiles are computed")
    parser.add_argument("--results", action="store_true", help=f"write {RESULTS.name} as well")
    return parser.parse_args()


def report(asked: argparse.Namespace) -> Iterator[str]:
    """The document, line by line as it is measured."""
    busy = os.getloadavg()[0]
    yield f"{datetime.now(UTC):%Y-%m-%d}, {machine.describe()}, load {busy:.1f} before the run"
    missing = [jax_jvp.missing(), "" if limit.compiler() else "There is no g++ here."]
    yield from (f"\nLeft out: {reason}" for reason in missing if reason)
    for cores in asked.cores:
        for name, wrt in limit.PICTURES.items():
            side = asked.side // SMALLER[name]
            yield f"\n## `{name}` d/d({wrt}), {side}x{side}, {_cores(cores)}\n"
            yield from beside(Picture(placed(name), wrt, side), cores, asked.repeats, asked.how)
    yield from _growth(asked)


def _growth(asked: argparse.Namespace) -> Iterator[str]:
    sphere = Picture(placed("sphere"), "radius", asked.side)
    curves = growth.with_side(sphere, asked.largest, asked.repeats, asked.how)
    yield "\n## Growth with the side: `sphere` d/d(radius), one core\n"
    yield from growth.lines("side", curves)
    yield (
        f"\n`torch.func.jvp` is left out above {growth.WIDEST_WHOLE}: the whole image at once "
        "takes more memory than most machines have.\n"
    )
    if asked.results:
        PLOT.write_text(svg("d(sphere)/d(radius), one core", "rows and columns", curves))
        yield f"![times by side]({PLOT.name})"
    side = growth.PARAMETERS_SIDE
    yield f"\n## Growth with the number of parameters: `fringes`, {side}x{side}, all cores\n"
    yield from growth.lines("parameters", growth.with_parameters(asked.repeats, asked.how))


def _cores(cores: int) -> str:
    return "one core" if cores == 1 else f"{cores} cores"


def main() -> None:
    """Measure and print; write the results where that was asked for."""
    asked = parsed()
    keep_temporaries()
    lines = []
    for line in report(asked):
        print(line, flush=True)
        lines.append(line)
        if asked.results:  # what has been measured stays if the rest is broken off
            RESULTS.write_text("\n".join([INTRODUCTION, "", *lines, ""]))


if __name__ == "__main__":
    main()
