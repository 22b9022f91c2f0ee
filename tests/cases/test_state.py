"""Renderers with weights and records: no graph grows, nothing is held, branches are followed."""

import gc
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from renderers import Frame, Pixels, param, renderer
from tests.cases.asking import DTYPES, bound, codes, error, mapped, numbers


class Network(torch.nn.Module):
    """Weights that require a gradient, as those of a trained field do."""

    def __init__(self, device: torch.device, dtype: torch.dtype) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(3, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1)
        ).to(dtype)
        self.seen: list[Tensor] = []

    def render(self, pixels: Pixels, a: Tensor = param(0.3)) -> Tensor:
        image: Tensor = self.layers(torch.stack([pixels.x, pixels.y, a.expand_as(pixels.x)], -1))
        self.seen[:] = [image]
        return image


class Weight:
    def __init__(self, device: torch.device, dtype: torch.dtype) -> None:
        self.weight = torch.ones((), dtype=dtype, requires_grad=True)
        self.seen: list[Tensor] = []

    def render(self, pixels: Pixels, a: Tensor = param((0.3, 0.5))) -> Tensor:
        image = self.weight * a.prod() * pixels.x
        self.seen[:] = [image]
        return image


class WeightOfAFrame:
    def __init__(self, device: torch.device, dtype: torch.dtype) -> None:
        self.kernel = torch.nn.Parameter(torch.full((1, 1, 3, 3), 1 / 9, dtype=dtype))
        self.seen: list[Tensor] = []

    def render(self, frame: Frame, a: Tensor = param(0.3)) -> Tensor:
        image = a**2 * frame.pixels().x[None, None]
        image = torch.nn.functional.conv2d(image, self.kernel, padding=1)[0, 0]
        self.seen[:] = [image]
        return image


WEIGHTY = pytest.mark.parametrize("kind", [Network, Weight, WeightOfAFrame])


def live_tensors() -> int:
    gc.collect()
    return sum(isinstance(thing, Tensor) for thing in gc.get_objects())


@pytest.mark.filterwarnings("ignore")  # looking at every object wakes what warns of itself
@WEIGHTY
def test_weights_that_require_a_gradient_grow_no_graph(kind: type) -> None:
    loaded = renderer(channels="grey")(kind).load("cpu", torch.float32)
    first = mapped(loaded, "a")
    assert first.strategy == "forward"
    before = live_tensors()
    for _ in range(20):
        found = mapped(loaded, "a", method=first.method)
        # The last image that the certificate asked for, in the renderer's own hands.
        (image,) = loaded.load_as(torch.float64).function.__self__.seen  # type: ignore[attr-defined]
        assert image.grad_fn is None
        assert not image.requires_grad
    assert np.array_equal(numbers(found), numbers(first))
    assert live_tensors() <= before + 5


@WEIGHTY
@DTYPES
def test_nor_do_they_where_reverse_mode_is_asked_for(kind: type, dtype: torch.dtype) -> None:
    loaded = renderer(channels="grey")(kind).load("cpu", dtype)
    forward = mapped(loaded, "a")
    found = mapped(loaded, "a", strategy="double_vjp")
    assert error(found, numbers(forward)) <= bound(found)
    for parameter in getattr(loaded.function.__self__, "parameters", list)():  # type: ignore[attr-defined]
        assert parameter.grad is None


class Records:
    """Keeps all that it was ever given."""

    def __init__(self, device: torch.device, dtype: torch.dtype) -> None:
        self.given: list[Tensor] = []

    def render(self, pixels: Pixels, a: Tensor = param(0.3)) -> Tensor:
        self.given.append(a)
        return a**2 * pixels.x


class RecordsImages(Records):
    def render(self, pixels: Pixels, a: Tensor = param(0.3)) -> Tensor:
        image = super().render(pixels, a)
        self.given.append(image)
        return image


@DTYPES
@pytest.mark.parametrize("kind", [Records, RecordsImages])
def test_a_renderer_may_record_what_it_is_given(
    kind: Callable[..., object], dtype: torch.dtype
) -> None:
    loaded = renderer(channels="grey")(kind).load("cpu", dtype)
    for value in (0.3, 0.3, 0.7):
        found = mapped(loaded, "a", a=value)
        assert found.strategy == "forward"
        assert codes(found) == set()
        assert error(found, lambda x, y, slope=2 * value: slope * x) <= bound(found)


@DTYPES
@pytest.mark.parametrize("a", [1.0, -1.0, 1e-3])
@pytest.mark.parametrize("kind", ["number", "tensor", "mask"])
def test_a_branch_on_the_data_is_followed(kind: str, a: float, dtype: torch.dtype) -> None:
    @renderer(channels="grey")
    def branching(pixels: Pixels, a: Tensor = param(1.0)) -> Tensor:
        if kind == "mask":
            return torch.where(a > 0, a**2, -3 * a) * pixels.x
        positive = a > 0 if kind == "tensor" else float(a.detach()) > 0
        return a**2 * pixels.x if positive else -3 * a * pixels.x

    found = mapped(branching, "a", dtype=dtype, a=a)
    assert found.strategy == "forward"
    assert codes(found) == set()
    slope = 2 * a if a > 0 else -3.0
    assert error(found, lambda x, y: slope * x) <= bound(found)
