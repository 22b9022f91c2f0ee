"""Recordings of gradients: zeros are not carried, and the numbers stay those of the renderer."""

import pytest
import torch
from torch import Tensor

from app.engine import Task
from app.engine.directions import Directions
from app.engine.recording import MOST, record
from app.engine.strategies import STRATEGIES
from app.engine.tile import Tile
from app.engine.trial import spread
from renderers import Pixels, Renderer, param, parse_subject, renderer
from renderers.sphere import sphere

PER_PIXEL = STRATEGIES["per_pixel"]


def series(count: int) -> Renderer:
    """Waves whose heights are the entries of one vector, taken one by one."""

    @renderer(channels="rgb", name="series")
    def made(
        pixels: Pixels,
        heights: Tensor = param([0.3 / (1 + k) for k in range(count)], low=-2.0, high=2.0),
        tilt: Tensor = param(0.2, low=-1.0, high=1.0),
    ) -> Tensor:
        waves = [torch.sin((k + 1) * pixels.x + tilt * pixels.y) for k in range(count)]
        total = sum((heights[k] * wave for k, wave in enumerate(waves)), start=tilt * pixels.y)
        return torch.stack([torch.cos(colour * total) for colour in (0.8, 1.0, 1.3)], -1)

    return made


@renderer(channels=("a", "b"))
def matrix(
    pixels: Pixels,
    mixing: Tensor = param([[0.2, -0.4], [0.7, 0.1]], low=-1.0, high=1.0),
    shift: Tensor = param((0.1, 0.2, 0.3), low=-1.0, high=1.0),
) -> Tensor:
    """Rows, columns and slices of parameters, some of which no channel needs."""
    first = mixing[0, 0] * pixels.x + mixing[0, 1] * pixels.y + shift[:2].sum()
    second = (mixing[1] * torch.stack([pixels.x, pixels.y], -1)).sum(-1) * mixing[0, 0]
    return torch.stack([torch.tanh(first), torch.sigmoid(second) * shift[1]], -1)


def compared(source: Renderer, dtype: torch.dtype) -> int:
    """Compare a replay with the strategy itself; how many steps it has."""
    loaded = source.load("cpu", dtype)
    spec = loaded.spec
    subject = parse_subject(spec.params, wrt="*")
    task = Task(params=spec.bind({}), subject=subject, width=64, height=48)
    recording = record(loaded, task, PER_PIXEL, MOST)
    params = {name: (0.9 * value).to(dtype) for name, value in task.params.items()}
    tile = Tile(loaded, spread(64, 48, loaded.device, dtype, 640), params, subject.moving)
    assert isinstance(tile.where, Pixels)
    size = tile.value.numel()
    image, planes = recording.bind(params, Directions.basis(size))(tile.where, slice(0, size))
    assert PER_PIXEL.gradient is not None
    wanted, right = PER_PIXEL.gradient(tile)
    assert torch.equal(image, wanted)
    for plane, each in zip(planes, right, strict=True):
        assert torch.equal(plane, each)
    return recording.steps


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("source", [series(1), series(3), series(20), matrix, sphere],
                         ids=["one", "three", "twenty", "matrix", "sphere"])  # fmt: skip
def test_a_replay_has_the_bits_of_the_strategy(source: Renderer, dtype: torch.dtype) -> None:
    assert compared(source, dtype) > 0


def test_entries_taken_one_by_one_cost_steps_in_proportion() -> None:
    """Autograd adds up a vector of zeros for each: in memory, the square of their number."""
    few, many = compared(series(10), torch.float32), compared(series(40), torch.float32)
    assert many < 4.2 * few


def test_one_channel_does_not_carry_the_zeros_of_another() -> None:
    loaded = sphere.load("cpu", torch.float32)
    subject = parse_subject(loaded.spec.params, wrt="albedo")
    task = Task(params=loaded.spec.bind({}), subject=subject, width=64, height=48)
    graph = record(loaded, task, PER_PIXEL, MOST).stages.graph
    made = [step for step in graph.steps if step.op is torch.ops.aten.new_zeros.default]
    # Each channel answers to one of the three entries; the other two are zeros, and no more is.
    assert len(made) <= 6
