"""Recorded tiles: the bits of the renderer at other values, or a refusal that says why."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from app.engine import Method, StrategyError, Task, Verdict, find_method, sensitivity_map
from app.engine.directions import Directions
from app.engine.evaluate import flattened
from app.engine.method import trial_cost
from app.engine.recording import MOST, PROMPT, Recording, record
from app.engine.strategies import STRATEGIES
from app.engine.tile import Tile
from app.engine.trial import spread
from renderers import Loaded, Pixels, load, param, renderer
from renderers.disc import disc
from renderers.sphere import sphere
from tests.engine.conftest import budget_for, task_of

REGISTRY = load(plugins=False)
SLOW = {"sdf_scene": ["ball"], "volume": ["density"], "gaussians": ["scale"]}
PIXEL_RENDERERS = [n for n in REGISTRY.names() if REGISTRY.get(n).spec.kind == "pixel"]


def at(loaded: Loaded, wrt: str = "radius", **params: object) -> Task:
    return task_of(loaded, wrt, size=(64, 48), **params)


def tile_of(loaded: Loaded, wrt: str, count: int = 1000, **params: object) -> Tile:
    where = flattened(spread(200, 150, loaded.device, loaded.dtype, count))
    values = {name: v.to(loaded.dtype) for name, v in loaded.spec.bind(params).items()}
    return Tile(loaded, where, values, (wrt,))


def replayed(recording: Recording, tile: Tile, directions: Tensor) -> tuple[Tensor, Tensor]:
    assert isinstance(tile.where, Pixels)
    replay = recording.bind(tile.params, Directions.written(directions))
    image, pieces = replay(tile.where, slice(0, len(directions)))
    return image, pieces[0] if recording.gradient == 0 else torch.stack(pieces, -1)


@pytest.mark.parametrize("name", PIXEL_RENDERERS)
def test_a_replay_has_the_bits_of_the_renderer_for_every_parameter(name: str) -> None:
    loaded = REGISTRY.get(name).load("cpu", torch.float32)
    for wrt, declared in loaded.spec.params.items():
        if name in SLOW and wrt not in SLOW[name]:
            continue  # thousands of operations each; all are proven when they are recorded
        recording = record(loaded, at(loaded, wrt), STRATEGIES["forward"], MOST)
        value = declared.default * 0.97
        tile = tile_of(loaded, wrt, **{wrt: value.tolist()})
        directions = torch.randn(1, value.numel(), generator=torch.Generator().manual_seed(1))
        wanted = STRATEGIES["forward"].differentiate(tile, directions)
        for found, right in zip(replayed(recording, tile, directions), wanted, strict=True):
            assert torch.equal(found.nan_to_num(), right.nan_to_num()), wrt


@pytest.mark.parametrize("name", [each.name for each in STRATEGIES.values() if each.recordable])
@pytest.mark.parametrize("wrt", ["radius", "light"])
def test_every_strategy_of_torch_is_recorded(name: str, wrt: str) -> None:
    loaded = sphere.load("cpu", torch.float64)
    recording = record(loaded, at(loaded, wrt), STRATEGIES[name], PROMPT)
    tile = tile_of(loaded, wrt, radius=0.61)
    directions = torch.eye(tile.value.numel(), dtype=torch.float64).reshape(-1, *tile.value.shape)
    image, tangents = replayed(recording, tile, directions)
    wanted = [STRATEGIES[name].differentiate(tile, d[None]) for d in directions]
    assert torch.equal(image, wanted[0][0])
    assert torch.equal(tangents, torch.cat([tangent for _, tangent in wanted]))


def test_several_directions_share_what_does_not_depend_on_them() -> None:
    loaded = sphere.load("cpu", torch.float32)
    recording = record(loaded, at(loaded, "light"), STRATEGIES["forward"], PROMPT)
    shared, along = recording.stages._shared, recording.stages._along
    assert len(shared) + len(along) < recording.steps  # some depend on no position
    assert len(along) < 0.5 * len(shared)


def test_a_map_is_replayed_and_says_so() -> None:
    loaded = sphere.load("cpu", torch.float32)
    task = at(loaded, "radius")
    method = find_method(loaded, task)
    recorded = sensitivity_map(loaded, task, method=method)
    eager = sensitivity_map(loaded, task, method=method.plainer(loaded, task, "for a comparison"))
    assert recorded.tiles == "recorded"
    assert eager.tiles == "eager"
    assert recorded.values is not None and eager.values is not None
    assert np.array_equal(recorded.values, eager.values)
    assert np.array_equal(recorded.image, eager.image)


@pytest.mark.parametrize("wrt", ["", "radius", "centre"])
def test_bands_of_a_replay_have_the_bits_of_the_whole(wrt: str) -> None:
    loaded = disc.load("cpu", torch.float32)
    task = task_of(loaded, wrt, size=(37, 31))
    method = find_method(loaded, task)
    assert method.recordings
    whole = sensitivity_map(loaded, task, method=method)
    pixel = method.cost.a_pixel(min(1, task.tangents))
    tiled = sensitivity_map(loaded, task, method=method, budget=budget_for(int(5 * 37 * pixel)))
    assert tiled.plan.rows < whole.plan.rows
    assert np.array_equal(tiled.image, whole.image)
    if wrt:
        assert whole.values is not None and tiled.values is not None
        assert np.array_equal(tiled.values, whole.values, equal_nan=True)  # the centre is a kink


def test_one_recording_serves_every_frame_unless_the_renderer_looks_at_it() -> None:
    @renderer(channels="grey")
    def looking(pixels: Pixels, p: Tensor = param(0.5, low=0.0, high=1.0)) -> Tensor:
        return (p * pixels.x / pixels.pitch).sin()

    loaded = looking.load("cpu", torch.float64)
    task = at(loaded, "p")
    assert find_method(disc.load(), at(disc.load())).recordings[0].frame is None
    method = find_method(loaded, task)
    assert method.recordings[0].frame == (64, 48)
    other = replace(task, width=40, height=40)
    result = sensitivity_map(loaded, other, method=method)
    assert [found.frame for found in result.method.recordings] == [(40, 40), (64, 48)]
    assert result.values is not None
    x = (np.arange(40) + 0.5 - 20) / 20
    expected = np.cos(0.5 * x * 20) * x * 20
    np.testing.assert_allclose(result.values[:, :, 0], np.tile(expected, (40, 1)), rtol=1e-12)


@pytest.mark.parametrize("axes", [2, 3])
@pytest.mark.parametrize("count", [1, 3])
def test_sampling_is_recorded_and_its_slopes_are_shared(axes: int, count: int) -> None:
    texture = torch.rand(1, 1, *[9] * axes, generator=torch.Generator().manual_seed(4))

    @renderer(channels="grey")
    def sampling(pixels: Pixels, p: Tensor = param((0.1, 0.2, 0.3), low=-1.0, high=1.0)) -> Tensor:
        place = [pixels.x + p[0], pixels.y * p[1], p[2] + 0 * pixels.x][:axes]
        grid = torch.stack(place, dim=-1).reshape(1, *[1] * (axes - 1), -1, axes)
        return torch.nn.functional.grid_sample(texture, grid, align_corners=True).reshape(-1)

    loaded = sampling.load("cpu", torch.float32)
    recording = record(loaded, at(loaded, "p"), STRATEGIES["forward"], PROMPT)
    names = [recording.stages.graph.steps[n].op.name() for n in recording.stages._shared]  # type: ignore[attr-defined]
    assert f"aten::grid_sampler_{axes}d_backward" in names
    tile = tile_of(loaded, "p", p=[0.2, 0.7, -0.1])
    directions = torch.eye(3)[:count]
    image, tangents = replayed(recording, tile, directions)
    wanted = [STRATEGIES["forward"].differentiate(tile, d[None]) for d in directions]
    assert torch.equal(image, wanted[0][0])
    assert torch.equal(tangents, torch.cat([tangent for _, tangent in wanted]))


def test_a_scene_is_built_once_a_map() -> None:
    @renderer(channels="grey")
    def built(pixels: Pixels, p: Tensor = param(0.5, low=0.0, high=1.0)) -> Tensor:
        table = torch.linspace(0, 1, 50, dtype=p.dtype) * p
        return pixels.x * table.cumsum(0).sin().sum()

    loaded = built.load("cpu", torch.float32)
    recording = record(loaded, at(loaded, "p"), STRATEGIES["forward"], PROMPT)
    stages = recording.stages
    names = {stages.graph.steps[number].op.name() for number in stages.pixels}  # type: ignore[attr-defined]
    assert not names & {"aten::cumsum", "aten::sin", "aten::sum"}
    assert stages._scene


# --- in place, and by copies ----------------------------------------------------------------------


@renderer(channels=("a", "b"))
def in_place(
    pixels: Pixels, p: Tensor = param(0.5), q: Tensor = param((1.0, 2.0), low=0.5, high=3.0)
) -> Tensor:
    image = torch.zeros((*pixels.shape, 2), dtype=pixels.x.dtype)
    image[..., 0] = pixels.x
    before = image.clone()
    same = pixels.x * 1.5
    image[..., 1] += q[0] * pixels.y
    scale = torch.empty(2, dtype=q.dtype)
    scale[0], scale[1] = q[1], 2 * q[0]
    image.mul_(scale)
    return p * image + before * (pixels.x * 1.5)[..., None] + same[..., None]


def test_what_is_written_in_place_keeps_its_order() -> None:
    loaded = in_place.load("cpu", torch.float64)
    recording = record(loaded, at(loaded, "p"), STRATEGIES["forward"], PROMPT)
    tile = tile_of(loaded, "p", p=0.8, q=[0.7, 1.3])
    one = torch.ones(1, 1, dtype=torch.float64)
    image, tangents = replayed(recording, tile, one)
    assert isinstance(tile.where, Pixels)
    x, y = tile.where.x, tile.where.y
    written = torch.stack([1.3 * x, 1.4 * 0.7 * y], -1)
    before = torch.stack([x, 0 * x], -1)
    torch.testing.assert_close(tangents[0], written)
    torch.testing.assert_close(image, 0.8 * written + before * 1.5 * x[:, None] + 1.5 * x[:, None])
    again, _ = replayed(recording, tile, one)
    assert torch.equal(again, image)


def test_a_recording_that_no_longer_holds_is_dropped() -> None:
    @renderer(channels="grey")
    class Changing:
        """Takes another branch once somebody has switched it."""

        switched = False

        def __init__(self, device: torch.device, dtype: torch.dtype) -> None:
            pass

        def render(self, pixels: Pixels, p: Tensor = param(0.5, low=0.1, high=2.0)) -> Tensor:
            return torch.sin(p * pixels.x) * (3.0 if Changing.source.switched else 1.0)

    loaded = Changing.load("cpu", torch.float64)
    task = at(loaded, "p")
    method = find_method(loaded, task)
    assert method.recordings
    Changing.source.switched = True  # type: ignore[attr-defined]
    result = sensitivity_map(loaded, task, method=method)
    assert result.tiles == "eager"
    assert "differs" in result.method.unrecorded
    assert result.values is not None
    x = (np.arange(64) + 0.5 - 32) / 24
    np.testing.assert_allclose(result.values[0, :, 0], 3 * x * np.cos(0.5 * x), rtol=1e-9)


def test_memory_is_measured_on_the_replay() -> None:
    loaded = sphere.load("cpu", torch.float32)
    task = at(loaded, "light")
    method = find_method(loaded, task)
    eager = trial_cost(loaded, task, method.verdict)
    assert 0 < method.cost.a_pixel(3) < eager.a_pixel(3)


def test_a_method_made_by_hand_is_not_recorded() -> None:
    loaded = disc.load()
    verdict = Verdict(strategy="forward", step=1e-4)
    task = at(loaded)
    result = sensitivity_map(
        loaded, task, method=Method(verdict, trial_cost(loaded, task, verdict))
    )
    assert result.tiles == "eager"


def test_a_strategy_that_fails_is_still_an_error() -> None:
    @renderer(channels="grey")
    def detached(pixels: Pixels, p: Tensor = param(0.5)) -> Tensor:
        return p.detach() * pixels.x

    loaded = detached.load()
    with pytest.raises(StrategyError):
        find_method(loaded, replace(at(loaded, "p"), strategy="double_vjp"))


@renderer(channels="rgb")
def channel_by_channel(
    pixels: Pixels, w: Tensor = param((1.0, 2.0, 3.0), low=0.5, high=4.0)
) -> Tensor:
    image = torch.zeros((*pixels.shape, 3), dtype=pixels.x.dtype)
    for i in range(3):
        image[..., i] = torch.sin(w[i] * pixels.x)
    return image.clamp_(-0.9)


def test_an_image_that_is_written_with_its_tangent_is_replayed_for_each_direction() -> None:
    loaded = channel_by_channel.load("cpu", torch.float64)
    task = at(loaded, "w")
    result = sensitivity_map(loaded, task)
    assert result.tiles == "recorded"
    assert result.values is not None
    x = (np.arange(64) + 0.5 - 32) / 24
    expected = np.zeros((64, 3, 3))
    for i in range(3):
        seen = np.sin((i + 1) * x) > -0.9
        expected[:, i, i] = np.where(seen, x * np.cos((i + 1) * x), 0)
    np.testing.assert_allclose(result.values, np.broadcast_to(expected, (48, 64, 3, 3)), atol=1e-12)
