"""A map through our formula of `grid_sample`, beside the image and beside reverse mode twice.

A picture is turned and shifted by `grid_sample`, which torch has no forward formula for. Every row
goes through the engine, as a served map does.
"""

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn import functional as F

from app.engine import Method, Task, allocate, find_method, sensitivity_map
from app.engine.frame import Band
from app.engine.memory import peak_bytes
from app.engine.prepared import Prepared
from benchmarks import machine
from benchmarks.engine import touch
from benchmarks.machine import Row, Timed, interleaved, ratios
from renderers import Loaded, Pixels, Subject, param, parse_wrt, renderer

SIDE = 512
CPU = torch.device("cpu")


@renderer(channels="rgb")
class Picture:
    """A picture of noise, turned by `pose[0]` radians and shifted by the rest."""

    def __init__(self, device: torch.device, dtype: torch.dtype) -> None:
        generator = torch.Generator().manual_seed(1)
        self.texture = torch.rand(1, 3, SIDE, SIDE, generator=generator).to(device, dtype)

    def render(
        self, pixels: Pixels, pose: Tensor = param((0.1, 0.02, -0.01), low=-1.0, high=1.0)
    ) -> Tensor:
        """Bilinear samples of the picture."""
        cos, sin = torch.cos(pose[0]), torch.sin(pose[0])
        x = cos * pixels.x - sin * pixels.y + pose[1]
        y = sin * pixels.x + cos * pixels.y + pose[2]
        grid = torch.stack([x, y], dim=-1).reshape(1, 1, -1, 2)
        sampled = F.grid_sample(self.texture, grid, padding_mode="border", align_corners=True)
        return sampled[0, :, 0].T.reshape(*pixels.shape, 3)


@renderer(channels="grey")
class Fog:
    """Line integrals of a volume of noise that is shifted by `shift`."""

    def __init__(self, device: torch.device, dtype: torch.dtype) -> None:
        generator = torch.Generator().manual_seed(1)
        self.volume = torch.rand(1, 1, 64, 64, 64, generator=generator).to(device, dtype)
        self.depth = torch.linspace(-0.9, 0.9, 32, device=device, dtype=dtype)

    def render(
        self, pixels: Pixels, shift: Tensor = param((0.1, 0.02, -0.01), low=-1.0, high=1.0)
    ) -> Tensor:
        """Sum of trilinear samples along each ray."""
        x = (pixels.x + shift[0])[..., None].expand(*pixels.shape, 32)
        y = (pixels.y + shift[1])[..., None].expand(*pixels.shape, 32)
        grid = torch.stack([x, y, (self.depth + shift[2]).expand_as(x)], dim=-1)
        sampled = F.grid_sample(
            self.volume, grid.reshape(1, 1, -1, 32, 3), padding_mode="border", align_corners=True
        )
        return sampled.reshape(*pixels.shape, 32).sum(-1)


def task_of(loaded: Loaded, wrt: str, strategy: str, side: int) -> Task:
    """A square frame at the default parameters."""
    spec = loaded.spec
    found = Subject((parse_wrt(wrt, spec.params),)) if wrt else Subject()
    return Task(params=spec.bind({}), subject=found, width=side, height=side, strategy=strategy,
                certify=False)  # fmt: skip


def timed(loaded: Loaded, tasks: list[Task], methods: list[Method], repeats: int) -> list[Timed]:
    """Seconds of maps of one frame, turn by turn."""
    outs = [allocate(loaded, task) for task in tasks]
    for out in outs:
        touch(out)

    def run(index: int) -> None:
        sensitivity_map(loaded, tasks[index], method=methods[index], out=outs[index])

    return interleaved([lambda index=index: run(index) for index in range(len(tasks))], repeats)


def peak(loaded: Loaded, task: Task, method: Method) -> int:
    """Bytes of working memory of the whole frame as one tile."""
    tiles = Prepared.prepare(loaded, task, method.verdict, method.recording(task))
    return peak_bytes(lambda: tiles.evaluate(Band(0, task.height), slice(0, 1)), CPU)


def rows_of(loaded: Loaded, name: str, side: int, repeats: int) -> Iterator[Row]:
    """The rows of one renderer."""
    asked = [
        ("", "auto"),
        (f"{name}[0]", "forward"),
        (name, "forward"),
        (f"{name}[0]", "double_vjp"),
    ]
    tasks = [task_of(loaded, wrt, strategy, side) for wrt, strategy in asked]
    methods = [find_method(loaded, task) for task in tasks]
    methods.append(methods[3].plainer(loaded, tasks[3], "for a comparison"))
    tasks.append(tasks[3])
    primal, one, three, _, twice = timed(loaded, tasks, methods, repeats)
    title = f"`grid_sample` in {loaded.spec.name}, {side}x{side}"
    for what, of_map, goal in (("one tangent", one, 3.0), ("three tangents", three, 4.0)):
        middle, low, high = ratios(of_map, primal)
        note = f"{1e3 * of_map.median:.0f} ms / {1e3 * primal.median:.0f} ms"
        yield Row(f"{title}: map of {what} / image", middle, goal, spread=(low, high), note=note)
    middle, low, high = ratios(one, twice)
    note = f"{1e3 * one.median:.0f} ms / {1e3 * twice.median:.0f} ms"
    yield Row(f"{title}: map / by `double_vjp`", middle, 0.4, spread=(low, high), note=note)
    ours, theirs = peak(loaded, tasks[1], methods[1]), peak(loaded, tasks[4], methods[4])
    note = f"{ours / 1e6:.0f} MB / {theirs / 1e6:.0f} MB"
    yield Row(f"{title}: its working memory / by `double_vjp`", ours / theirs, 1 / 3, note=note)


def rows(side: int, repeats: int) -> Iterator[Row]:
    """The table of this file."""
    yield from rows_of(Picture.load(CPU), "pose", side, repeats)
    yield from rows_of(Fog.load(CPU), "shift", side // 2, repeats)


if __name__ == "__main__":
    machine.table(rows(SIDE, 9))
