"""C7 and C21: writes in place, state set from the parameter, and what `vmap` refuses."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from renderers import Frame, Pixels, Renderer, param, renderer
from tests.cases.asking import DTYPES, READS_NUMBERS, Formula, bound, codes, error, mapped

pytestmark = READS_NUMBERS
THREE = (0.4, 2.0, 3.0)


@renderer(channels="grey")
def row_set(frame: Frame, a: Tensor = param(3.0)) -> Tensor:
    """C7."""
    image = torch.zeros(2, 2, dtype=a.dtype)
    image[0] = a
    return image


@renderer(channels="grey")
def row_set_by_a_vector(frame: Frame, a: Tensor = param((3.0, 4.0))) -> Tensor:
    """C7, with a parameter of two."""
    image = torch.zeros(2, 2, dtype=a.dtype)
    image[0] = a
    return image


@renderer(channels="grey")
def filled_by_a_mask(frame: Frame, a: Tensor = param((3.0, 4.0))) -> Tensor:
    image = torch.zeros(2, 2, dtype=a.dtype)
    image[torch.tensor([[True, True], [False, False]])] = a
    return image


@renderer(channels="grey")
def added_in_place(frame: Frame, a: Tensor = param((3.0, 4.0))) -> Tensor:
    image = torch.zeros(2, 2, dtype=a.dtype)
    image[0, 0].add_(a[0])
    image[0, 1] += a[1]
    return image


@renderer(channels="grey")
def scattered(frame: Frame, a: Tensor = param((3.0, 4.0))) -> Tensor:
    places = torch.tensor([0, 1])
    return torch.zeros(4, dtype=a.dtype).index_add_(0, places, a).reshape(2, 2)


TWO_COLUMNS = np.zeros((2, 2, 2))
TWO_COLUMNS[0] = np.eye(2)


@DTYPES
@pytest.mark.parametrize(
    ("source", "right"),
    [
        (row_set, np.array([[1.0, 1.0], [0.0, 0.0]])),
        (row_set_by_a_vector, TWO_COLUMNS),
        (filled_by_a_mask, TWO_COLUMNS),
        (added_in_place, TWO_COLUMNS),
        (scattered, TWO_COLUMNS),
    ],
)
def test_a_write_into_a_buffer_is_differentiated(
    source: Renderer, right: np.ndarray, dtype: torch.dtype
) -> None:
    found = mapped(source, "a", size=(2, 2), dtype=dtype)
    assert error(found, right) <= bound(found)
    assert codes(found) == set()


@renderer(channels="grey")
def painted(pixels: Pixels, a: Tensor = param(THREE)) -> Tensor:
    image = torch.zeros_like(pixels.x)
    image += a[0] * pixels.x
    image[:] = image + a[1] ** 2
    return image + a[2] * 0.5


@renderer(channels="grey")
def branching(pixels: Pixels, a: Tensor = param(THREE)) -> Tensor:
    return a[1] ** 2 * pixels.x if a[0] > 0 else a[2] * pixels.x


@renderer(channels="grey")
def looping(pixels: Pixels, a: Tensor = param(THREE)) -> Tensor:
    image = 0 * pixels.x
    while float(image.abs().max()) < 5:
        image = image + a[1] * a[2] * (1 + pixels.x**2)
    return image


@renderer(channels="grey")
def choosing_pixels(pixels: Pixels, a: Tensor = param(THREE)) -> Tensor:
    bright = (a[1] * pixels.x > 0).nonzero()[:, 0]
    return torch.zeros_like(pixels.x).index_put((bright,), a[2] ** 2 * pixels.x[bright])


def columns(*entries: np.ndarray) -> np.ndarray:
    return np.stack([entry + np.zeros(entries[0].shape) for entry in entries], -1)


@DTYPES
@pytest.mark.parametrize(
    ("source", "right"),
    [
        (painted, lambda x, y: columns(x, 4 + 0 * x, 0.5 + 0 * x)),
        (branching, lambda x, y: columns(0 * x, 4 * x, 0 * x)),
        (looping, lambda x, y: columns(0 * x, 3 * (1 + x**2), 2 * (1 + x**2))),
        (choosing_pixels, lambda x, y: columns(0 * x, 0 * x, np.where(x > 0, 6 * x, 0))),
    ],
)
def test_branches_loops_and_writes_on_the_way_are_followed_for_a_vector(
    source: Renderer, right: Formula, dtype: torch.dtype
) -> None:
    found = mapped(source, "a", dtype=dtype)
    assert found.strategy in ("forward", "per_pixel")  # both are exact; the cheaper is taken
    assert error(found, right) <= bound(found)
    assert codes(found) == set()


class OneAtATime(torch.autograd.Function):
    """A custom rule that knows of no batches."""

    @staticmethod
    def forward(x: Tensor) -> Tensor:
        return x**2

    @staticmethod
    def setup_context(ctx, inputs, output) -> None:  # type: ignore[no-untyped-def]
        ctx.save_for_forward(*inputs)

    @staticmethod
    def jvp(ctx, tangent: Tensor) -> Tensor:  # type: ignore[no-untyped-def]
        return 2 * ctx.saved_tensors[0] * tangent


@renderer(channels="grey")
def squared_one_at_a_time(pixels: Pixels, a: Tensor = param(THREE)) -> Tensor:
    return OneAtATime.apply(a).sum() * pixels.x


@renderer(channels="grey")
def pixels_one_at_a_time(pixels: Pixels, a: Tensor = param(THREE)) -> Tensor:
    return OneAtATime.apply(a[0] * pixels.x + a[1] * pixels.y + a[2])


@DTYPES
@pytest.mark.parametrize(
    ("source", "right"),
    [
        (squared_one_at_a_time, lambda x, y: columns(0.8 * x, 4 * x, 6 * x)),
        (
            pixels_one_at_a_time,
            lambda x, y: 2 * (0.4 * x + 2 * y + 3)[..., None] * columns(x, y, 1.0),
        ),
    ],
)
def test_what_vmap_refuses_is_carried_one_direction_after_another(
    source: Renderer, right: Formula, dtype: torch.dtype
) -> None:
    found = mapped(source, "a", dtype=dtype)
    assert found.strategy == "forward"
    assert found.method.verdict.at_once == 1
    assert error(found, right) <= bound(found)
    assert codes(found) == set()


class SetsABuffer:
    """C21."""

    def __init__(self, device: torch.device, dtype: torch.dtype) -> None:
        self.buffer = torch.zeros(3, dtype=dtype)

    def render(self, pixels: Pixels, a: Tensor = param(3.0)) -> Tensor:
        self.buffer[0] = a
        return self.buffer[0] ** 2 + 0 * pixels.x


class SetsALayer(torch.nn.Module):
    def __init__(self, device: torch.device, dtype: torch.dtype) -> None:
        super().__init__()
        self.register_buffer("gain", torch.ones((), dtype=dtype))

    def render(self, pixels: Pixels, a: Tensor = param(3.0)) -> Tensor:
        self.gain.copy_(a)
        return self.gain**2 * torch.ones_like(pixels.x)


class FillsALut:
    def __init__(self, device: torch.device, dtype: torch.dtype) -> None:
        self.table = torch.zeros(8, dtype=dtype)

    def render(self, pixels: Pixels, a: Tensor = param(3.0)) -> Tensor:
        self.table.zero_().add_(a**2)
        return self.table[(pixels.x.abs() * 3).long()]


class SetsAnAttribute:
    """Binding a name is no write: forward mode follows it."""

    def __init__(self, device: torch.device, dtype: torch.dtype) -> None:
        self.gain: Tensor | None = None

    def render(self, pixels: Pixels, a: Tensor = param(3.0)) -> Tensor:
        self.gain = a
        return self.gain**2 + 0 * pixels.x


@DTYPES
@pytest.mark.parametrize(
    ("kind", "rung"),
    [
        (SetsABuffer, "dual"),
        (SetsALayer, "dual"),
        (FillsALut, "dual"),
        (SetsAnAttribute, "forward"),
    ],
)
def test_state_that_is_set_from_the_parameter_is_differentiated(
    kind: Callable[..., object], rung: str, dtype: torch.dtype
) -> None:
    loaded = renderer(channels="grey")(kind).load("cpu", dtype)
    for value in (3.0, 3.0, -1.0):
        found = mapped(loaded, "a", a=value)
        assert found.strategy == rung
        assert codes(found) == set()
        assert error(found, lambda x, y, slope=2 * value: slope + 0 * x) <= bound(found)
