"""C6 and C8: operations without a formula for the mode, and derivative rules that are wrong."""

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import grid_sample

from app.engine import DisagreementError
from renderers import Frame, Pixels, Renderer, param, renderer
from tests.cases.asking import DTYPES, Formula, bound, codes, error, mapped


def grid(dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    line = torch.linspace(-1, 1, 4, dtype=dtype)
    y, x = torch.meshgrid(line, line, indexing="ij")
    return x, y


def sampled(values: Tensor, x: Tensor, y: Tensor, mode: str = "bilinear") -> Tensor:
    where = torch.stack([x, y], -1)[None]
    return grid_sample(
        values[None, None], where, mode=mode, align_corners=True, padding_mode="border"
    )[0, 0]


@renderer(channels="grey")
def shifted_ramp(frame: Frame, a: Tensor = param(0.1)) -> Tensor:
    """C6."""
    x, y = grid(a.dtype)
    return sampled(torch.arange(16, dtype=a.dtype).reshape(4, 4), x + a, y)


@renderer(channels="grey")
def scaled_ramp(frame: Frame, a: Tensor = param(0.1)) -> Tensor:
    x, y = grid(a.dtype)
    return sampled(a**2 * torch.arange(16, dtype=a.dtype).reshape(4, 4), x, y)


@renderer(channels="grey")
def shifted_both_ways(frame: Frame, a: Tensor = param((0.1, 0.2))) -> Tensor:
    x, y = grid(a.dtype)
    return sampled(torch.arange(16, dtype=a.dtype).reshape(4, 4), x + a[0], y + a[1])


INSIDE = np.array([1.0, 1.0, 1.0, 0.0])


@DTYPES
@pytest.mark.parametrize(
    ("source", "right"),
    [
        (shifted_ramp, np.tile(1.5 * INSIDE, (4, 1))),
        (scaled_ramp, 0.2 * np.arange(16.0).reshape(4, 4)),
        (
            shifted_both_ways,
            np.stack([np.tile(1.5 * INSIDE, (4, 1)), np.tile(6.0 * INSIDE, (4, 1)).T], -1),
        ),
    ],
)
def test_an_operation_without_a_forward_formula_is_given_one(
    source: Renderer, right: np.ndarray, dtype: torch.dtype
) -> None:
    found = mapped(source, "a", size=(4, 4), dtype=dtype)
    assert found.strategy == "forward"
    assert codes(found) == set()
    assert error(found, right) <= bound(found)


class OldSquare(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x: Tensor) -> Tensor:  # type: ignore[no-untyped-def]
        ctx.save_for_backward(x)
        return x**2

    @staticmethod
    def backward(ctx, grad: Tensor) -> Tensor:  # type: ignore[no-untyped-def]
        return 2 * ctx.saved_tensors[0] * grad


class OnceSquare(OldSquare):
    @staticmethod
    @once_differentiable
    def backward(ctx, grad: Tensor) -> Tensor:  # type: ignore[no-untyped-def]
        return 2 * ctx.saved_tensors[0] * grad


class NumpySquare(OldSquare):
    @staticmethod
    def backward(ctx, grad: Tensor) -> Tensor:  # type: ignore[no-untyped-def]
        return torch.from_numpy(2 * ctx.saved_tensors[0].numpy() * grad.numpy())


def by_numpy(x: Tensor) -> Tensor:
    return torch.from_numpy(np.asarray(x.numpy() ** 2))


RULES = [
    (OldSquare.apply, "double_vjp"),
    (OnceSquare.apply, "finite_difference"),
    (NumpySquare.apply, "finite_difference"),
    (by_numpy, "finite_difference"),
]


@DTYPES
@pytest.mark.parametrize(("square", "rung"), RULES)
class TestACustomOperation:
    """C8, of the parameter, of every pixel, and of a vector."""

    def test_of_the_parameter(self, square, rung: str, dtype: torch.dtype) -> None:  # type: ignore[no-untyped-def]
        @renderer(channels="grey")
        def squared(pixels: Pixels, a: Tensor = param(3.0)) -> Tensor:
            return square(a) + 0 * pixels.x

        self.holds(squared, lambda x, y: 6 + 0 * x, rung, dtype)

    def test_of_every_pixel(self, square, rung: str, dtype: torch.dtype) -> None:  # type: ignore[no-untyped-def]
        @renderer(channels="grey")
        def squared(pixels: Pixels, a: Tensor = param(3.0)) -> Tensor:
            return torch.sin(square(a * pixels.x))

        self.holds(squared, lambda x, y: 6 * x**2 * np.cos(9 * x**2), rung, dtype)

    def test_of_a_vector_in_a_frame(self, square, rung: str, dtype: torch.dtype) -> None:  # type: ignore[no-untyped-def]
        @renderer(channels="grey")
        def squared(frame: Frame, a: Tensor = param((3.0, 0.5))) -> Tensor:
            pixels = frame.pixels()
            both = square(a)
            return both[0] * pixels.x + both[1] * pixels.y

        self.holds(squared, lambda x, y: np.stack([6 * x, y], -1), rung, dtype)

    def holds(self, source: Renderer, right: Formula, rung: str, dtype: torch.dtype) -> None:
        found = mapped(source, "a", dtype=dtype)
        assert found.strategy == rung
        assert codes(found) == set()
        assert error(found, right) <= bound(found)
        assert "forward" in dict(found.method.verdict.passed_over)


class WrongOnce(OldSquare):
    @staticmethod
    @once_differentiable
    def backward(ctx, grad: Tensor) -> Tensor:  # type: ignore[no-untyped-def]
        return 3 * ctx.saved_tensors[0] * grad


class WrongNumpy(OldSquare):
    @staticmethod
    def backward(ctx, grad: Tensor) -> Tensor:  # type: ignore[no-untyped-def]
        return torch.from_numpy(-2 * ctx.saved_tensors[0].numpy() * grad.numpy())


@DTYPES
@pytest.mark.parametrize("square", [WrongOnce.apply, WrongNumpy.apply])
def test_a_wrong_backward_that_nothing_else_knows_is_told_of(  # type: ignore[no-untyped-def]
    square, dtype: torch.dtype
) -> None:
    @renderer(channels="grey")
    def squared(pixels: Pixels, a: Tensor = param(3.0)) -> Tensor:
        return torch.sin(square(a * pixels.x))

    found = mapped(squared, "a", dtype=dtype)
    assert found.strategy == "finite_difference"
    assert codes(found) == {"backward_differs"}
    assert error(found, lambda x, y: 6 * x**2 * np.cos(9 * x**2)) <= bound(found)


class OldWithJvp(torch.autograd.Function):
    """The older form is closed to transforms, but not to dual tensors."""

    @staticmethod
    def forward(ctx, x: Tensor) -> Tensor:  # type: ignore[no-untyped-def]
        ctx.save_for_forward(x)
        return x**2

    @staticmethod
    def jvp(ctx, tangent: Tensor) -> Tensor:  # type: ignore[no-untyped-def]
        return 2 * ctx.saved_tensors[0] * tangent


@DTYPES
def test_an_older_function_with_a_forward_rule_is_followed_on_dual_tensors(
    dtype: torch.dtype,
) -> None:
    @renderer(channels="grey")
    def squared(pixels: Pixels, a: Tensor = param(3.0)) -> Tensor:
        return OldWithJvp.apply(a * pixels.x)

    found = mapped(squared, "a", dtype=dtype)
    assert found.strategy == "dual"
    assert error(found, lambda x, y: 6 * x**2) <= bound(found)


class WrongExp(torch.autograd.Function):
    """The exponential with a derivative that is wrong by 3 per cent: C15's first."""

    generate_vmap_rule = True
    factor = 1.03

    @staticmethod
    def forward(x: Tensor) -> Tensor:
        return x.exp()

    @staticmethod
    def setup_context(ctx, inputs, output) -> None:  # type: ignore[no-untyped-def]
        ctx.save_for_forward(output)
        ctx.save_for_backward(output)

    @staticmethod
    def jvp(ctx, tangent: Tensor) -> Tensor:  # type: ignore[no-untyped-def]
        return WrongExp.factor * ctx.saved_tensors[0] * tangent

    @staticmethod
    def backward(ctx, grad: Tensor) -> Tensor:  # type: ignore[no-untyped-def]
        return WrongExp.factor * ctx.saved_tensors[0] * grad


@DTYPES
@pytest.mark.parametrize("factor", [1.03, 0.97, 1.005, -1.0, 0.0])
def test_a_derivative_rule_that_is_wrong_by_a_little_is_not_believed(
    factor: float, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(WrongExp, "factor", factor)

    @renderer(channels="grey")
    def grows(pixels: Pixels, a: Tensor = param(0.4)) -> Tensor:
        return WrongExp.apply(a * pixels.x)

    found = mapped(grows, "a", dtype=dtype)
    assert found.strategy == "finite_difference"
    assert codes(found) == {"partly_detached" if factor else "tangent_lost"}
    assert error(found, lambda x, y: x * np.exp(0.4 * x)) <= bound(found)
    with pytest.raises(DisagreementError):
        mapped(grows, "a", dtype=dtype, strategy="forward")


@DTYPES
@pytest.mark.parametrize("where", ["frame", "a corner", "beside a right one"])
def test_it_is_found_in_a_part_of_the_image_too(where: str, dtype: torch.dtype) -> None:
    @renderer(channels="grey")
    def in_a_frame(frame: Frame, a: Tensor = param(0.4)) -> Tensor:
        return WrongExp.apply(a * frame.pixels().x)

    @renderer(channels="grey")
    def in_a_corner(pixels: Pixels, a: Tensor = param(0.4)) -> Tensor:
        grown = a * pixels.x
        corner = (pixels.x > 0.7) & (pixels.y > 0.7)
        return torch.where(corner, WrongExp.apply(grown), grown.exp())

    @renderer(channels="grey")
    def beside(pixels: Pixels, a: Tensor = param(0.4)) -> Tensor:
        return WrongExp.apply(a * pixels.x) + 0 * a

    source = {"frame": in_a_frame, "a corner": in_a_corner, "beside a right one": beside}[where]
    found = mapped(source, "a", size=(48, 48), dtype=dtype)
    assert found.strategy == "finite_difference"
    assert codes(found) == {"partly_detached"}
    assert error(found, lambda x, y: x * np.exp(0.4 * x)) <= bound(found)
