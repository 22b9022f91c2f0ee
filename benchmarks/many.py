"""Many parameters beside one: `python -m benchmarks.many`."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from app.engine import DEFAULT_BUDGET, MOST, Task, allocate, find_method, sensitivity_map
from benchmarks import machine
from benchmarks.engine import placed, touch
from benchmarks.machine import Row, interleaved, ratios
from renderers import Loaded, Pixels, param, parse_subject, renderer

MIB = 1 << 20
# Sixteen numbers of the sphere: all but the width of its silhouette.
SIXTEEN = ["radius", "centre", "light", "albedo", "ambient", "diffuse", "specular", "shininess",
           "frequency", "contrast", "exposure"]  # fmt: skip
ORDERS = 8


@renderer(channels="rgb")
def fringes(
    pixels: Pixels, wavefront: Tensor = param([0.3 / (1 + k) for k in range(64)], low=-2, high=2)
) -> Tensor:
    """Interference fringes of a wavefront of 64 polynomials in x and y, in three colours."""
    x, y = [torch.ones_like(pixels.x)], [torch.ones_like(pixels.y)]
    for _ in range(ORDERS - 1):
        x.append(x[-1] * pixels.x)
        y.append(y[-1] * pixels.y)
    height = sum(wavefront[ORDERS * i + j] * (x[i] * y[j]) for i in range(8) for j in range(8))
    waves = [0.5 + 0.5 * torch.cos(12.0 * colour * height) for colour in (0.8, 1.0, 1.25)]
    return torch.stack(waves, -1)


def task_of(loaded: Loaded, wrt: Sequence[str], side: int) -> Task:
    """A square frame at the default parameters."""
    spec = loaded.spec
    subject = parse_subject(spec.params, wrt=wrt)
    return Task(params=spec.bind({}), subject=subject, width=side, height=side, certify=False)


def many_to_one(
    loaded: Loaded, many: Sequence[str], one: str, side: int, goal: float, repeats: int
) -> Iterator[Row]:
    """Time of the maps of many parameters over that of one, and what they take of memory."""
    tasks = [task_of(loaded, many, side), task_of(loaded, [one], side)]
    methods = [find_method(loaded, task, limit=MOST) for task in tasks]
    outs = [allocate(loaded, task) for task in tasks]
    for out in outs:
        touch(out)

    def run(index: int) -> None:
        sensitivity_map(loaded, tasks[index], method=methods[index], out=outs[index])

    of_many, of_one = interleaved([lambda: run(0), lambda: run(1)], repeats)
    middle, low, high = ratios(of_many, of_one)
    count = tasks[0].tangents
    yield Row(
        f"`{loaded.spec.name}` {side}x{side}: {count} parameters / one",
        middle, goal, spread=(low, high),
        note=f"{methods[0].verdict.strategy}, {1e3 * of_many.median:.0f} ms / "
        f"{1e3 * of_one.median:.0f} ms",
    )  # fmt: skip
    plan = sensitivity_map(loaded, tasks[0], method=methods[0], out=outs[0]).plan
    yield Row(
        f"`{loaded.spec.name}` {side}x{side}, {count} parameters: planned working memory",
        plan.bytes / MIB, DEFAULT_BUDGET / MIB, "MiB", note=f"bands of {plan.rows} rows",
    )  # fmt: skip


def strategies(loaded: Loaded, many: Sequence[str], side: int, repeats: int) -> Row:
    """Time of all derivatives at once over that of one direction after another."""
    task = task_of(loaded, many, side)
    by = [replace(task, strategy=name) for name in ("per_pixel", "forward")]
    methods = [find_method(loaded, each, limit=MOST) for each in by]
    out = allocate(loaded, task)
    touch(out)
    at_once, along = interleaved(
        [lambda each=each, method=method: sensitivity_map(loaded, each, method=method, out=out)
         for each, method in zip(by, methods, strict=True)], repeats,
    )  # fmt: skip
    middle, low, high = ratios(at_once, along)
    return Row(
        f"`{loaded.spec.name}` {side}x{side}, {task.tangents} parameters: `per_pixel` / `forward`",
        middle, 1.0, spread=(low, high),
        note=f"{1e3 * at_once.median:.0f} ms / {1e3 * along.median:.0f} ms",
    )  # fmt: skip


def rows(side: int, repeats: int) -> Iterator[Row]:
    """The table of this file."""
    sphere, waves = placed("sphere"), fringes.load("cpu", torch.float32)
    yield from many_to_one(sphere, SIXTEEN, "radius", side, 4.0, repeats)
    yield from many_to_one(waves, ["wavefront"], "wavefront[9]", side, 6.0, repeats)
    yield strategies(sphere, SIXTEEN, side // 2, max(1, repeats // 2))


if __name__ == "__main__":
    machine.table(rows(1024, 7))
