"""The engine beside itself: a map against the primal render, and what it needs of memory."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import torch

from app.engine import (
    DEFAULT_BUDGET,
    MOST,
    Arrays,
    Method,
    Task,
    allocate,
    find_method,
    keep_temporaries,
    sensitivity_map,
)
from benchmarks.machine import Row, interleaved, ratios
from renderers import Loaded, Subject, load, parse_wrt

MIB = 1 << 20


def placed(name: str) -> Loaded:
    """A shipped renderer on the CPU, in float32."""
    return load(plugins=False).get(name).load("cpu", torch.float32)


def task_of(loaded: Loaded, wrt: str, side: int) -> Task:
    """A square frame at the default parameters."""
    spec = loaded.spec
    return Task(
        params=spec.bind({}),
        subject=Subject((parse_wrt(wrt, spec.params),)) if wrt else Subject(),
        width=side,
        height=side,
        certify=False,
    )


def map_to_primal(name: str, wrt: str, side: int, goal: float, repeats: int) -> Row:
    """Time of a map over the time of the primal image, both through the engine."""
    loaded = placed(name)
    tasks = [task_of(loaded, wrt, side), task_of(loaded, "", side)]
    # A long recording is made while a server is idle.
    methods = [find_method(loaded, task, limit=MOST) for task in tasks]
    outs = [allocate(loaded, task) for task in tasks]
    for out in outs:
        touch(out)

    def run(index: int) -> None:
        sensitivity_map(loaded, tasks[index], method=methods[index], out=outs[index])

    of_map, of_primal = interleaved([lambda: run(0), lambda: run(1)], repeats)
    middle, low, high = ratios(of_map, of_primal)
    return Row(
        f"`{name}` d/d({wrt}), {side}x{side}: map / primal render",
        middle, goal, spread=(low, high),
        note=f"{1e3 * of_map.median:.0f} ms / {1e3 * of_primal.median:.0f} ms",
    )  # fmt: skip


def touch(out: Arrays) -> None:
    """Write every page once, so that the result's own memory is not counted with the work's."""
    out.image.fill(0)
    for values in out.maps:
        values.fill(0)


def working_memory(name: str, wrt: str, side: int, budget: int, goal: float) -> Row:
    """Peak of a fresh process beside the result, over the size of the map."""
    command = [sys.executable, "-m", "benchmarks.engine", name, wrt, str(side), str(budget)]
    said = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    peak, size = said["peak"] / MIB, said["map"] / MIB
    if budget == DEFAULT_BUDGET:
        what, measured, unit = "default budget, peak beside the result / map", peak / size, "x"
    else:
        what, measured, unit = f"budget of {budget // MIB} MiB, peak beside the result", peak, "MiB"
    return Row(
        f"`{name}` {side}x{side}, {what}", measured, goal, unit,
        note=f"{peak:.0f} MiB, map {size:.0f} MiB, bands of {said['rows']} rows",
    )  # fmt: skip


def measure_peak(
    name: str,
    wrt: str,
    side: int,
    budget: int,
    how: Callable[[Loaded, Task], Method] = find_method,
) -> dict[str, int]:
    """Growth of this process at its highest while a map is computed, after a small one."""
    keep_temporaries()
    loaded = placed(name)
    task = task_of(loaded, wrt, side)
    method = how(loaded, task_of(loaded, wrt, 64))
    sensitivity_map(loaded, task_of(loaded, wrt, 64), method=method)
    out = allocate(loaded, task)
    touch(out)
    before = status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forget the highest so far
    result = sensitivity_map(loaded, task, budget=budget, method=method, out=out)
    # Before it is looked at, which takes a byte for each value.
    peak = status("VmHWM") - before
    (values,) = out.maps
    assert np.isfinite(values).all()
    return {
        "peak": peak,
        "map": values.nbytes,
        "rows": result.plan.rows,
    }


def status(field: str) -> int:
    """A size of this process in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise LookupError(field)


def rows(side: int, repeats: int) -> Iterator[Row]:
    """The table of this file."""
    yield map_to_primal("sphere", "radius", side, 3.0, repeats)
    yield map_to_primal("sdf_scene", "ball", side // 4, 1.6, min(3, repeats))
    yield working_memory("sphere", "radius", side, DEFAULT_BUDGET, 3.0)
    yield working_memory("sphere", "radius", side, 64 * MIB, 64.0)


if __name__ == "__main__":
    renderer, wrt, side, budget = sys.argv[1:]
    print(json.dumps(measure_peak(renderer, wrt, int(side), int(budget))))
