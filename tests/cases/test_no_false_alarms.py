"""Nothing is said where nothing is wrong: smooth, sharp, large and shipped images."""

import numpy as np
import pytest
import torch
from torch import Tensor

from renderers import Frame, Pixels, Renderer, load, param, renderer
from tests.cases.asking import DTYPES, bound, codes, error, mapped

REGISTRY = load(plugins=False)
HEAVY = ("sdf_scene", "volume")
# The first of each; of the volume the one that moves the kinks of its cells past every pixel.
FIRST = {name: next(iter(REGISTRY.get(name).spec.params)) for name in REGISTRY.names()}
PARAMETERS = [
    pytest.param(name, wrt, marks=pytest.mark.slow if name in HEAVY else ())
    for name, wrt in {**FIRST, "volume": "distance"}.items()
]


@pytest.mark.parametrize(("name", "wrt"), PARAMETERS)
def test_no_shipped_renderer_is_suspected_of_anything(name: str, wrt: str) -> None:
    found = mapped(REGISTRY.get(name), wrt, size=(64, 48), dtype=torch.float32)
    assert found.strategy == "forward"
    assert codes(found) == set()


@renderer(channels="grey")
def fine_waves(pixels: Pixels, a: Tensor = param(1.5)) -> Tensor:
    return torch.sin(60 * pixels.x * a) * torch.exp(-(pixels.y**2))


@renderer(channels="grey")
def sharp_blobs(pixels: Pixels, a: Tensor = param(0.02, low=0.001, high=0.1)) -> Tensor:
    distance = torch.sin(9 * pixels.x) ** 2 + torch.sin(9 * pixels.y) ** 2
    return torch.exp(-distance / a)


@renderer(channels="grey")
def one_small_blob(pixels: Pixels, a: Tensor = param(0.3)) -> Tensor:
    """Nothing but zeros far from one point."""
    return torch.exp(-((pixels.x - a) ** 2 + (pixels.y - 0.2) ** 2) / 2e-4)


@renderer(channels="grey")
def many_orders(pixels: Pixels, a: Tensor = param(1.5)) -> Tensor:
    return torch.exp(20 * pixels.x * a)


@renderer(channels="grey")
def kinked_everywhere(pixels: Pixels, a: Tensor = param(0.71)) -> Tensor:
    """Kinks that sweep the frame, each pixel well away from most of them."""
    return (torch.frac(7 * (pixels.x + 4) * a) - 0.5).abs()


@renderer(channels="grey")
def marched(pixels: Pixels, a: Tensor = param(0.5, low=0.1, high=1.0)) -> Tensor:
    """A hundred operations in a row."""
    depth = torch.zeros_like(pixels.x)
    for _ in range(33):
        distance = torch.sqrt(pixels.x**2 + pixels.y**2 + (depth - 2) ** 2) - a
        depth = depth + 0.5 * distance
    return torch.exp(-0.3 * depth)


@renderer(channels="grey", halo=1)
def blurred(frame: Frame, a: Tensor = param(1.5)) -> Tensor:
    image = torch.sin(9 * frame.pixels().x * a)[None, None]
    return torch.nn.functional.avg_pool2d(image, 3, stride=1, padding=1)[0, 0]


@DTYPES
@pytest.mark.parametrize("size", [(64, 64), (333, 127)])
@pytest.mark.parametrize(
    "source",
    [fine_waves, sharp_blobs, one_small_blob, many_orders, kinked_everywhere, marched, blurred],
)
def test_a_smooth_renderer_is_suspected_of_nothing(
    source: Renderer, size: tuple[int, int], dtype: torch.dtype
) -> None:
    found = mapped(source, "a", size=size, dtype=dtype)
    assert found.strategy == "forward"
    assert codes(found) == set()


@DTYPES
@pytest.mark.parametrize("size", [(1, 1), (1, 7), (2, 300), (1400, 1000)])
@pytest.mark.parametrize("source", [fine_waves, sharp_blobs, kinked_everywhere])
def test_nor_is_one_in_a_frame_of_an_odd_size(
    source: Renderer, size: tuple[int, int], dtype: torch.dtype
) -> None:
    found = mapped(source, "a", size=size, dtype=dtype)
    assert found.strategy == "forward"
    assert codes(found) == set()


@DTYPES
def test_a_map_that_is_nonzero_in_a_single_pixel_is_right_in_it(dtype: torch.dtype) -> None:
    @renderer(channels="grey")
    def one(pixels: Pixels, a: Tensor = param(1.5)) -> Tensor:
        inside = (pixels.x > 0) & (pixels.x < pixels.pitch)
        inside &= (pixels.y > 0) & (pixels.y < pixels.pitch)
        return torch.where(inside, a**2, torch.zeros_like(a))

    found = mapped(one, "a", size=(200, 100), dtype=dtype)
    expected = np.zeros((100, 200))
    expected[49, 100] = 3
    assert codes(found) == set()
    assert error(found, expected) <= bound(found)
