"""Diagonals by a proven pattern: in how many passes, how exactly, and when they are refused."""

import itertools
import math

import pytest
import torch
from torch import Tensor

from app.engine.diagonal import PatternError, diagonal, diagonal_of, operator_of
from app.engine.diagonal.colouring import Colouring
from renderers import Frame, load
from tests.engine.diagonal.fields import (
    BLUR,
    Function,
    blurred,
    draw,
    jacobian,
    tone_slope,
    toned,
)
from tests.tolerances import DIAGONAL, DIAGONAL_FLOAT32

BOUND = {torch.float32: DIAGONAL_FLOAT32, torch.float64: DIAGONAL}
DTYPES = pytest.mark.parametrize("dtype", BOUND, ids=str)


def error(found: Tensor | None, wanted: Tensor) -> float:
    assert found is not None
    assert found.shape == wanted.shape
    return float((found.double() - wanted.double()).abs().max() / wanted.double().abs().max())


class Counted:
    """A function that counts the vectors pushed through it; `vmap` calls it once for many."""

    def __init__(self, function: Function) -> None:
        self.function, self.calls = function, 0

    def __call__(self, value: Tensor) -> Tensor:
        self.calls += 1
        return self.function(value)


@DTYPES
@pytest.mark.parametrize("shape", [(40, 30, 3), (40, 30), (500,), (9, 8, 7, 3)])
def test_a_tone_curve_takes_one_pass(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    point = draw(*shape, dtype=dtype)
    found = diagonal(toned, point)
    wanted = tone_slope(point.double())
    assert (found.method, found.passes, found.checks) == ("pointwise", 1, 2)
    assert found.exact
    assert found.values is not None and found.values.dtype == dtype
    assert error(found.values, wanted) < BOUND[dtype]
    assert found.trace == pytest.approx(float(wanted.sum()), rel=BOUND[dtype])
    assert found.findings == ()


def test_one_pass_is_one_product() -> None:
    """Counted outside of what is tested: a budget of nothing pushes one vector at a time."""
    function = Counted(toned)
    operator = operator_of(function, draw(40, 30), budget=1)
    operator.together = 1
    before = function.calls
    found = diagonal_of(operator, method="pointwise")
    assert function.calls - before == found.passes + found.checks == 1 + 2


@DTYPES
@pytest.mark.parametrize("shape", [(20, 31), (20, 31, 1), (20, 31, 3)])
def test_a_blur_takes_nine_passes(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    function = Counted(lambda image: toned(blurred(image)))
    point = draw(*shape, dtype=dtype)
    operator = operator_of(function, point)
    operator.together = 1
    before = function.calls
    found = diagonal_of(operator, method="stencil")
    assert (found.method, found.passes) == ("stencil", 9)
    assert function.calls - before == found.passes + found.checks
    exact = jacobian(lambda image: toned(blurred(image)), point.double())
    assert error(found.values, exact.diagonal().reshape(shape)) < BOUND[dtype]


def test_inside_of_a_blur_the_diagonal_is_its_middle_weight() -> None:
    found = diagonal(blurred, draw(50, 40, 3))
    assert found.values is not None
    assert error(found.values[1:-1, 1:-1], BLUR[1, 1].expand(48, 38, 3)) < DIAGONAL
    assert [name for name, _ in found.passed_over] == ["pointwise"]
    assert found.findings == ()


def mixed(image: Tensor) -> Tensor:
    """A colour matrix: every channel depends on all three, of its own pixel."""
    return image @ draw(3, 3, seed=5, dtype=image.dtype)


def shifted(image: Tensor) -> Tensor:
    """From the pixel to the left alone: nothing on the diagonal, but where the border repeats."""
    return torch.cat([image[:, :1], image[:, :-1]], dim=1)


def along_rows(image: Tensor) -> Tensor:
    """Over seven pixels along a row."""
    planes = torch.nn.functional.pad(image[None], (3, 3), mode="replicate")
    return (image * torch.nn.functional.avg_pool1d(planes, 7, stride=1))[0]


def growing(image: Tensor) -> Tensor:
    """A blur in the lower half alone, so that what is looked at elsewhere is no blur."""
    half = len(image) // 2
    return torch.cat([image[:half], blurred(image)[half:]])


@pytest.mark.parametrize(
    ("function", "shape", "passes"),
    [
        (mixed, (30, 20, 3), 3),
        (shifted, (30, 40), 2),
        (along_rows, (20, 90), 7),
        (growing, (40, 40), 9),
        (lambda image: blurred(mixed(image)), (20, 20, 3), 27),
        (lambda image: blurred(blurred(image)), (30, 30), 25),
        (lambda image: image.flip(0) + 2 * image, (50, 60), 50),  # a column is a window
    ],
    ids=["matrix", "shift", "row", "half", "matrix and blur", "blur twice", "mirror"],
)
def test_other_stencils(function: Function, shape: tuple[int, ...], passes: int) -> None:
    point = draw(*shape)
    found = diagonal(function, point)
    exact = jacobian(function, point).diagonal().reshape(shape)
    assert error(found.values, exact) < DIAGONAL
    assert (found.method, found.passes) == ("stencil", passes)


def test_a_permutation_has_nothing_on_its_diagonal() -> None:
    order = torch.arange(600).roll(217)
    found = diagonal(lambda x: 3 * x[order], draw(600))
    assert found.method == "loop"
    assert found.values is not None
    assert not found.values.any()
    assert found.trace == 0.0


# --- wrong by assumption --------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [1.0, 1e-3, 1e-9])
@pytest.mark.parametrize("inner", [toned, blurred], ids=["pointwise", "stencil"])
def test_one_far_dependence_is_caught(inner: Function, weight: float) -> None:
    """One output of 1600 that also depends on an input far away."""

    def function(image: Tensor) -> Tensor:
        far = torch.zeros_like(image)
        far[3, 4] = 1.0
        return inner(image) + weight * far * image[37, 30]

    point = draw(40, 40)
    for method in ("pointwise", "stencil"):
        with pytest.raises(PatternError, match="random product"):
            diagonal(function, point, method=method)
    found = diagonal(function, point)
    assert found.method == "loop"
    assert [name for name, _ in found.passed_over] == ["pointwise", "stencil"]
    assert error(found.values, jacobian(function, point).diagonal().reshape(40, 40)) < DIAGONAL


@DTYPES
@pytest.mark.parametrize(
    "function",
    [
        lambda image: toned(image) / image.abs().max(),
        lambda image: toned(image) / image.norm(),
        lambda image: toned(image) - image.mean(),
        lambda image: torch.fft.fft2(image).real,
        lambda image: image.cumsum(0),
    ],
    ids=["maximum", "norm", "mean", "transform", "sum"],
)
def test_what_depends_on_the_whole_image_is_no_pattern(
    function: Function, dtype: torch.dtype
) -> None:
    point = draw(50, 60, dtype=dtype)
    for method in ("pointwise", "stencil"):
        with pytest.raises(PatternError):
            diagonal(function, point, method=method)
    found = diagonal(function, point, passes=8)
    assert (found.method, found.exact) == ("hutchinson", False)
    assert "estimated" in {finding.code for finding in found.findings}


def test_what_rounding_makes_is_no_dependence() -> None:
    """A float32 tone curve of six orders of magnitude, and one that cancels two digits."""
    point = 10 ** draw(50, 50, dtype=torch.float32)
    for function in (lambda x: x**2, lambda x: 100.0 * x - 99.0 * torch.sin(x) - x):
        assert diagonal(function, point).method == "pointwise"


# --- NaN ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["pointwise", "loop", "hutchinson"])
def test_nan_stays_in_its_own_place_and_is_counted(method: str) -> None:
    point = draw(30, 20).abs()
    point[4, 5] = -1.0
    found = diagonal(torch.sqrt, point, method=method)
    wanted = 0.5 / torch.sqrt(point)
    assert found.values is not None
    assert torch.allclose(found.values, wanted, rtol=DIAGONAL, equal_nan=True)
    assert math.isnan(found.trace)
    assert found.describe()["trace"] is None
    (told,) = [finding for finding in found.findings if finding.code == "non_finite"]
    assert "They are 1." in told.message


def test_a_stencil_spreads_nan_as_far_as_it_reaches() -> None:
    point = draw(30, 20).abs()
    point[4, 5] = -1.0
    found = diagonal(lambda image: blurred(torch.sqrt(image)), point)
    assert found.method == "stencil"
    wanted = (BLUR[1, 1] * 0.5 / torch.sqrt(point))[1:-1, 1:-1].clone()
    wanted[2:5, 3:6] = math.nan
    assert found.values is not None
    got = found.values[1:-1, 1:-1]
    assert torch.allclose(got, wanted, rtol=DIAGONAL, equal_nan=True)


@pytest.mark.parametrize("method", ["hutch++", "xtrace", "xdiag"])
def test_a_sketch_with_nan_tells_nothing_and_says_so(method: str) -> None:
    point = draw(30, 20).abs()
    point[4, 5] = -1.0
    found = diagonal(torch.sqrt, point, method=method)
    assert math.isnan(found.trace)
    assert "non_finite" in {finding.code for finding in found.findings}


# --- a shipped renderer ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("softness", "method", "passes"), [(0.0, "pointwise", 1), (0.3, "stencil", 9)]
)
@DTYPES
def test_the_darkroom_has_its_closed_form(
    softness: float, method: str, passes: int, dtype: torch.dtype
) -> None:
    loaded = load(plugins=False).get("darkroom").load("cpu", dtype)
    params = {k: v.to(dtype) for k, v in loaded.spec.bind({"softness": softness}).items()}
    picture = params["picture"]
    frame = Frame(picture.shape[1], picture.shape[0], 0, len(picture), loaded.device, dtype)
    found = diagonal(lambda value: loaded(frame, {**params, "picture": value}), picture)
    assert (found.method, found.passes) == (method, passes)
    assert found.findings == ()

    image = loaded(frame, params).double()
    edge = torch.full((48, 64, 1), 1 / 4, dtype=torch.float64)
    edge[0] = edge[-1] = edge[:, 0] = edge[:, -1] = 3 / 8
    edge[0, 0] = edge[0, -1] = edge[-1, 0] = edge[-1, -1] = 9 / 16
    slope = params["contrast"].double() * image * (1 - image)
    light = torch.exp(torch.log(image / (1 - image)) / params["contrast"].double())
    soft = 0.18 * light / 2 ** params["exposure"].double()
    wanted = slope / soft * (1 - softness + softness * edge)
    assert error(found.values, wanted) < 20 * BOUND[dtype]  # `light` divides by 1 - image


# --- colours --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "window"),
    [((7, 5), ((-1, 1), (0, 2))), ((3, 9), ((-2, 2), (-3, 0))), ((4,), ((0, 0),)), ((), ())],
)
def test_no_two_inputs_of_a_window_share_a_colour(
    shape: tuple[int, ...], window: tuple[tuple[int, int], ...]
) -> None:
    colouring = Colouring(shape, window)
    colours = colouring.colours(torch.device("cpu")).reshape(shape)
    vector = torch.arange(1.0, 1 + colours.numel(), dtype=torch.float64)
    seen = [colouring.seen(vector, c).reshape(shape) for c in range(colouring.count)]
    assert int(colours.max()) + 1 == colouring.count
    places = list(itertools.product(*map(range, shape)))
    for at in places:
        inside = {}
        for entry, number in zip(places, vector.tolist(), strict=True):
            if all(
                low <= e - a <= high or high - low + 1 > n
                for e, a, (low, high), n in zip(entry, at, window, shape, strict=True)
            ):
                colour = int(colours[entry])
                assert colour not in inside
                inside[colour] = number
        found = {c: float(seen[c][at]) for c in range(colouring.count)}
        assert found == {c: inside.get(c, 0.0) for c in found}
