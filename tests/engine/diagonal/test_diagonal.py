"""Asking for a diagonal: ways to differentiate, what is refused, memory, and what is doubted."""

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from app.engine import EngineError, RenderError, StrategyError
from app.engine.diagonal import (
    METHODS,
    NotSquareError,
    UnknownMethodError,
    diagonal,
    diagonal_of,
    operator_of,
)
from app.engine.memory import peak_bytes
from tests.engine.diagonal.fields import Function, blurred, draw, jacobian, tone_slope, toned
from tests.tolerances import DIAGONAL

CPU = torch.device("cpu")
FIELD = torch.tensor([[2.0, 1.0], [0.0, 3.0]], dtype=torch.float64)


class Square(torch.autograd.Function):
    """A square that only reverse mode knows."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x**2

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, cotangent: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return 2 * x * cotangent


def squared(x: Tensor) -> Tensor:
    result: Tensor = Square.apply(x)
    return result


def test_the_field_of_the_case() -> None:
    found = diagonal(lambda x: FIELD @ x, torch.tensor([0.3, 0.4], dtype=torch.float64))
    assert found.method == "loop"
    assert found.values is not None
    assert found.values.tolist() == [2.0, 3.0]
    assert (found.trace, found.standard_error, found.passes) == (5.0, 0.0, 2)
    assert found.findings == ()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_a_small_dense_jacobian_is_looped_over(dtype: torch.dtype) -> None:
    weights = draw(96, 96, seed=3)

    def function(image: Tensor) -> Tensor:
        return torch.tanh(weights.to(image.dtype) @ image.reshape(-1)).reshape(image.shape)

    point = 0.1 * draw(8, 4, 3, dtype=dtype)
    found = diagonal(function, point)
    wanted = jacobian(function, point.double()).diagonal()
    assert (found.method, found.passes) == ("loop", 96)
    assert found.values is not None
    bound = DIAGONAL if dtype is torch.float64 else 1e-5
    assert float((found.values.double().reshape(-1) - wanted).abs().max()) < bound
    assert found.trace == pytest.approx(float(wanted.sum()), abs=96 * bound)


@pytest.mark.parametrize("method", ["pointwise", "stencil", "loop", "hutchinson"])
def test_what_only_reverse_mode_knows_is_done_by_transposed_products(method: str) -> None:
    def function(image: Tensor) -> Tensor:
        return squared(image) if method == "pointwise" else blurred(squared(image))

    point = draw(12, 10)
    found = diagonal(function, point, method=method, passes=400)
    wanted = jacobian(function, point).diagonal().reshape(12, 10)
    assert found.mode == "reverse"
    assert found.values is not None
    if method == "hutchinson":
        assert found.errors is not None
        assert float(((found.values - wanted) / found.errors).abs().max()) < 5
    else:
        assert float((found.values - wanted).abs().max()) < DIAGONAL * float(wanted.abs().max())
        assert found.findings == ()


def test_transposed_products_have_no_transpose_of_their_own() -> None:
    with pytest.raises(StrategyError, match="only one mode"):
        diagonal(squared, draw(40), method="xdiag")


def test_what_neither_mode_knows_is_refused_with_both_reasons() -> None:
    with pytest.raises(StrategyError, match=r"Forward: .* Reverse: "):
        diagonal(lambda x: torch.from_numpy(x.detach().numpy() ** 2), draw(40))


def test_what_vmap_refuses_goes_one_after_another() -> None:
    def function(image: Tensor) -> Tensor:
        kept = torch.zeros(image.shape, dtype=image.dtype)
        kept[0] = image[0].detach().clone() if bool(image.sum() > 1e9) else kept[0]
        return toned(image) + kept

    point = draw(30, 20)
    found = diagonal(function, point)
    assert found.method == "pointwise"
    assert found.values is not None
    assert float((found.values - tone_slope(point)).abs().max()) < DIAGONAL


def test_an_operation_without_a_forward_formula_is_pushed_through_ours() -> None:
    def function(image: Tensor) -> Tensor:
        y, x = torch.meshgrid(
            torch.linspace(-1, 1, 20, dtype=image.dtype),
            torch.linspace(-1, 1, 30, dtype=image.dtype), indexing="ij",
        )  # fmt: skip
        grid = torch.stack([x + 0.02, y], dim=-1)[None]
        return torch.nn.functional.grid_sample(
            image[None, None], grid, align_corners=True, padding_mode="border"
        )[0, 0]

    point = draw(20, 30)
    found = diagonal(function, point)
    wanted = jacobian(function, point).diagonal().reshape(20, 30)
    assert (found.method, found.mode) == ("stencil", "forward")
    assert found.values is not None
    assert float((found.values - wanted).abs().max()) < DIAGONAL


# --- refused --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "function",
    [
        lambda image: image[:-1],
        lambda image: image.mean(),
        lambda image: torch.stack([image] * 3, -1),
        lambda image: image.T,
        lambda image: image[None],
        lambda image: image.shape,
    ],
)
def test_an_image_of_another_shape_is_refused(function: Function) -> None:
    with pytest.raises(NotSquareError, match=r"of the shape of the parameter, \[5, 4\]; got"):
        diagonal(function, draw(5, 4))


@pytest.mark.parametrize("point", [torch.arange(6), torch.zeros(0, 3), torch.zeros(3).cfloat()])
def test_a_point_without_real_numbers_is_refused(point: Tensor) -> None:
    with pytest.raises(NotSquareError, match="to hold real numbers"):
        diagonal(lambda x: x, point)


def test_an_unknown_method_is_answered_with_those_there_are() -> None:
    with pytest.raises(UnknownMethodError, match="there are auto, pointwise") as caught:
        diagonal(toned, draw(5), method="pointwize")
    assert "Did you mean 'pointwise'?" in str(caught.value)
    assert (caught.value.code, caught.value.field) == ("unknown_method", "method")


def test_a_function_that_raises_is_told_without_its_paths() -> None:
    def function(image: Tensor) -> Tensor:
        raise ValueError(f"no file /data/scans/secret.txt for {len(image)}")

    with pytest.raises(RenderError, match="no file <path> for 5"):
        diagonal(function, draw(5))


@pytest.mark.parametrize("error", [NotSquareError, UnknownMethodError])
def test_errors_are_of_the_engine(error: type[EngineError]) -> None:
    assert issubclass(error, EngineError)
    assert error.code != EngineError.code


# --- memory ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["stencil", "loop", "hutchinson"])
def test_vectors_are_pushed_as_the_budget_allows(method: str) -> None:
    point, budget = draw(14, 15), 1 << 18

    def run(room: int) -> int:
        operator = operator_of(lambda image: toned(blurred(image)), point, budget=room)
        return peak_bytes(lambda: diagonal_of(operator, method=method, passes=64), CPU)

    # What is beside the groups: the diagonal, sums for two random vectors, their expectations.
    beside = 40 * point.nbytes
    assert run(budget) < budget + beside
    assert run(1) < 60 * point.nbytes


def test_a_group_that_does_not_fit_is_halved() -> None:
    operator = operator_of(toned, draw(300))
    inner, asked = operator.products, []

    def products(vectors: Tensor) -> Tensor:
        asked.append(len(vectors))
        if len(vectors) > 100:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return inner(vectors)

    operator.products = products
    operator.together = 300
    found = diagonal_of(operator, method="loop")
    assert max(asked[asked.index(75) :]) == 75
    assert found.values is not None
    assert float((found.values - tone_slope(draw(300))).abs().max()) < DIAGONAL


# --- doubts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize(
    ("function", "code"),
    [
        (lambda x: x + torch.sin(x.detach()), "partly_detached"),
        (lambda x: torch.sin(x.detach()) + 0 * x, "tangent_lost"),
    ],
)
def test_a_derivative_that_torch_loses_is_said_to_be(
    function: Function, code: str, dtype: torch.dtype
) -> None:
    found = diagonal(function, draw(30, 20, dtype=dtype))
    assert [finding.code for finding in found.findings] == [code]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize(
    "function",
    [
        toned,
        lambda x: torch.relu(x),
        lambda x: torch.zeros_like(x),
        lambda x: x**3 * 1e-6,
        lambda x: torch.floor(4 * x) + x,
        lambda x: x / x.abs().max(),
        lambda x: torch.sqrt(x.abs()),
    ],
    ids=["tone", "relu", "zero", "small", "steps", "maximum", "root"],
)
def test_nothing_else_is_doubted(function: Function, dtype: torch.dtype) -> None:
    found = diagonal(function, draw(30, 20, dtype=dtype), passes=8)
    assert {finding.code for finding in found.findings} <= {"estimated"}


def test_a_wrong_backward_is_doubted_too() -> None:
    class Wrong(Square):
        @staticmethod
        @once_differentiable
        def backward(ctx: Any, cotangent: Tensor) -> Tensor:
            (x,) = ctx.saved_tensors
            return x * cotangent

    def wrong(x: Tensor) -> Tensor:
        result: Tensor = Wrong.apply(x)
        return result

    found = diagonal(wrong, draw(30, 20))
    assert found.mode == "reverse"
    assert [finding.code for finding in found.findings] == ["partly_detached"]


def test_what_cannot_be_moved_is_said_to_be_unverified() -> None:
    point = torch.full((30,), 1.0, dtype=torch.float64)

    def function(image: Tensor) -> Tensor:
        if not torch.equal(image.detach(), point):
            raise ValueError("out of range")
        return image**2

    # A transform hides its values from `equal`, so that reverse mode is left.
    found = diagonal(function, point)
    assert [finding.code for finding in found.findings] == ["unverified"]
    assert found.trace == 60.0


@pytest.mark.parametrize("method", METHODS)
def test_an_answer_describes_itself(method: str) -> None:
    found = diagonal(toned, draw(40), method=method, passes=12)
    said = found.describe()
    assert said["method"] in METHODS[1:]
    assert said["evidence"]
    assert said["passes"] > 0
    assert said["exact"] == (found.standard_error == 0.0 and found.errors is None)
