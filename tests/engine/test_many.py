"""Maps of many parameters: lists, directions, and the strategies that give all at once."""

import functools
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from app.engine import (
    DisagreementError,
    Methods,
    SensitivityMap,
    StrategyError,
    Task,
    find_method,
    sensitivity_map,
    sensitivity_maps,
)
from app.engine.frame import Band, window
from renderers import Frame, Loaded, Pixels, load, param, parse_subject, renderer
from renderers.disc import disc
from renderers.sphere import sphere
from tests.engine.conftest import budget_for
from tests.tolerances import CLOSED_FORM, JACOBIAN

REGISTRY = load(plugins=False)
NAMES = REGISTRY.names()
PIXEL = [name for name in NAMES if REGISTRY.get(name).spec.kind == "pixel"]
WIDTH, HEIGHT = 8, 6


def asked(loaded: Loaded, size: tuple[int, int] = (WIDTH, HEIGHT), **given: object) -> Task:
    spec = loaded.spec
    strategy = str(given.pop("strategy", "auto"))
    params = spec.bind(given.pop("params", {}))  # type: ignore[arg-type]
    subject = parse_subject(spec.params, **given)  # type: ignore[arg-type]
    return Task(params=params, subject=subject, width=size[0], height=size[1], strategy=strategy)


def small(name: str) -> list[str]:
    """Parameters of a shipped renderer that a whole Jacobian can be taken by."""
    return [
        key for key, each in REGISTRY.get(name).spec.params.items() if each.default.numel() < 99
    ]


@functools.cache
def jacobian(name: str) -> Mapping[str, NDArray[np.float64]]:
    """d(image)/d(parameter) of a whole small frame, by torch's own forward mode or differences."""
    loaded = REGISTRY.get(name).load("cpu", torch.float64)
    params = loaded.spec.bind({})
    whole = window(loaded.spec, WIDTH, HEIGHT, Band(0, HEIGHT), loaded.device, torch.float64)

    def image(values: dict[str, Tensor]) -> Tensor:
        return loaded(whole.where, {**params, **values})

    inner = {key: params[key] for key in small(name)}
    with torch.no_grad():
        found = torch.func.jacfwd(image)(inner)
    return {key: value.numpy() for key, value in found.items()}


def close(found: NDArray[np.floating], right: NDArray[np.floating], tolerance: float) -> None:
    size = float(np.abs(right).max())
    np.testing.assert_allclose(found, right, rtol=0, atol=tolerance * (size or 1.0))


@pytest.mark.parametrize("name", NAMES)
def test_all_parameters_at_once_are_the_jacobian(name: str) -> None:
    loaded = REGISTRY.get(name).load("cpu", torch.float64)
    task = asked(loaded, wrt=small(name))
    results = sensitivity_maps(loaded, task)
    maps = [values for result in results for values in result.maps]
    for key, values in zip(task.subject.names, maps, strict=True):
        close(values, jacobian(name)[key], JACOBIAN)


@pytest.mark.parametrize("name", PIXEL)
def test_a_copy_for_each_pixel_gives_the_jacobian(name: str) -> None:
    loaded = REGISTRY.get(name).load("cpu", torch.float64)
    task = asked(loaded, wrt=small(name), strategy="per_pixel")
    result = sensitivity_map(loaded, task)
    assert result.strategy == "per_pixel"
    for key, values in zip(task.subject.names, result.maps, strict=True):
        close(values, jacobian(name)[key], JACOBIAN)


@pytest.mark.parametrize("name", NAMES)
def test_maps_are_linear_in_the_direction(name: str) -> None:
    loaded = REGISTRY.get(name).load("cpu", torch.float64)
    shapes = {key: REGISTRY.get(name).spec.params[key].shape for key in small(name)}
    drawn = np.random.default_rng(0)
    u, v = ({key: drawn.normal(size=shape).tolist() for key, shape in shapes.items()} for _ in "uv")
    both = {key: (2 * np.asarray(u[key]) - 3 * np.asarray(v[key])).tolist() for key in shapes}

    known: Methods = {}

    def along(direction: dict[str, object]) -> NDArray[np.floating]:
        (result,) = sensitivity_maps(loaded, asked(loaded, direction=direction), methods=known)
        assert not (result.certificate and result.certificate.findings)
        return result.maps[0]

    close(along(both), 2 * along(u) - 3 * along(v), JACOBIAN)
    expected = sum(np.tensordot(jacobian(name)[key], u[key], len(shapes[key])) for key in shapes)
    close(along(u), np.asarray(expected), JACOBIAN)


