"""A coarse map is the map with pixels left out, to the bit, and certified where it stands."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from app.engine import StrideError, Task, sensitivity_map
from renderers import Frame, Pixels, load, param, parse_subject, renderer
from renderers.disc import disc
from tests.engine.conftest import budget_for

REGISTRY = load(plugins=False)
QUICK = [
    name
    for name in REGISTRY.names()
    if REGISTRY.get(name).spec.kind == "pixel" and name not in ("sdf_scene", "volume")
]


def task_of(spec: object, wrt: str, width: int, height: int, **other: object) -> Task:
    subject = parse_subject(spec.params, wrt=wrt)  # type: ignore[attr-defined]
    params = spec.bind({})  # type: ignore[attr-defined]
    return Task(params=params, subject=subject, width=width, height=height, **other)  # type: ignore[arg-type]


@pytest.mark.parametrize("stride", [2, 3, 64])
@pytest.mark.parametrize("name", QUICK)
def test_a_coarse_map_is_the_map_with_pixels_left_out(name: str, stride: int) -> None:
    loaded = REGISTRY.get(name).load("cpu", torch.float32)
    task = task_of(loaded.spec, next(iter(loaded.spec.params)), 67, 45)
    whole = sensitivity_map(loaded, task)
    coarse = sensitivity_map(loaded, replace(task, stride=stride), method=whole.method)
    assert np.array_equal(coarse.maps[0], whole.maps[0][::stride, ::stride])
    assert np.array_equal(coarse.image, whole.image[::stride, ::stride])
    assert coarse.each[0].size == coarse.maps[0].size
    assert coarse.certificate is not None


def test_a_coarse_map_has_the_same_bits_in_any_tiling() -> None:
    loaded = disc.load("cpu", torch.float32)
    task = task_of(loaded.spec, "radius", 300, 200, stride=4)
    whole = sensitivity_map(loaded, task)
    bands = sensitivity_map(loaded, task, method=whole.method, budget=budget_for(1))
    assert bands.plan.rows == 1
    assert np.array_equal(whole.maps[0], bands.maps[0])


def test_a_coarse_map_is_certified_at_its_own_pixels() -> None:
    loaded = disc.load("cpu", torch.float64)
    found = sensitivity_map(loaded, task_of(loaded.spec, "radius", 200, 200, stride=8))
    assert found.certificate is not None
    assert found.certificate.judged
    assert found.certificate.relative < 1e-6
    assert found.certificate.pixels > 0


@renderer(channels="grey")
def rows(frame: Frame, gain: Tensor = param(1.0)) -> Tensor:
    """A frame renderer."""
    return (gain * frame.pixels().x)[..., None]


@renderer(channels="grey")
def summed(pixels: Pixels, gain: Tensor = param(1.0)) -> Tensor:
    """Pixels that depend on each other."""
    return (gain * pixels.x * pixels.x.abs().mean())[..., None]


@pytest.mark.parametrize("source", [rows, summed], ids=["rows", "summed"])
def test_where_no_pixel_can_be_left_out_none_is(source: object) -> None:
    loaded = source.load("cpu", torch.float32)  # type: ignore[attr-defined]
    with pytest.raises(StrideError, match="`stride` is 2") as caught:
        sensitivity_map(loaded, task_of(loaded.spec, "gain", 16, 16, stride=2))
    assert caught.value.field == "stride"


def test_edges_are_not_followed_over_pixels_that_are_left_out() -> None:
    loaded = disc.load("cpu", torch.float32)
    with pytest.raises(StrideError, match="edge"):
        sensitivity_map(loaded, task_of(loaded.spec, "radius", 16, 16, stride=2, strategy="edge"))


@renderer(channels="grey")
def step(pixels: Pixels, at: Tensor = param(0.05, low=-1.0, high=1.0)) -> Tensor:
    """All that moves is an edge."""
    return (pixels.x > at).to(pixels.x.dtype)[..., None]


def test_where_all_that_moves_is_an_edge_a_coarse_map_says_so() -> None:
    loaded = step.load("cpu", torch.float64)
    whole = sensitivity_map(loaded, task_of(loaded.spec, "at", 40, 30))
    assert whole.strategy == "edge"
    coarse = sensitivity_map(loaded, task_of(loaded.spec, "at", 40, 30, stride=2))
    assert coarse.strategy != "edge"
    assert not coarse.maps[0].any()
