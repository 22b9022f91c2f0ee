"""C13: a pixel whose colour depends on what else it is asked with; a tile is not the image."""

import numpy as np
import pytest
import torch
from torch import Tensor

from renderers import Frame, Pixels, Renderer, param, renderer
from tests.cases.asking import DTYPES, Formula, bound, codes, error, mapped, numbers


def ramp(pixels: Pixels, a: Tensor) -> Tensor:
    """`a * [0..7] + 1` on a frame of 8 x 1, which spans -8 to 8."""
    return a * (pixels.x / 2 + 3.5) + 1


@renderer(channels="grey")
def by_the_maximum(pixels: Pixels, a: Tensor = param(1.0)) -> Tensor:
    """C13."""
    image = ramp(pixels, a)
    return image / image.max()


@renderer(channels="grey")
def by_the_mean(pixels: Pixels, a: Tensor = param(1.0)) -> Tensor:
    image = (a * pixels.x).exp()
    return image / image.mean()


@renderer(channels="grey")
def by_the_range(pixels: Pixels, a: Tensor = param(1.0)) -> Tensor:
    image = torch.sin(a * pixels.x) + pixels.y
    return (image - image.amin()) / (image.amax() - image.amin())


@renderer(channels="grey")
def by_the_neighbour(pixels: Pixels, a: Tensor = param(1.0)) -> Tensor:
    image = a**2 * pixels.x
    return image - torch.roll(image.flatten(), 1).reshape(image.shape)


def of_the_maximum(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    index = np.arange(8)
    return ((index - 7) / 64)[None]


def of_the_mean(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    image = np.exp(x)
    return image * x / image.mean() - image * (image * x).mean() / image.mean() ** 2


def of_the_range(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    image, slope = np.sin(x) + y, x * np.cos(x)
    low, high = image.argmin(), image.argmax()
    extent = image.flat[high] - image.flat[low]
    lifted = slope.flat[high] - slope.flat[low]
    part = (image - image.flat[low]) / extent
    return (slope - slope.flat[low]) / extent - part * lifted / extent


def of_the_neighbour(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return 2 * (x - np.roll(x.ravel(), 1).reshape(x.shape))


@DTYPES
@pytest.mark.parametrize(
    ("source", "right", "size"),
    [
        (by_the_maximum, of_the_maximum, (8, 1)),
        (by_the_mean, of_the_mean, (40, 30)),
        (by_the_range, of_the_range, (40, 30)),
        (by_the_neighbour, of_the_neighbour, (40, 30)),
    ],
)
def test_a_frame_whose_pixels_depend_on_each_other_is_computed_whole(
    source: Renderer, right: Formula, size: tuple[int, int], dtype: torch.dtype
) -> None:
    found = mapped(source, "a", size=size, dtype=dtype)
    assert found.strategy == "forward"
    assert codes(found) == {"tile_dependent"}
    assert found.method.verdict.whole
    assert found.plan.rows == size[1]
    assert error(found, right) <= bound(found)


def test_in_two_bands_it_would_be_wrong() -> None:
    loaded = by_the_maximum.load("cpu", torch.float64)
    x = (torch.arange(8, dtype=torch.float64) - 3.5) * 2
    a = torch.ones((), dtype=torch.float64)
    halves = [loaded(Pixels(part, 0 * part, 8, 1), {"a": a})[:, 0] for part in (x[:4], x[4:])]
    assert not torch.allclose(torch.cat(halves), loaded(Pixels(x, 0 * x, 8, 1), {"a": a})[:, 0])


def test_a_large_frame_of_that_kind_is_whole_as_well() -> None:
    found = mapped(by_the_maximum, "a", size=(800, 600), dtype=torch.float32, a=0.5)
    assert codes(found) == {"tile_dependent"}
    assert found.plan.rows == 600
    values = numbers(found)
    assert values[:, -1].max() == pytest.approx(0, abs=1e-6)
    assert values[0, 0] == pytest.approx(values[-1, 0], rel=1e-5)


@DTYPES
def test_a_frame_renderer_may_depend_on_all_of_its_frame_without_a_word(
    dtype: torch.dtype,
) -> None:
    @renderer(channels="grey")
    def normalised(frame: Frame, a: Tensor = param(1.0)) -> Tensor:
        image = (a * frame.pixels().x).exp()
        return image / image.mean()

    found = mapped(normalised, "a", size=(40, 30), dtype=dtype)
    assert codes(found) == set()
    assert error(found, of_the_mean) <= bound(found)


@DTYPES
def test_a_matrix_product_is_no_dependence_on_the_tile(dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(0)
    weights = torch.randn(3, 64, generator=generator).to(dtype)

    @renderer(channels="grey")
    def network(pixels: Pixels, a: Tensor = param(1.0)) -> Tensor:
        inputs = torch.stack([pixels.x, pixels.y, a.expand_as(pixels.x)], -1)
        return torch.tanh(inputs @ weights.to(pixels.x.dtype)).sum(-1)

    found = mapped(network, "a", size=(100, 80), dtype=dtype)
    assert codes(found) == set()
    assert not found.method.verdict.whole
