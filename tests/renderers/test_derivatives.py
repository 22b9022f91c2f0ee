"""Every shipped renderer: its derivatives, its tiles, its tangents, its bounds."""

import pytest
import torch
from torch import Tensor

import renderers
from renderers import Loaded
from tests.renderers.derivatives import STEP, agreement, defaults, difference, forward, window
from tests.tolerances import FINITE_DIFFERENCES, TANGENT_CHUNK

REGISTRY = renderers.load(plugins=False)
NAMES = REGISTRY.names()
PARAMS = [(name, key) for name in NAMES for key in REGISTRY.get(name).spec.params]
DTYPES = (torch.float32, torch.float64)
WIDTH, HEIGHT = 33, 29
MOST_ENTRIES = 64

# Part of the pixels that may be left out because the differences contradict themselves there; the
# renderer's docstring says where it is not differentiable. All others: none.
KINKS = {
    "sdf_scene": 0.02,  # inner contours; another shadow sample becomes the nearest
    "volume": 0.02,  # samples on faces between voxels
    "isp": 0.02,  # source positions on pixels of the photograph; clipping
}
# Values at which a documented singularity is stepped aside from.
ASIDE = {("disc", "centre"): (0.013, -0.007)}  # a pixel on the disc's centre has no derivative
# Images that are no display values: light may exceed 1.
BRIGHTEST = {"gaussians": 5.0, "volume": 2.0}


def load(name: str, dtype: torch.dtype = torch.float64) -> Loaded:
    return REGISTRY.get(name).load("cpu", dtype)


def tangents_of(value: Tensor) -> Tensor:
    """One unit tangent an entry, shape `(entries, *value.shape)`; of an image, some all over it."""
    entries = torch.arange(value.numel())[:: 1 + value.numel() // MOST_ENTRIES]
    tangents = torch.zeros(len(entries), value.numel(), dtype=value.dtype)
    tangents[torch.arange(len(entries)), entries] = 1
    return tangents.reshape(-1, *value.shape)


def test_every_shipped_renderer_loads() -> None:
    assert not REGISTRY.failures


@pytest.mark.parametrize(("name", "key"), PARAMS)
def test_forward_mode_agrees_with_central_differences(name: str, key: str) -> None:
    loaded = load(name)
    values = {key: ASIDE[name, key]} if (name, key) in ASIDE else {}
    params, where = defaults(loaded, **values), window(loaded, WIDTH, HEIGHT)
    for tangent in tangents_of(params[key]):
        step = STEP * max(1.0, float((params[key] * tangent).abs().max()))
        _, derivative = forward(loaded, where, params, key, tangent)
        error, left_out = agreement(
            derivative,
            lambda times, step=step, tangent=tangent: difference(
                loaded, where, params, key, times * step * tangent
            ),
            FINITE_DIFFERENCES,
        )
        assert error <= FINITE_DIFFERENCES
        assert left_out <= KINKS.get(name, 0.0)


def test_a_derivative_wrong_by_a_thousandth_is_caught() -> None:
    loaded = load("sphere")
    params, where = defaults(loaded), window(loaded, WIDTH, HEIGHT)
    one = torch.ones((), dtype=torch.float64)
    _, derivative = forward(loaded, where, params, "radius", one)

    def oracle(times: float) -> Tensor:
        return difference(loaded, where, params, "radius", times * STEP * one)

    assert agreement(derivative, oracle, FINITE_DIFFERENCES)[0] <= FINITE_DIFFERENCES
    assert agreement(derivative * 1.001, oracle, FINITE_DIFFERENCES)[0] > FINITE_DIFFERENCES
    assert agreement(derivative * torch.nan, oracle, FINITE_DIFFERENCES)[0] == float("inf")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_tangents_at_once_equal_one_after_another(name: str, dtype: torch.dtype) -> None:
    loaded = load(name, dtype)
    params, where = defaults(loaded), window(loaded, WIDTH, 7)
    key = max(params, key=lambda k: params[k].numel())
    if params[key].numel() == 1:
        pytest.skip("has no parameter with several entries")
    tangents = tangents_of(params[key])
    at_once = torch.func.vmap(lambda t: forward(loaded, where, params, key, t)[1])(tangents)
    for together, tangent in zip(at_once, tangents, strict=True):
        image, alone = forward(loaded, where, params, key, tangent)
        assert together.dtype == alone.dtype == image.dtype == dtype
        bound = TANGENT_CHUNK * torch.finfo(dtype).eps * float(alone.abs().max())
        assert float((together - alone).abs().max()) <= bound


@pytest.mark.parametrize(("name", "key"), PARAMS)
def test_images_and_tangents_are_finite_at_the_bounds(name: str, key: str) -> None:
    loaded = load(name, torch.float32)
    declared, where = loaded.spec.params[key], window(loaded, 32, 24)
    for value in (declared.default, declared.low, declared.high):
        if value is None:
            continue
        params = defaults(loaded)
        params[key] = torch.ones_like(params[key]) * torch.as_tensor(value, dtype=torch.float32)
        image, derivative = forward(loaded, where, params, key, torch.ones_like(params[key]))
        assert image.dtype == derivative.dtype == torch.float32
        assert torch.isfinite(image).all()
        assert torch.isfinite(derivative).all()
        assert float(image.min()) >= -1e-6
        assert float(image.max()) <= BRIGHTEST.get(name, 1.0) + 1e-6
