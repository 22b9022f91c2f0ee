"""What is compiled: a recording's work on a tile as plain data, and the proof of its kernel."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from app.engine import MOST, Method, Needs, Task, find_method, sensitivity_map
from app.engine.adopt import given_to
from app.engine.calibration import smallest
from app.engine.compiled import Kernel, Source, UncompilableError, pack, prove
from app.engine.compiled.portable import unpack
from app.engine.prepared import Prepared
from app.engine.recording import Recording
from app.engine.recording.program import program
from app.engine.tile import Tile
from app.engine.trial import spread
from renderers import Loaded, load, param, parse_subject, renderer
from renderers import Pixels as Where
from renderers.disc import disc

REGISTRY = load(plugins=False)
PIXEL = [name for name in REGISTRY.names() if REGISTRY.get(name).spec.kind == "pixel"]
# What `sdf_scene` is recorded as takes half a minute to make.
PROMPTLY = [name for name in PIXEL if name != "sdf_scene"]
COUNT = 512


def task_of(loaded: Loaded, **asked: object) -> Task:
    subject = parse_subject(loaded.spec.params, **asked)  # type: ignore[arg-type]
    return Task(params=loaded.spec.bind({}), subject=subject, width=64, height=64)


def recorded(loaded: Loaded, task: Task) -> tuple[Method, Recording]:
    method = find_method(loaded, task, limit=MOST)
    recording = method.recording(task)
    assert recording is not None
    return method, recording


def interpreted(source: Source) -> Kernel:
    """A kernel that is no package: the source's steps, one by one, after a way through JSON."""
    graph = unpack(json.loads(json.dumps(pack(source.graph))))
    replay = program(graph, range(len(graph.steps)), graph.results).function

    def package(x: Tensor, y: Tensor, *taken: Tensor) -> tuple[Tensor, ...]:
        return replay(x.shape[0], (x, y, *taken), ())

    return Kernel(source, package)


@pytest.mark.parametrize("name", PROMPTLY)
def test_a_source_goes_through_json_and_keeps_its_bits(name: str) -> None:
    loaded = REGISTRY.get(name).load("cpu", torch.float32)
    task = task_of(loaded, wrt=next(iter(loaded.spec.params)))
    method, recording = recorded(loaded, task)
    kernel = interpreted(Source.of(recording))
    where = spread(64, 64, loaded.device, loaded.dtype, COUNT)
    found, wanted = (
        Prepared.prepare(loaded, task, method.verdict, which).replay
        for which in (recording.by(kernel), recording)
    )
    assert found is not None
    assert wanted is not None
    image, tangents = found(where, slice(0, 1))
    other, along = wanted(where, slice(0, 1))
    assert torch.equal(image, other)
    assert all(map(torch.equal, tangents, along))


def test_many_directions_are_given_one_after_another() -> None:
    loaded = disc.load("cpu", torch.float64)
    task = task_of(loaded, wrt="centre")
    method, recording = recorded(loaded, task)
    where = spread(64, 64, loaded.device, loaded.dtype, COUNT)
    both = recording.by(interpreted(Source.of(recording)))
    found = Prepared.prepare(loaded, task, method.verdict, both).replay
    wanted = Prepared.prepare(loaded, task, method.verdict, recording).replay
    assert found is not None
    assert wanted is not None
    for chunk in (slice(0, 2), slice(1, 2), slice(0, 1)):
        _, (tangents,) = found(where, chunk)
        _, (along,) = wanted(where, chunk)
        assert torch.equal(tangents, along)


def test_what_a_tile_takes_has_no_gaps_and_no_positions() -> None:
    loaded = REGISTRY.get("gaussians").load("cpu", torch.float32)
    task = task_of(loaded, wrt="opacity")
    method, recording = recorded(loaded, task)
    given = given_to(loaded, task, method, recording)
    assert given
    assert all(tensor.is_contiguous() for tensor in given)


def proven(kernel: Kernel, recording: Recording, loaded: Loaded, task: Task) -> None:
    params = {name: value.to(loaded.device, loaded.dtype) for name, value in task.params.items()}
    where = spread(64, 64, loaded.device, loaded.dtype)
    prove(kernel, recording, Tile(loaded, where, params, task.moving))


