"""C2, and C9 in its first order: where the modes of differentiation differ, and custom rules."""

import numpy as np
import pytest
import torch
from torch import Tensor

from renderers import Pixels, Renderer, param, renderer
from tests.cases.asking import DTYPES, Formula, bound, codes, error, mapped


@renderer(channels="grey")
def square_apart(pixels: Pixels, a: Tensor = param(2.0)) -> Tensor:
    """C2."""
    with torch.no_grad():
        square = a**2
    return 3 * a + square + 0 * pixels.x


@renderer(channels="grey")
def shading_apart(pixels: Pixels, a: Tensor = param(2.0)) -> Tensor:
    with torch.no_grad():
        shade = torch.sin(a * pixels.x)
    return a * shade


@torch.no_grad()
def all_of_it(pixels: Pixels, a: Tensor = param(2.0)) -> Tensor:
    return a**2 * pixels.x


apart = renderer(channels="grey")(all_of_it)

MODES: list[tuple[Renderer, Formula]] = [
    (square_apart, lambda x, y: 7 + 0 * x),
    (shading_apart, lambda x, y: np.sin(2 * x) + 2 * x * np.cos(2 * x)),
    (apart, lambda x, y: 4 * x),
]


@DTYPES
@pytest.mark.parametrize(("source", "right"), MODES)
def test_no_grad_does_not_stop_forward_mode_and_the_difference_is_noted(
    source: Renderer, right: Formula, dtype: torch.dtype
) -> None:
    found = mapped(source, "a", dtype=dtype)
    assert found.strategy == "forward"
    assert codes(found) == {"modes_differ"}
    assert error(found, right) <= bound(found)


def test_modes_that_agree_are_not_noted() -> None:
    @renderer(channels="grey")
    def plain(pixels: Pixels, a: Tensor = param(2.0)) -> Tensor:
        return 3 * a + a**2 + 0 * pixels.x

    assert codes(mapped(plain, "a")) == set()


def test_a_pixel_that_is_no_number_is_not_taken_for_modes_that_differ() -> None:
    @renderer(channels="grey")
    def root(pixels: Pixels, a: Tensor = param(1.5)) -> Tensor:
        return torch.sqrt(pixels.x) * a**2

    assert codes(mapped(root, "a")) == {"non_finite"}


class Square(torch.autograd.Function):
    """The square with rules of its own in both modes, as a library for any mode writes it."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor) -> Tensor:
        return x**2

    @staticmethod
    def setup_context(ctx, inputs, output) -> None:  # type: ignore[no-untyped-def]
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, grad: Tensor) -> Tensor:  # type: ignore[no-untyped-def]
        return 2 * ctx.saved_tensors[0] * grad

    @staticmethod
    def jvp(ctx, tangent: Tensor) -> Tensor:  # type: ignore[no-untyped-def]
        return 2 * ctx.saved_tensors[0] * tangent


@renderer(channels="grey")
def fourth_power(pixels: Pixels, a: Tensor = param(3.0)) -> Tensor:
    """C9."""
    return Square.apply(a) ** 2 + 0 * pixels.x


@renderer(channels="grey")
def nested(pixels: Pixels, a: Tensor = param(3.0)) -> Tensor:
    return Square.apply(Square.apply(a * pixels.x))


@renderer(channels="grey")
def squares_of_pixels(pixels: Pixels, a: Tensor = param((3.0, 0.5))) -> Tensor:
    return Square.apply(a[0] * pixels.x + a[1])


@DTYPES
@pytest.mark.parametrize(
    ("source", "right"),
    [
        (fourth_power, lambda x, y: 108 + 0 * x),
        (nested, lambda x, y: 108 * x**4),
        (
            squares_of_pixels,
            lambda x, y: 2 * (3 * x + 0.5)[..., None] * np.stack([x, np.ones_like(x)], -1),
        ),
    ],
)
def test_a_custom_rule_is_followed(source: Renderer, right: Formula, dtype: torch.dtype) -> None:
    found = mapped(source, "a", dtype=dtype)
    assert found.strategy == "forward"
    assert codes(found) == set()
    assert error(found, right) <= bound(found)
