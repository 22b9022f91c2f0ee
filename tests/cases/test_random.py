"""C10: randomness under several tangents, from the given seed, from torch's, and from nowhere."""

import numpy as np
import pytest
import torch
from torch import Tensor

from app.engine import SensitivityMap
from renderers import Frame, Pixels, Renderer, param, renderer
from tests.cases.asking import DTYPES, bound, codes, mapped, numbers

TWO = (1.0, 2.0)


@renderer(channels="grey", random=True)
def noise(frame: Frame, p: Tensor = param(TWO), seed: int = 0) -> Tensor:
    """C10: it draws from torch's own source, which the engine seeds."""
    return torch.rand(frame.stop - frame.start, frame.width, dtype=p.dtype) * p.sum()


@renderer(channels="grey", random=True)
def seeded(pixels: Pixels, p: Tensor = param(TWO), seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return pixels.x * p.sum() * torch.rand(1, generator=generator, dtype=p.dtype)


@renderer(channels="grey", random=True)
def hashed(pixels: Pixels, p: Tensor = param(TWO), seed: int = 0) -> Tensor:
    """Numbers that follow from where a pixel lies, as in a shader."""
    column, row = torch.floor((pixels.x + 4) * 200), torch.floor((pixels.y + 4) * 200)
    return ((column * 13 + row * 29 + 7 * seed) % 97) / 97 * p.sum()


@renderer(channels="grey", random=True)
def jittered(frame: Frame, p: Tensor = param(TWO), seed: int = 0) -> Tensor:
    pixels = frame.pixels()
    generator = torch.Generator().manual_seed(seed)
    jitter = torch.rand(pixels.shape, generator=generator, dtype=p.dtype)
    return (pixels.x + 0.01 * jitter) * p.sum()


RANDOM = pytest.mark.parametrize("source", [noise, seeded, hashed, jittered])


def same(one: SensitivityMap, other: SensitivityMap) -> bool:
    assert one.values is not None and other.values is not None
    return one.values.tobytes() == other.values.tobytes()


@DTYPES
@RANDOM
def test_all_directions_meet_the_same_numbers(source: Renderer, dtype: torch.dtype) -> None:
    found = mapped(source, "p", size=(8, 6), dtype=dtype)
    assert found.strategy == "forward"
    assert codes(found) == set()
    values = numbers(found)
    assert np.array_equal(values[..., 0], values[..., 1])
    # The image is the derivative times p, whose entries sum to 3.
    assert found.values is not None
    assert np.abs(found.image[..., 0] / 3 - found.values[:, :, 0, 0]).max() <= bound(found)


@RANDOM
def test_the_same_request_has_the_same_bytes_and_another_seed_has_others(source: Renderer) -> None:
    one = mapped(source, "p", size=(8, 6), seed=5)
    assert same(one, mapped(source, "p", size=(8, 6), seed=5))
    assert not same(one, mapped(source, "p", size=(8, 6), seed=6))


@renderer(channels="grey")
def unseeded(pixels: Pixels, a: Tensor = param(0.5)) -> Tensor:
    return a * torch.rand_like(pixels.x)


@renderer(channels="grey")
def a_little_unseeded(pixels: Pixels, a: Tensor = param(0.5)) -> Tensor:
    return a**2 * pixels.x + 1e-3 * torch.rand_like(pixels.x)


@renderer(channels="grey")
class Counting:
    """Brighter every time it is asked."""

    def __init__(self, device: torch.device, dtype: torch.dtype) -> None:
        self.asked = 0

    def render(self, pixels: Pixels, a: Tensor = param(0.5)) -> Tensor:
        self.asked += 1
        return a**2 * pixels.x + self.asked


@DTYPES
@pytest.mark.parametrize("source", [unseeded, a_little_unseeded, Counting])
def test_an_image_that_comes_out_otherwise_every_time_is_told_from_one_that_is_wrong(
    source: Renderer, dtype: torch.dtype
) -> None:
    found = mapped(source, "a", size=(32, 24), dtype=dtype)
    assert "not_deterministic" in codes(found)
    assert not codes(found) & {"partly_detached", "tangent_lost", "modes_differ", "edges_suspected"}


@DTYPES
@pytest.mark.parametrize("source", [a_little_unseeded, Counting])
def test_its_exact_derivative_is_not_traded_for_differences_of_noise(
    source: Renderer, dtype: torch.dtype
) -> None:
    found = mapped(source, "a", size=(32, 24), dtype=dtype)
    assert found.strategy == "forward"
    x = (np.arange(32) - 15.5) / 12
    assert np.abs(numbers(found) - x).max() <= bound(found)
