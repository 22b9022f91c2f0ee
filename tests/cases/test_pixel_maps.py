"""C1, C5 and C20: a map is a number a pixel and an entry, in the asked dtype, in little memory."""

import numpy as np
import pytest
import torch
from torch import Tensor

from app.engine import sensitivity_map
from app.engine.memory import peak_bytes
from renderers import Frame, Pixels, Renderer, param, renderer
from tests.cases.asking import DTYPES, Formula, bound, codes, error, mapped, numbers
from tests.engine.conftest import task_of


@renderer(channels="grey")
def four_pixels(frame: Frame, a: Tensor = param(2.0)) -> Tensor:
    """C1."""
    return torch.stack([torch.stack([a, a**2]), torch.stack([torch.sin(a), torch.ones_like(a)])])


@DTYPES
@pytest.mark.parametrize("a", [2.0, 0.5, -3.0])
def test_the_map_of_a_scalar_has_a_derivative_a_pixel(dtype: torch.dtype, a: float) -> None:
    found = mapped(four_pixels, "a", size=(2, 2), dtype=dtype, a=a)
    assert found.strategy == "forward"
    assert codes(found) == set()
    assert error(found, np.array([[1, 2 * a], [np.cos(a), 0]])) <= bound(found)
    assert found.values is not None
    assert found.values.dtype == str(dtype)[6:]


def test_the_method_found_for_one_value_serves_a_batch_of_them() -> None:
    method = mapped(four_pixels, "a", size=(2, 2)).method
    for a in np.linspace(-2, 2, 7):
        found = mapped(four_pixels, "a", size=(2, 2), method=method, a=float(a))
        assert found.method is method
        assert error(found, np.array([[1, 2 * a], [np.cos(a), 0]])) <= bound(found)


@renderer(channels="grey")
def compiled_eagerly(pixels: Pixels, a: Tensor = param(0.7)) -> Tensor:
    return EAGER(pixels.x, a)


@renderer(channels="grey")
def compiled_through_autograd(pixels: Pixels, a: Tensor = param(0.7)) -> Tensor:
    return AOT(pixels.x, a)


@renderer(channels="grey")
def compiled_in_part(pixels: Pixels, a: Tensor = param(0.7)) -> Tensor:
    return a * pixels.x + EAGER(pixels.x, a**2)


def waves(x: Tensor, a: Tensor) -> Tensor:
    return torch.sin(a * x) * x


EAGER = torch.compile(waves, backend="eager")
AOT = torch.compile(waves, backend="aot_eager")


@pytest.mark.filterwarnings("ignore")  # torch's compiler warns of itself
@DTYPES
@pytest.mark.parametrize(
    ("source", "right"),
    [
        (compiled_eagerly, lambda x, y: x**2 * np.cos(0.7 * x)),
        (compiled_through_autograd, lambda x, y: x**2 * np.cos(0.7 * x)),
        (compiled_in_part, lambda x, y: x + 1.4 * x**2 * np.cos(0.49 * x)),
    ],
)
def test_a_function_that_its_author_compiled_keeps_its_tangent(
    source: Renderer, right: Formula, dtype: torch.dtype
) -> None:
    found = mapped(source, "a", dtype=dtype)
    assert error(found, right) <= bound(found)
    assert codes(found) == set()


@renderer(channels=("a", "b", "c"))
def stacked(pixels: Pixels, a: Tensor = param(2.0)) -> Tensor:
    """C5."""
    row = torch.stack([0.5 * a, a + 1.0]) @ torch.ones(2, 3, dtype=a.dtype)
    return row.expand(*pixels.shape, 3)


@renderer(channels=("a", "b", "c"))
def scaled(pixels: Pixels, a: Tensor = param(2.0)) -> Tensor:
    mixing = torch.tensor([[1.0, 0, 0, 0], [0, 1.0, 0, 0], [1.0, 1.0, 0, 1.0]], dtype=a.dtype)
    parts = torch.stack([a / 2, 1 - a, 0 * a, torch.where(a > 1, 2.0 * a, 1.0)])
    return (mixing @ parts).expand(*pixels.shape, 3)


@renderer(channels=("a", "b", "c"))
def piecewise(pixels: Pixels, a: Tensor = param(2.0)) -> Tensor:
    grown = torch.cat([(a * 0.5)[None], torch.full((1,), 2.0, dtype=a.dtype), a[None] ** 2])
    return grown.expand(*pixels.shape, 3)


@DTYPES
@pytest.mark.parametrize(
    ("source", "row"),
    [(stacked, (1.5, 1.5, 1.5)), (scaled, (0.5, -1.0, 1.5)), (piecewise, (0.5, 0.0, 4.0))],
)
def test_numbers_beside_a_parameter_do_not_change_its_dtype(
    source: Renderer, row: tuple[float, ...], dtype: torch.dtype
) -> None:
    found = mapped(source, "a", dtype=dtype)
    assert found.strategy == "forward"
    assert found.values is not None
    assert found.values.dtype == str(dtype)[6:]
    assert np.abs(found.values - row).max() <= bound(found)


CHANNELS = tuple(f"c{k}" for k in range(10))


@renderer(channels=CHANNELS)
def tall(frame: Frame, p: Tensor = param([0.1 * k for k in range(20)])) -> Tensor:
    """C20: 20 parameters, (10, 128, 16) outputs."""
    pixels = frame.pixels()
    powers = torch.arange(10, dtype=p.dtype)
    return torch.sin(pixels.x[..., None] * powers + p[:10]) + pixels.y[..., None] * p[10:] ** 2


@renderer(channels=CHANNELS)
def tall_by_pixels(pixels: Pixels, p: Tensor = param([0.1 * k for k in range(20)])) -> Tensor:
    powers = torch.arange(10, dtype=p.dtype)
    return torch.sin(pixels.x[..., None] * powers + p[:10]) + pixels.y[..., None] * p[10:] ** 2


@renderer(channels=CHANNELS)
def tall_by_a_product(pixels: Pixels, p: Tensor = param([0.1 * k for k in range(20)])) -> Tensor:
    basis = torch.stack([torch.ones_like(pixels.x), pixels.x], -1)
    return basis @ p.reshape(2, 10)


@pytest.mark.parametrize("source", [tall, tall_by_pixels, tall_by_a_product])
def test_a_tall_jacobian_takes_memory_about_its_own_size(source: Renderer) -> None:
    loaded = source.load("cpu", torch.float32)
    task = task_of(loaded, "p", size=(16, 128))
    found = sensitivity_map(loaded, task)
    assert found.strategy in ("forward", "per_pixel")  # both are exact; the cheaper is taken
    assert found.values is not None
    assert found.values.shape == (128, 16, 10, 20)
    peak = peak_bytes(
        lambda: sensitivity_map(loaded, task, method=found.method), torch.device("cpu")
    )
    assert peak <= 6 * found.values.nbytes
    # The way that would not do: a full matrix of pixels by pixels.
    assert peak < found.image.size**2


def test_an_entry_of_a_tall_jacobian_is_that_of_the_formula() -> None:
    found = mapped(tall, "p", size=(16, 128))
    assert found.values is not None
    x = (np.arange(16) - 7.5) / 8
    assert np.allclose(found.values[5, :, 3, 3], np.cos(3 * x + 0.3), rtol=1e-12)
    assert not found.values[:, :, 3, 4].any()


def test_a_wrong_row_would_be_noticed() -> None:
    found = mapped(four_pixels, "a", size=(2, 2))
    assert error(found, np.array([[1, 4], [np.cos(2) + 1e-4, 0]])) > bound(found)
    assert numbers(found).shape == (2, 2)
