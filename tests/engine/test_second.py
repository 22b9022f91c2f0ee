"""Second derivatives: maps of maps, over closed forms and rules that are blind to them."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from app.engine import SensitivityMap, Task, first_derivative, sensitivity_map
from renderers import Pixels, Renderer, param, parse_subject, parse_wrt, renderer
from renderers.isp import Isp
from renderers.sphere import sphere
from tests.tolerances import CASE_BY_DIFFERENCES, JACOBIAN


def mapped(source: Renderer, second: str, *wrt: str, **given: Any) -> SensitivityMap:
    loaded = source.load("cpu", given.pop("dtype", torch.float64))
    spec = loaded.spec
    strategy = given.pop("strategy", "auto")
    subject = parse_subject(spec.params, wrt=wrt)
    task = Task(params=spec.bind(given), subject=subject, width=9, height=7, strategy=strategy)
    return sensitivity_map(first_derivative(loaded, task, parse_wrt(second, spec.params)), task)


class Square(torch.autograd.Function):
    """A custom operation whose rule for forward mode is blind to a second derivative."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor) -> Tensor:
        return x * x

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, ...], _: Tensor) -> None:
        ctx.save_for_backward(inputs[0])
        ctx.save_for_forward(inputs[0])

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        return 2 * ctx.saved_tensors[0] * gradient

    @staticmethod
    def jvp(ctx: Any, tangent: Tensor) -> Tensor:
        return 2 * ctx.saved_tensors[0] * tangent


@renderer(channels="grey")
def fourth(pixels: Pixels, a: Tensor = param(3.0, low=0.0, high=10.0)) -> Tensor:
    return Square.apply(Square.apply(a)) * torch.ones_like(pixels.x)  # type: ignore[no-untyped-call]


@renderer(channels="grey")
def waves(
    pixels: Pixels,
    a: Tensor = param(1.3, low=0.0, high=4.0),
    b: Tensor = param((0.4, -0.7), low=-2.0, high=2.0),
) -> Tensor:
    return torch.sin(a * pixels.x + b[1] * pixels.y) * torch.exp(b[0] * pixels.x)


def positions() -> tuple[np.ndarray, np.ndarray]:
    row, column = np.indices((7, 9))
    return (column + 0.5 - 4.5) * (2 / 7), (3.5 - 0.5 - row) * (2 / 7)


@pytest.mark.parametrize("strategy", ["auto", "forward", "per_pixel", "double_vjp"])
def test_all_second_derivatives_of_waves(strategy: str) -> None:
    x, y = positions()
    angle, fade = 1.3 * x - 0.7 * y, np.exp(0.4 * x)
    result = mapped(waves, "a", "a", "b", strategy=strategy)
    by_a, by_b = result.maps
    np.testing.assert_allclose(by_a[..., 0], -x * x * np.sin(angle) * fade, atol=1e-12)
    np.testing.assert_allclose(by_b[..., 0, 0], x * x * np.cos(angle) * fade, atol=1e-12)
    np.testing.assert_allclose(by_b[..., 0, 1], -x * y * np.sin(angle) * fade, atol=1e-12)
    np.testing.assert_allclose(result.image[..., 0], x * np.cos(angle) * fade, atol=1e-12)
    assert result.certificate is not None
    assert not result.certificate.findings


def test_a_rule_that_is_blind_to_it_gives_no_silent_zero() -> None:
    result = mapped(fourth, "a", "a")
    assert result.strategy == "double_vjp"
    np.testing.assert_allclose(result.maps[0], 108.0, rtol=1e-12)
    np.testing.assert_allclose(result.image, 108.0, rtol=1e-12)
    assert dict(result.method.verdict.passed_over)["forward"].count("tangent_lost")


def test_a_third_derivative_is_one_of_a_second() -> None:
    loaded = fourth.load("cpu", torch.float64)
    task = Task(
        params=loaded.spec.bind({}),
        subject=parse_subject(loaded.spec.params, wrt="a"),
        width=4,
        height=4,
    )
    a = parse_wrt("a", loaded.spec.params)
    second = first_derivative(first_derivative(loaded, task, a), task, a)
    found = sensitivity_map(second, task).maps[0]
    np.testing.assert_allclose(found, 72.0, rtol=CASE_BY_DIFFERENCES["float64"])


@pytest.mark.parametrize(("source", "first", "then"), [(sphere, "light[0]", "albedo[1]"),
                                                       (sphere, "radius", "frequency"),
                                                       (Isp, "k1", "gamma")])  # fmt: skip
def test_the_order_of_two_parameters_does_not_matter(
    source: Renderer, first: str, then: str
) -> None:
    one, other = mapped(source, first, then), mapped(source, then, first)
    size = float(np.abs(one.maps[0]).max())
    assert size > 0
    np.testing.assert_allclose(one.maps[0], other.maps[0], atol=JACOBIAN * size)


def test_the_second_derivative_is_that_of_the_first_by_differences() -> None:
    h = 1e-5
    ahead, behind = (mapped(sphere, "radius", "frequency", radius=0.7 + s) for s in (h, -h))
    curved = mapped(sphere, "radius", "radius").maps[0]
    slope = (ahead.image - behind.image) / (2 * h)
    np.testing.assert_allclose(curved, slope, atol=1e-6 * np.abs(slope).max())


def test_it_is_of_one_number() -> None:
    with pytest.raises(ValueError, match="entry"):
        mapped(waves, "b", "a")
