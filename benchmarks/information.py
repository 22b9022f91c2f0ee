"""The Fisher matrix of a frame, tile by tile, beside the whole Jacobian that is never held."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from app.engine import DEFAULT_BUDGET, Methods, information_of, keep_temporaries
from app.engine.frame import Band, bands
from app.engine.information import Accumulator, Gaussian, Information
from benchmarks import machine, many
from benchmarks.engine import MIB, placed, status
from benchmarks.machine import Row, interleaved, ratios

SIDE = 2048
CHANNELS = 3
PARAMETERS = 16
# Rows of a band: its derivatives are 24 MiB at a width of 2048.
ROWS = 64
NOISE = Gaussian(0.01)


def tile(band: Band, side: int) -> tuple[Tensor, Tensor]:
    """Rows of an image of sixteen waves, and its derivative by the height of each."""
    x = torch.linspace(-1.0, 1.0, side)
    y = x[band.start : band.stop, None, None]
    waves = torch.arange(1, PARAMETERS + 1)[:, None, None, None]
    channels = torch.arange(CHANNELS)
    tangents = torch.sin(waves * (x[:, None] + 0.1 * channels) + y * waves.sqrt())
    return tangents.sum(dim=0), tangents


def accumulated(side: int) -> Information:
    """The information in a square frame, every tile made and let go."""
    labels = [f"wave_{i}" for i in range(PARAMETERS)]
    sums = Accumulator(labels, NOISE, (side, side, CHANNELS))
    for band in bands(side, ROWS):
        sums.add(slice(band.start, band.stop), *tile(band, side))
    return sums.finish()


def whole(side: int) -> np.ndarray:
    """The same matrix as one product of the whole Jacobian in float64, made tile by tile."""
    parts = [tile(band, side)[1].flatten(2) for band in bands(side, ROWS)]
    jacobian = torch.cat(parts, dim=1).flatten(1).double() / NOISE.sigma
    return (jacobian @ jacobian.T).numpy()


def measure_peak(side: int) -> int:
    """Growth of this process at its highest while a sphere is summed, after a small one."""
    keep_temporaries()
    loaded = placed("sphere")
    known: Methods = {}
    information_of(loaded, many.task_of(loaded, many.SIXTEEN, 64), NOISE, methods=known)
    before = status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forget the highest so far
    information_of(loaded, many.task_of(loaded, many.SIXTEEN, side), NOISE, methods=known)
    return status("VmHWM") - before


def memory(side: int) -> Row:
    """Peak of a fresh process, through the engine, tiles and all."""
    command = [sys.executable, "-m", "benchmarks.information", str(side)]
    peak = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    jacobian = side * side * CHANNELS * PARAMETERS * 4
    return Row(
        f"information of `sphere` on {PARAMETERS} parameters, {side}x{side}: peak with its tiles",
        peak / MIB, DEFAULT_BUDGET / MIB, "MiB",
        note=f"the Jacobian would be {jacobian / MIB:.0f} MiB in float32",
    )  # fmt: skip


def time(side: int, repeats: int) -> Row:
    """Time beside one product of whole matrices, that has the same entries."""
    ours, dense = accumulated(side).fisher, whole(side)
    assert np.abs(ours - dense).max() < 1e-12 * dense.max()
    by_tiles, at_once = interleaved([lambda: accumulated(side), lambda: whole(side)], repeats)
    middle, low, high = ratios(by_tiles, at_once)
    return Row(
        f"information on {PARAMETERS} parameters, {side}x{side}: by tiles / one product",
        middle, 1.0, spread=(low, high),
        note=f"{1e3 * by_tiles.median:.0f} ms / {1e3 * at_once.median:.0f} ms",
    )  # fmt: skip


def rows(side: int, repeats: int) -> Iterator[Row]:
    """The table of this file."""
    yield memory(side)
    yield time(side // 4, repeats)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(measure_peak(int(sys.argv[1]))))
    else:
        machine.table(rows(SIDE, 5))
