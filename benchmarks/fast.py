"""What a map costs beside a render, compiled and not, and beside who else computes it."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator

import torch

from app.engine import Method, Task, sensitivity_map
from benchmarks.engine import MIB, measure_peak, placed, task_of
from benchmarks.machine import Row, Timed, interleaved, ratios
from benchmarks.peers import func_jvp, limit
from benchmarks.peers.ours import found, ours
from benchmarks.peers.picture import Picture
from benchmarks.peers.table import on_cores
from benchmarks.peers.timing import Run, timed
from renderers import Frame, Loaded

# The derivatives that are measured; of the marched scene, at a quarter of the side.
PICTURES = {"sphere": ("radius", 1), "gaussians": ("opacity", 4), "sdf_scene": ("ball", 4)}
JAX_GOALS = {"sphere": 0.3, "sdf_scene": 0.5}
LIMIT_GOALS = {"sphere": 1.1, "sdf_scene": 1.5}


def picture(name: str, side: int) -> Picture:
    """A shipped renderer and the derivative of it that is measured."""
    wrt, smaller = PICTURES[name]
    return Picture(placed(name), wrt, max(64, side // smaller))


def ratio(what: str, top: Timed, bottom: Timed, goal: float) -> Row:
    """A row of how many times `bottom` a thing took."""
    middle, low, high = ratios(top, bottom)
    note = f"{1e3 * top.median:.3g} ms / {1e3 * bottom.median:.3g} ms"
    return Row(what, middle, goal, spread=(low, high), note=note)


def beside_primal(name: str, side: int, how: str, goal: float, repeats: int) -> Row:
    """A map over its own primal image, both computed in the same way."""
    asked = picture(name, side)
    (of_map, _), (of_primal, _) = ours(asked, how), ours(asked, how, primal=True)
    label = f"`{name}` d/d({asked.wrt}), {asked.side}x{asked.side}, {how}: map / primal {how}"
    return ratio(label, *interleaved([of_map, of_primal], repeats), goal)


def turns(runs: list[Run], repeats: int) -> list[Timed]:
    """Runs by whoever's clock, turn by turn, after one of each to warm up."""
    for run in runs:
        run()
    taken = [[run() for run in runs] for _ in range(repeats)]
    return [Timed(tuple(each)) for each in zip(*taken, strict=True)]


def beside_jax(name: str, side: int, repeats: int) -> Iterator[Row]:
    """A compiled map over JAX's, one core each."""
    asked = picture(name, side)
    with on_cores(1) as jax:
        if jax is None:
            return
        number, form = jax.best(asked)
        mine, _ = ours(asked)
        of_ours, of_jax = turns([timed(mine), lambda: jax.run(number)], repeats)
    label = f"`{name}`, {asked.side}x{asked.side}, compiled / JAX `jit(jvp)` ({form}), one core"
    yield ratio(label, of_ours, of_jax, JAX_GOALS[name])


def beside_limit(name: str, side: int, repeats: int) -> Iterator[Row]:
    """A compiled map over the kernel written by hand, on all cores."""
    if limit.compiler() is None:
        return
    asked, cores = picture(name, side), torch.get_num_threads()
    mine, out = ours(asked)
    theirs = timed(lambda: limit.fill(asked.loaded, out, cores))
    label = f"`{name}`, {asked.side}x{asked.side}, compiled / C++ dual numbers, {cores} threads"
    yield ratio(label, *turns([timed(mine), theirs], repeats), LIMIT_GOALS[name])


def beside_torch(side: int, repeats: int) -> Iterator[Row]:
    """A compiled map over torch's own whole-image `jvp`, and over the eager render alone."""
    asked = picture("sphere", side)
    mine, _ = ours(asked)
    jvp = func_jvp.whole(asked)
    render, value = asked.render(), asked.value

    @torch.no_grad()
    def primal() -> None:
        render(value)

    of_ours, of_jvp, of_primal = interleaved([mine, jvp, primal], repeats)
    size = f"{asked.side}x{asked.side}"
    yield ratio(f"`sphere` {size}, compiled map / `torch.func.jvp`", of_ours, of_jvp, 1 / 8)
    yield ratio(f"`sphere` {size}, compiled map / eager render alone", of_ours, of_primal, 0.5)


def small(repeats: int) -> Iterator[Row]:
    """A small map in the engine, warm, over the eager render of its image."""
    loaded = placed("sphere")
    task = task_of(loaded, "radius", 64)
    params = {name: value.to(loaded.dtype) for name, value in task.params.items()}
    pixels = Frame(64, 64, 0, 64, loaded.device, loaded.dtype).pixels()

    @torch.no_grad()
    def primal() -> None:
        loaded(pixels, params)

    def mapped(how: str) -> Callable[[], object]:
        method = found(loaded, task, how)
        return lambda: sensitivity_map(loaded, task, method=method)

    taken = interleaved([mapped("recorded"), mapped("compiled"), primal], 20 * repeats)
    for how, each in zip(("recorded", "compiled"), taken, strict=False):
        yield ratio(f"`sphere` 64x64 in the engine, {how} map / eager render", each, taken[2], 3.0)


def peak(side: int) -> Row:
    """What a compiled map of a large frame takes beside its result, in a fresh process."""
    command = [sys.executable, "-m", "benchmarks.fast", str(side)]
    said = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    note = f"map {said['map'] / MIB:.0f} MiB, bands of {said['rows']} rows"
    label = f"`sphere` {side}x{side}, compiled, peak beside the result"
    return Row(label, said["peak"] / MIB, 64.0, "MiB", note=note)


def compiled(loaded: Loaded, task: Task) -> Method:
    """The method with compiled tiles."""
    return found(loaded, task, "compiled")


def rows(side: int, repeats: int) -> Iterator[Row]:
    """The table of this file."""
    yield beside_primal("sphere", side, "recorded", 1.8, repeats)
    yield beside_primal("gaussians", side, "recorded", 1.8, min(3, repeats))
    yield beside_primal("sphere", side, "compiled", 1.6, repeats)
    yield beside_primal("sdf_scene", side, "compiled", 1.6, repeats)
    for name in JAX_GOALS:
        yield from beside_jax(name, side, repeats)
        yield from beside_limit(name, side, repeats)
    yield from beside_torch(side, repeats)
    yield from small(repeats)
    yield peak(4 * side)


if __name__ == "__main__":
    print(json.dumps(measure_peak("sphere", "radius", int(sys.argv[1]), 160 * MIB, compiled)))
