"""C15: parameters of any size and at their bounds, kinks, and what rounding does."""

import numpy as np
import pytest
import torch
from torch import Tensor

from renderers import Frame, Pixels, Renderer, param, renderer
from tests.cases.asking import DTYPES, Formula, bound, codes, error, mapped

SIZES = [2e4, 1e-6, 1e9, 1e-9, 1.0, -3e5]


@DTYPES
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("strategy", ["auto", "finite_difference"])
def test_a_parameter_may_have_any_size(size: float, strategy: str, dtype: torch.dtype) -> None:
    @renderer(channels="grey")
    def grows(pixels: Pixels, a: Tensor = param(size)) -> Tensor:
        return torch.exp(a / size * pixels.x)

    found = mapped(grows, "a", dtype=dtype, strategy=strategy)
    assert found.strategy == ("forward" if strategy == "auto" else strategy)
    assert codes(found) == set()
    assert error(found, lambda x, y: x / size * np.exp(x)) <= bound(found)


@DTYPES
@pytest.mark.parametrize("size", SIZES)
def test_so_it_may_where_differences_are_all_there_is(size: float, dtype: torch.dtype) -> None:
    @renderer(channels="grey")
    def grows(pixels: Pixels, a: Tensor = param(size)) -> Tensor:
        return torch.from_numpy(np.exp(a.numpy() / size * pixels.x.numpy()))

    found = mapped(grows, "a", dtype=dtype)
    assert found.strategy == "finite_difference"
    assert codes(found) == set()
    assert error(found, lambda x, y: x / size * np.exp(x)) <= bound(found)


# Differences take a parameter of 1e-9 for one that is counted in such units, and round accordingly.
@DTYPES
@pytest.mark.parametrize(
    ("strategy", "value"),
    [("auto", 0.0), ("auto", 1e-9), ("auto", -1e-9), ("finite_difference", 0.0)],
)
def test_a_parameter_without_bounds_may_be_zero(
    strategy: str, value: float, dtype: torch.dtype
) -> None:
    @renderer(channels="grey")
    def waves(pixels: Pixels, a: Tensor = param(0.0)) -> Tensor:
        return torch.sin(3 * a + pixels.x)

    found = mapped(waves, "a", dtype=dtype, strategy=strategy, a=value)
    assert codes(found) == set()
    assert error(found, lambda x, y: 3 * np.cos(x + 3 * value)) <= bound(found)


@renderer(channels="grey")
def strict(pixels: Pixels, a: Tensor = param(1.0, low=0.0, high=1.0)) -> Tensor:
    """Raises outside of its bounds, as it may."""
    if not 0 <= float(a) <= 1:
        raise ValueError("out of range")
    return (a**2 + a) * (1 + pixels.x)


@renderer(channels="grey")
def undefined_outside(pixels: Pixels, a: Tensor = param(1.0, low=0.0, high=1.0)) -> Tensor:
    inside = torch.sqrt(a * (1 - a) + 1e-300) * 0
    return (a**2 + a) * (1 + pixels.x) + torch.where(torch.isnan(inside), inside, 0.0)


@renderer(channels="grey")
def strict_in_numpy(pixels: Pixels, a: Tensor = param(1.0, low=0.0, high=1.0)) -> Tensor:
    value = a.numpy()
    if not 0 <= value <= 1:
        raise ValueError("out of range")
    return torch.from_numpy((value**2 + value) * (1 + pixels.x.numpy()))


@renderer(channels="grey")
def strict_in_a_frame(frame: Frame, a: Tensor = param(1.0, low=0.0, high=1.0)) -> Tensor:
    if not 0 <= float(a) <= 1:
        raise ValueError("out of range")
    return (a**2 + a) * (1 + frame.pixels().x)