@pytest.mark.parametrize("wrong", ["scaled", "nan", "image", "some"])
def test_a_kernel_that_is_not_its_recordings_equal_is_refused(wrong: str) -> None:
    loaded = disc.load("cpu", torch.float32)
    task = task_of(loaded, wrt="radius")
    _, recording = recorded(loaded, task)
    good = interpreted(Source.of(recording))
    proven(good, recording, loaded, task)

    def package(x: Tensor, y: Tensor, *taken: Tensor) -> tuple[Tensor, ...]:
        image, tangent = good.package(x, y, *taken)
        if wrong == "scaled":
            return image, tangent * 1.01
        if wrong == "nan":
            return image, torch.full_like(tangent, torch.nan)
        if wrong == "image":
            return image + 0.01, tangent
        spoilt = tangent.clone()
        spoilt[:, ::50] += float(tangent.abs().max())
        return image, spoilt

    with pytest.raises(UncompilableError, match="differs"):
        proven(Kernel(good.source, package), recording, loaded, task)


def test_rounding_is_no_difference() -> None:
    loaded = disc.load("cpu", torch.float32)
    task = task_of(loaded, wrt="radius")
    _, recording = recorded(loaded, task)
    good = interpreted(Source.of(recording))

    def package(x: Tensor, y: Tensor, *taken: Tensor) -> tuple[Tensor, ...]:
        return tuple(each * (1 + 1e-6) for each in good.package(x, y, *taken))

    proven(Kernel(good.source, package), recording, loaded, task)


@renderer(channels="grey")
class Weighted:
    """A renderer that keeps weights."""

    def __init__(self, device: torch.device, dtype: torch.dtype) -> None:
        self.weights = torch.linspace(0.1, 0.9, 8, device=device, dtype=dtype)

    def render(self, pixels: Where, gain: Tensor = param(1.0, low=0.0, high=2.0)) -> Tensor:
        waves = torch.sin(gain * pixels.x[..., None] * self.weights)
        return (waves.sum(-1) + pixels.y)[..., None]


def test_weights_are_given_and_not_baked_in() -> None:
    loaded = Weighted.load("cpu", torch.float32)
    task = task_of(loaded, wrt="gain")
    method, recording = recorded(loaded, task)
    assert (8,) in {tuple(each.shape) for each in given_to(loaded, task, method, recording)}
    other = Weighted.load("cpu", torch.float32)
    state = other.function.__self__  # type: ignore[attr-defined]
    state.weights.mul_(2)
    _, again = recorded(other, task)
    assert pack(Source.of(recording).graph) == pack(Source.of(again).graph)


@pytest.mark.parametrize(
    ("seconds", "best"),
    [
        ((1.0, 2.0, 4.0, 8.0), 8),
        ((2.0, 2.0, 4.0, 8.0), 16),
        ((9.0,) * 4, 64),
        ((9.0, 4.0, 4.0, 8.1), 32),
    ],
)
def test_the_smallest_band_of_the_good_ones_is_taken(seconds: tuple[float, ...], best: int) -> None:
    assert smallest((8, 16, 32, 64), seconds) == best


def test_a_package_that_cannot_be_loaded_says_so(tmp_path: Path) -> None:
    from app.engine import adopt

    loaded = disc.load("cpu", torch.float32)
    task = task_of(loaded, wrt="radius")
    method, recording = recorded(loaded, task)
    path = tmp_path / "tile.pt2"
    path.write_bytes(b"no package")
    with pytest.raises(UncompilableError, match="does not run"):
        adopt(loaded, task, method, recording, path, Needs(0.0, 32.0))


@pytest.mark.parametrize("part", [0, 1], ids=["image", "tangent"])
def test_a_kernel_that_fails_at_some_values_gives_way_to_its_recording(part: int) -> None:
    loaded = disc.load("cpu", torch.float32)
    task = task_of(loaded, wrt="radius")
    method, recording = recorded(loaded, task)
    good = interpreted(Source.of(recording))

    def package(x: Tensor, y: Tensor, *taken: Tensor) -> tuple[Tensor, ...]:
        found = list(good.package(x, y, *taken))
        found[part] = found[part] * 1.2
        return tuple(found)

    kernel = Kernel(good.source, package)
    spoilt = replace(method, recordings=(recording.by(kernel),))
    result = sensitivity_map(loaded, task, method=spoilt)
    assert result.tiles == "recorded"
    assert np.array_equal(result.maps[0], sensitivity_map(loaded, task).maps[0])
    # What is known from now on.
    assert result.method.recordings[0].kernel is None


def test_a_kernel_that_raises_gives_way_to_its_recording() -> None:
    loaded = disc.load("cpu", torch.float32)
    task = task_of(loaded, wrt="radius")
    method, recording = recorded(loaded, task)

    def package(*_: Tensor) -> tuple[Tensor, ...]:
        raise RuntimeError("no such instruction")

    kernel = Kernel(Source.of(recording), package)
    spoilt = replace(method, recordings=(recording.by(kernel),))
    assert sensitivity_map(loaded, task, method=spoilt).tiles == "recorded"
