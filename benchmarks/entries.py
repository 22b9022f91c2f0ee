"""A part of a Jacobian by well-chosen vectors, beside all of it; and a map beside a loop.

The full ones take hours, so they are timed on a part and extrapolated: a row of a Jacobian by
`torch.autograd.functional.jacobian`, and a pixel of a loop, takes as long as the next.
"""

import statistics
import time
from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

from app.engine.jacobian import jacobian_columns
from benchmarks import machine
from benchmarks.engine import placed
from benchmarks.machine import Row
from benchmarks.peers import backward_loop
from benchmarks.peers.ours import ours
from benchmarks.peers.picture import Picture

# The network of a public answer, which names its ends alone, 100 -> 400 and 30,000 times; what lies
# between them, and how many samples are asked about at once, is ours.
INPUTS, HIDDEN, OUTPUTS = 100, 200, 400
SAMPLES = 256
# By how much less is to be done: rows give the time over this part of the other's.
TIMES = 10_000


def median(run: Callable[[], object], repeats: int) -> float:
    """Seconds of the middle one of several runs, after one that is not counted."""
    run()
    seconds = []
    for _ in range(repeats):
        started = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


def faster(what: str, ours: float, part: float, share: float, of: str) -> Row:
    """The row of something whose other was timed on a part."""
    whole = part / share
    return Row(
        f"{what}: over a {TIMES:,}th of the other's time",
        TIMES * ours / whole,
        1.0,
        note=f"{1e3 * ours:.3g} ms / {whole:.3g} s, extrapolated from {part:.2g} s for {of}: "
        f"{whole / ours:,.0f} times",
    )


def column_family(repeats: int) -> Row:
    """One column of every sample's Jacobian, beside the full Jacobian of the batch."""
    torch.manual_seed(0)
    layers = (nn.Linear(INPUTS, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, OUTPUTS))
    network, batch = nn.Sequential(*layers), torch.randn(SAMPLES, INPUTS)
    ones = torch.zeros(1, SAMPLES, INPUTS)
    ones[0, :, 3] = 1.0

    def ours() -> Tensor:
        return jacobian_columns(network, batch, ones)

    def theirs() -> Tensor:
        # The rows of one sample's outputs; those of the others are as many again each.
        return torch.autograd.functional.jacobian(lambda x: network(x)[0], batch)

    full = theirs()
    torch.testing.assert_close(ours()[0, 0], full[:, 0, 3], rtol=1e-3, atol=1e-5)
    what = f"one input's column of {SAMPLES} Jacobians {INPUTS} -> {OUTPUTS} / the full one"
    part = median(theirs, max(3, repeats // 3))
    return faster(what, median(ours, 10 * repeats), part, 1 / SAMPLES, f"{OUTPUTS} rows")


def map_beside_a_loop(side: int, repeats: int) -> Iterator[Row]:
    """A map of the sphere beside a backward pass for every value of the image."""
    picture = Picture(placed("sphere"), "radius", side)
    run, out = ours(picture)
    mine = median(run, repeats)
    values, places = torch.from_numpy(out.maps[0]), backward_loop.places(side)
    single = backward_loop.pixels_alone(picture)
    for row, column in places:
        got = single(row, column)
        torch.testing.assert_close(got, values[row, column], rtol=1e-2, atol=1e-3)
    few = median(lambda: [single(*pixel) for pixel in places], 20 * repeats)
    what = f"map of sphere, {side}x{side}"
    share = len(places) / side**2
    yield faster(f"{what} / a loop over pixels, each rendered alone", mine, few, share, "3 pixels")

    part = median(backward_loop.one_value(picture), max(1, repeats // 3))
    share = 1 / (3 * side**2)
    yield faster(f"{what} / a loop over values of one graph", mine, part, share, "one value")


def rows(side: int, repeats: int) -> Iterator[Row]:
    """The table of this file."""
    yield column_family(repeats)
    yield from map_beside_a_loop(side, repeats)


if __name__ == "__main__":
    machine.table(rows(2048, 5))