@DTYPES
@pytest.mark.parametrize("value", [0.0, 1.0, 0.999, 0.5])
@pytest.mark.parametrize("source", [strict, undefined_outside, strict_in_numpy, strict_in_a_frame])
@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_parameter_at_its_bounds_is_never_moved_beyond_them(
    source: Renderer, value: float, dtype: torch.dtype
) -> None:
    found = mapped(source, "a", dtype=dtype, a=value)
    assert codes(found) == set()
    assert error(found, lambda x, y: (2 * value + 1) * (1 + x)) <= bound(found)


def checked(a: Tensor) -> Tensor:
    if float(a.min()) < 0 or float(a.max()) > 1:
        raise ValueError("out of range")
    return a


@renderer(channels="grey")
def strict_vector(pixels: Pixels, a: Tensor = param((0.0, 1.0), low=0.0, high=1.0)) -> Tensor:
    a = checked(a)
    return a[0] + a[1] ** 2 * pixels.x


@renderer(channels="grey")
def strict_vector_in_a_frame(
    frame: Frame, a: Tensor = param((0.0, 1.0), low=0.0, high=1.0)
) -> Tensor:
    a = checked(a)
    return a[0] + a[1] ** 2 * frame.pixels().x


@renderer(channels="grey")
def strict_vector_with_an_edge(
    pixels: Pixels, a: Tensor = param((0.0, 1.0), low=0.0, high=1.0)
) -> Tensor:
    """The edge stands still, which is found out by moving the parameter, inwards."""
    a = checked(a)
    return 5 * (pixels.x > 0.1).to(a.dtype) + a[0] + a[1] ** 2 * pixels.x


@DTYPES
@pytest.mark.parametrize("strategy", ["auto", "finite_difference"])
@pytest.mark.parametrize(
    "source", [strict_vector, strict_vector_in_a_frame, strict_vector_with_an_edge]
)
def test_nor_is_a_vector_with_entries_at_either_bound(
    source: Renderer, strategy: str, dtype: torch.dtype
) -> None:
    found = mapped(source, "a", dtype=dtype, strategy=strategy)
    assert codes(found) == set()
    assert error(found, lambda x, y: np.stack([1 + 0 * x, 2 * x], -1)) <= bound(found)


@renderer(channels="grey")
def relu(pixels: Pixels, a: Tensor = param(0.0, low=-1.0, high=1.0)) -> Tensor:
    return torch.relu(a) * (1 + pixels.x**2)


@renderer(channels="grey")
def absolute(pixels: Pixels, a: Tensor = param(0.0)) -> Tensor:
    return torch.abs(a) * (2 + pixels.x)


@renderer(channels="grey")
def clamped(pixels: Pixels, a: Tensor = param(0.5)) -> Tensor:
    return torch.clamp(a, 0.0, 0.5) * (2 + pixels.x)


@renderer(channels="grey")
def kinked_in_a_column(pixels: Pixels, a: Tensor = param(0.0)) -> Tensor:
    """The kink lies on the middle column of a frame of odd width."""
    return torch.relu(a - pixels.x) + a * pixels.y


@renderer(channels="grey")
def larger_of_two(pixels: Pixels, a: Tensor = param(0.0)) -> Tensor:
    return torch.maximum(a, -a) * (2 + pixels.y) + a * pixels.x


@renderer(channels="grey")
def absolute_in_a_frame(frame: Frame, a: Tensor = param(0.0)) -> Tensor:
    return torch.abs(a) * (2 + frame.pixels().x)


@DTYPES
@pytest.mark.parametrize("source", [absolute, larger_of_two, absolute_in_a_frame])
def test_a_kink_between_two_opposite_slopes_is_said_to_be_one(
    source: Renderer, dtype: torch.dtype
) -> None:
    found = mapped(source, "a", size=(31, 20), dtype=dtype)
    assert found.strategy == "forward"
    assert codes(found) == {"non_smooth_point"}
    assert codes(mapped(source, "a", size=(31, 20), dtype=dtype, a=0.2)) == set()