@pytest.mark.parametrize("strategy", ["auto", "per_pixel", "forward"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_many_maps_have_the_same_bits_in_any_tiling(strategy: str, dtype: torch.dtype) -> None:
    loaded = sphere.load("cpu", dtype)
    task = asked(loaded, (64, 48), wrt="*", strategy=strategy)
    whole = sensitivity_map(loaded, task)
    small = sensitivity_map(loaded, task, budget=budget_for(1 << 20), method=whole.method)
    assert small.plan.rows * small.plan.tangents < whole.plan.rows * whole.plan.tangents
    for one, other in zip(whole.maps, small.maps, strict=True):
        assert np.array_equal(one, other)
    assert np.array_equal(whole.image, small.image)


def test_a_list_costs_one_pass_where_a_copy_for_each_pixel_is_cheaper() -> None:
    loaded = sphere.load("cpu", torch.float32)
    method = find_method(loaded, asked(loaded, wrt="*"))
    assert method.verdict.strategy == "per_pixel"
    assert method.recordings
    assert dict(method.verdict.passed_over)["forward"]
    assert find_method(loaded, asked(loaded, wrt="radius")).verdict.strategy == "forward"


def test_the_choice_is_the_same_each_time() -> None:
    loaded = disc.load("cpu", torch.float32)
    chosen = {find_method(loaded, asked(loaded, wrt="*")).verdict.strategy for _ in range(3)}
    assert len(chosen) == 1


def test_the_image_that_comes_with_many_maps_is_the_renderers() -> None:
    loaded = sphere.load("cpu", torch.float32)
    alone = sensitivity_map(loaded, Task(params=loaded.spec.bind({}), width=40, height=30))
    many = sensitivity_map(loaded, asked(loaded, (40, 30), wrt="*", strategy="per_pixel"))
    assert np.array_equal(alone.image, many.image)


@pytest.mark.parametrize("strategy", ["forward", "per_pixel"])
def test_normalised_maps_are_multiplied_by_the_range(strategy: str) -> None:
    loaded = disc.load("cpu", torch.float64)
    plain = sensitivity_map(loaded, asked(loaded, wrt=["radius", "colour"], strategy=strategy))
    ranged = sensitivity_map(
        loaded, asked(loaded, wrt=["radius", "colour"], normalise=True, strategy=strategy)
    )
    scaled = sensitivity_map(
        loaded, asked(loaded, wrt=["radius", "colour"], normalise={"radius": 3}, strategy=strategy)
    )
    close(ranged.maps[0], 1.45 * plain.maps[0], CLOSED_FORM["float64"])
    close(ranged.maps[1], plain.maps[1], CLOSED_FORM["float64"])
    close(scaled.maps[0], 3 * plain.maps[0], CLOSED_FORM["float64"])
    assert not any(
        result.certificate and result.certificate.findings for result in (ranged, scaled)
    )


@renderer(channels=("a", "b"))
def mixed(
    pixels: Pixels,
    gain: Tensor = param(1.5, low=0.0, high=4.0),
    held: Tensor = param(2.0, low=0.0, high=4.0),
    tiny: Tensor = param(1e-6, low=0.0, high=2e-6),
    root: Tensor = param(0.0, low=0.0, high=1.0),
) -> Tensor:
    """Parameters of which one is detached, one of another size, and one without a derivative."""
    first = gain * pixels.x + float(held) * pixels.y
    return torch.stack([first, tiny * 1e6 * pixels.y + torch.sqrt(root) * (pixels.x > 2)], -1)


def test_a_parameter_that_is_detached_costs_the_others_nothing() -> None:
    loaded = mixed.load("cpu", torch.float64)
    known: Methods = {}
    task = asked(loaded, wrt=["gain", "held", "tiny"])
    results = sensitivity_maps(loaded, task, methods=known)
    assert [result.strategy for result in results] == ["forward", "finite_difference", "forward"]
    y, x = (np.indices((HEIGHT, WIDTH)) + 0.5) * (2 / HEIGHT)
    x, y = x - WIDTH / HEIGHT, 1 - y
    for result, right in zip(results, (x, y, 0 * x), strict=True):
        assert result.values is not None
        close(result.values[..., 0], right, 1e-6)
    assert results[1].certificate is not None
    assert "tangent_lost" in {finding.code for finding in results[1].certificate.findings}
    # Known now to be taken one by one.
    assert None in known.values()
    again = sensitivity_maps(loaded, task, methods=known)
    for one, other in zip(results, again, strict=True):
        assert np.array_equal(one.maps[0], other.maps[0])


@pytest.mark.parametrize("strategy", ["forward", "per_pixel"])
def test_parameters_of_all_sizes_are_compared(strategy: str) -> None:
    loaded = mixed.load("cpu", torch.float32)
    result = sensitivity_map(loaded, asked(loaded, wrt=["gain", "tiny"], strategy=strategy))
    assert result.certificate is not None
    assert result.certificate.judged
    assert not result.certificate.findings


def test_a_map_without_a_number_spoils_no_other() -> None:
    loaded = mixed.load("cpu", torch.float64)
    task = asked(loaded, wrt=["gain", "root"], strategy="per_pixel")
    # A strategy that was asked for, and is wrong, is refused: the map is had all the same.
    with pytest.raises(DisagreementError, match="NaN"):
        sensitivity_map(loaded, task)
    result = sensitivity_map(loaded, replace(task, certify=False))
    assert np.isnan(result.maps[1]).any()
    assert np.isfinite(result.maps[0]).all()
    assert [each.nan for each in result.each] == [0, np.isnan(result.maps[1]).sum()]


@renderer(channels="grey")
class Screen:
    """A small picture that is a parameter, seen through a mixing of its rows."""

    def __init__(self, device: torch.device, dtype: torch.dtype) -> None:
        drawn = torch.randn(4, 12, generator=torch.Generator().manual_seed(3))
        self.mixing = drawn.to(device, dtype)

    def render(self, frame: Frame, scene: Tensor = param([[0.5] * 4] * 12)) -> Tensor:
        rows = torch.sin(self.mixing @ scene)
        return rows[frame.start : frame.stop, : frame.width]


def test_reverse_mode_is_taken_for_fewer_numbers_than_parameters() -> None:
    loaded = Screen.load("cpu", torch.float64)
    result = sensitivity_map(loaded, asked(loaded, (2, 4), wrt="scene"))
    assert result.strategy == "reverse"
    state = loaded.function.__self__  # type: ignore[attr-defined]
    scene = loaded.spec.bind({})["scene"]
    right = torch.func.jacrev(lambda value: torch.sin(state.mixing @ value)[:, :2])(scene)
    assert result.values is not None
    close(result.values[:, :, 0], right.numpy(), JACOBIAN)


def test_forward_mode_stays_where_there_are_as_many_numbers() -> None:
    loaded = Screen.load("cpu", torch.float64)
    assert sensitivity_map(loaded, asked(loaded, (4, 4), wrt="scene[0]")).strategy == "forward"


def test_reverse_may_be_asked_for() -> None:
    loaded = disc.load("cpu", torch.float64)
    result = sensitivity_map(loaded, asked(loaded, wrt=["radius", "colour"], strategy="reverse"))
    for key, values in zip(("radius", "colour"), result.maps, strict=True):
        close(values, jacobian("disc")[key], JACOBIAN)


def test_a_frame_cannot_be_asked_pixel_by_pixel() -> None:
    loaded = Screen.load("cpu", torch.float64)
    with pytest.raises(StrategyError, match="per_pixel"):
        sensitivity_map(loaded, asked(loaded, (4, 4), wrt="scene", strategy="per_pixel"))


@renderer(channels="grey")
def relative(pixels: Pixels, a: Tensor = param((1.0, 2.0, 3.0, 4.0))) -> Tensor:
    """Each pixel depends on all: a copy of the parameters for each is not the same."""
    powers = a[0] + a[1] * pixels.x + a[2] * pixels.x**2 + a[3] * pixels.y
    return powers / powers.abs().max()


def test_pixels_that_depend_on_each_other_get_no_copies() -> None:
    loaded = relative.load("cpu", torch.float64)
    result = sensitivity_map(loaded, asked(loaded, wrt="a"))
    assert result.strategy == "forward"
    assert result.certificate is not None
    assert "tile_dependent" in {finding.code for finding in result.certificate.findings}
    with pytest.raises(StrategyError):
        sensitivity_map(loaded, asked(loaded, wrt="a", strategy="per_pixel"))


def statistics_agree(result: SensitivityMap) -> None:
    for each, values in zip(result.each, result.maps, strict=True):
        assert each.size == values.size
        assert each.low == values.min()
        assert each.high == values.max()
        assert each.mean == pytest.approx(values.mean(dtype=np.float64), rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("budget", [160 << 20, 1 << 19])
def test_each_map_has_statistics_of_its_own(budget: int) -> None:
    loaded = sphere.load("cpu", torch.float32)
    task = asked(loaded, (40, 30), wrt=["radius", "light", "albedo[1]"], strategy="forward")
    statistics_agree(sensitivity_map(loaded, task, budget=budget))