@DTYPES
@pytest.mark.parametrize("source", [relu, clamped, kinked_in_a_column])
def test_a_kink_at_the_value_is_said_to_be_one_and_not_a_mistake(
    source: Renderer, dtype: torch.dtype
) -> None:
    found = mapped(source, "a", size=(31, 20), dtype=dtype)
    assert found.strategy == "forward"
    assert codes(found) == {"non_smooth_point"}


@DTYPES
@pytest.mark.parametrize("source", [relu, absolute, clamped, kinked_in_a_column])
def test_beside_the_kink_nothing_is_said(source: Renderer, dtype: torch.dtype) -> None:
    assert codes(mapped(source, "a", size=(31, 20), dtype=dtype, a=0.213)) == set()


@renderer(channels="grey")
def far_phase(pixels: Pixels, a: Tensor = param(1.5)) -> Tensor:
    return torch.sin(1e5 + 7.3 * a + 1.7 * pixels.x)


@renderer(channels="grey")
def far_difference(pixels: Pixels, a: Tensor = param(1.5)) -> Tensor:
    """The distance of two planes far away, seen through a sine."""
    near, far = 3e4 + a * (1 + pixels.x**2), 3e4 - a * pixels.y
    return torch.cos(3 * (near - far))


@renderer(channels="grey")
def far_origin(frame: Frame, a: Tensor = param(1.5)) -> Tensor:
    pixels = frame.pixels()
    return torch.sin((pixels.x + 7.3 * a + 65536.1) * 1.3)


FAR: list[tuple[Renderer, Formula]] = [
    (far_phase, lambda x, y: 7.3 * np.cos(1e5 + 7.3 * 1.5 + 1.7 * x)),
    (
        far_difference,
        lambda x, y: -3 * (1 + x**2 + y) * np.sin(4.5 * (1 + x**2 + y)),
    ),
    (far_origin, lambda x, y: 9.49 * np.cos((x + 7.3 * 1.5 + 65536.1) * 1.3)),
]


@pytest.mark.parametrize(("source", "right"), FAR)
def test_float32_that_cancels_is_told_with_by_how_much(source: Renderer, right: Formula) -> None:
    rough = mapped(source, "a", size=(60, 50), dtype=torch.float32)
    assert rough.strategy == "forward"
    assert "precision" in codes(rough)
    assert not codes(rough) & {"partly_detached", "tangent_lost"}
    assert rough.certificate is not None
    (finding,) = (f for f in rough.certificate.findings if f.code == "precision")
    assert "of the largest derivative" in finding.detail
    assert 1e-3 < error(rough, right) < 0.1
    fine = mapped(source, "a", size=(60, 50), dtype=torch.float64)
    assert codes(fine) == set()
    assert error(fine, right) <= bound(fine)


@renderer(channels="grey")
def cancelling(pixels: Pixels, a: Tensor = param(1.5)) -> Tensor:
    return (3e5 + a * pixels.x) ** 2 - 6e5 * a * pixels.x - 9e10


def test_rounding_of_float64_is_not_taken_for_a_wrong_derivative() -> None:
    found = mapped(cancelling, "a", size=(64, 64))
    assert found.strategy == "forward"
    assert codes(found) == set()
    assert error(found, lambda x, y: 3 * x**2) <= bound(found)


@renderer(channels="grey")
def cancelling_frame(frame: Frame, a: Tensor = param(1.5)) -> Tensor:
    x = frame.pixels().x
    return (4e5 + a * x) ** 2 - 8e5 * a * x - 1.6e11


@renderer(channels="grey")
def cancelling_cube(pixels: Pixels, a: Tensor = param(1.5)) -> Tensor:
    part = a * (pixels.x + 2)
    return (1e5 + part) ** 2 * 3 - 6e5 * part - 3e10


@pytest.mark.parametrize("source", [cancelling, cancelling_frame, cancelling_cube])
def test_nor_is_that_of_float32(source: Renderer) -> None:
    found = mapped(source, "a", size=(64, 64), dtype=torch.float32)
    assert found.strategy == "forward"
    assert codes(found) == {"precision"}
