"""C12: hard edges that move, those that do not, and what only looks like one."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from app.engine import SensitivityMap
from renderers import Frame, Pixels, Renderer, param, renderer
from tests.cases.asking import DTYPES, bound, codes, error, mapped, numbers
from tests.tolerances import EDGE_TOTAL


def total(found: SensitivityMap) -> float:
    """The integral of a map over its frame, where the shorter side spans 2."""
    values = numbers(found)
    return float(values.sum()) * (2 / min(values.shape)) ** 2


@renderer(channels="grey")
def eight_on_a_line(pixels: Pixels, c: Tensor = param(0.05, low=-1, high=1)) -> Tensor:
    """C12: a frame of 8 x 1 spans -8 to 8, so that these are linspace(-1, 1, 8)."""
    return (pixels.x / 7 < c).to(pixels.x.dtype)


@DTYPES
@pytest.mark.parametrize("c", [0.05, -0.4, 0.61])
def test_the_total_over_the_line_is_one(dtype: torch.dtype, c: float) -> None:
    found = mapped(eight_on_a_line, "c", size=(8, 1), dtype=dtype, c=c)
    assert found.strategy == "edge"
    assert codes(found) == {"edges_suspected"}
    assert float(numbers(found).sum()) * 2 / 7 == pytest.approx(1, rel=EDGE_TOTAL)


@renderer(channels="grey")
def hard_disc(pixels: Pixels, r: Tensor = param(0.5, low=0.1, high=1.0)) -> Tensor:
    return (pixels.x**2 + pixels.y**2 < r**2).to(pixels.x.dtype)


@renderer(channels="grey")
def hard_plane(pixels: Pixels, r: Tensor = param(0.113, low=-1.0, high=1.0)) -> Tensor:
    return 0.5 * (0.8 * pixels.x + 0.6 * pixels.y < r)


@renderer(channels="grey")
def hard_square(pixels: Pixels, r: Tensor = param(0.5123, low=0.1, high=1.0)) -> Tensor:
    inside = torch.maximum(pixels.x.abs(), pixels.y.abs()) < r
    return torch.where(inside, torch.ones_like(r), torch.zeros_like(r))


@renderer(channels="grey")
def hard_ring(pixels: Pixels, r: Tensor = param(0.5, low=0.1, high=1.0)) -> Tensor:
    distance = torch.sqrt(pixels.x**2 + pixels.y**2)
    return ((distance < r) & (distance > r - 0.2)).to(pixels.x.dtype)


def chord(offset: float) -> float:
    """The length of the line 0.8 x + 0.6 y = offset within the square [-1, 1]^2."""
    at_top, at_bottom = (offset - 0.6) / 0.8, (offset + 0.6) / 0.8
    return float(np.hypot(2, at_top - at_bottom))


@DTYPES
@pytest.mark.parametrize(
    ("source", "right"),
    [
        (hard_disc, 2 * np.pi * 0.5),
        (hard_plane, 0.5 * chord(0.113)),
        (hard_square, 8 * 0.5123),
        (hard_ring, 2 * np.pi * 0.2),
    ],
)
def test_an_image_of_hard_edges_alone_is_answered_by_what_they_sweep(
    source: Renderer, right: float, dtype: torch.dtype
) -> None:
    found = mapped(source, "r", size=(128, 128), dtype=dtype)
    assert found.strategy == "edge"
    assert codes(found) == {"edges_suspected"}
    assert total(found) == pytest.approx(right, rel=EDGE_TOTAL)


@renderer(channels="grey")
def shaded_disc(pixels: Pixels, r: Tensor = param(0.5, low=0.1, high=1.0)) -> Tensor:
    inside = pixels.x**2 + pixels.y**2 < r**2
    return torch.where(inside, 1 + r * pixels.x, 0.2 * pixels.y * r)


@renderer(channels="grey")
def moving_stripes(pixels: Pixels, r: Tensor = param(0.5, low=0.1, high=1.0)) -> Tensor:
    return torch.sign(torch.sin(9 * (pixels.x - r))) + r**2 * pixels.y


@renderer(channels="grey")
def lit_steps(pixels: Pixels, r: Tensor = param(0.5, low=0.1, high=1.0)) -> Tensor:
    return torch.floor(4 * (pixels.x + r)) / 4 + r * pixels.y


@DTYPES
@pytest.mark.parametrize("source", [shaded_disc, moving_stripes, lit_steps])
def test_edges_beside_smooth_parts_are_pointed_at(source: Renderer, dtype: torch.dtype) -> None:
    found = mapped(source, "r", size=(96, 96), dtype=dtype)
    assert "edges_suspected" in codes(found)
    assert not codes(found) & {"tangent_lost", "partly_detached"}
    assert found.certificate is not None
    (edges,) = (f for f in found.certificate.findings if f.code == "edges_suspected")
    assert edges.pixels


def test_edges_drawn_by_foreign_code_are_pointed_at_and_not_zero() -> None:
    @renderer(channels="grey")
    def by_numpy(pixels: Pixels, r: Tensor = param(0.5, low=0.1, high=1.0)) -> Tensor:
        inside = pixels.x.numpy() ** 2 + pixels.y.numpy() ** 2 < r.numpy() ** 2
        return torch.from_numpy(inside.astype(np.float64)).to(pixels.x.dtype)

    found = mapped(by_numpy, "r", size=(256, 256))
    assert found.strategy == "finite_difference"
    assert "edges_suspected" in codes(found)
    # Differences across many pixels: the total is right to what a pixel at the rim is worth.
    assert total(found) == pytest.approx(np.pi, rel=0.05)


@renderer(channels="grey")
def chequers(pixels: Pixels, a: Tensor = param(1.5)) -> Tensor:
    pattern = (torch.floor(pixels.x * 5) + torch.floor(pixels.y * 5)) % 2
    return pattern * a**2 + pixels.x * a


@renderer(channels="grey")
def coloured_disc(pixels: Pixels, a: Tensor = param(0.0)) -> Tensor:
    inside = pixels.x**2 + pixels.y**2 < 0.3
    return torch.where(inside, torch.sin(a), 1.0) + torch.where(inside, 0.5, 0.0)


@renderer(channels="grey")
def lettered(frame: Frame, a: Tensor = param(1.5)) -> Tensor:
    pixels = frame.pixels()
    return torch.where(pixels.x * pixels.y > 0.1, a**3, a)


@renderer(channels="grey")
def one_bright_pixel(pixels: Pixels, a: Tensor = param(1.5)) -> Tensor:
    inside = (pixels.x > 0) & (pixels.x < pixels.pitch)
    inside &= (pixels.y > 0) & (pixels.y < pixels.pitch)
    return torch.where(inside, a**2, torch.zeros_like(a))


def of_one_pixel(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    pitch = 2 / min(x.shape)
    return 3 * ((x > 0) & (x < pitch) & (y > 0) & (y < pitch))


STILL: list[tuple[Renderer, Callable[..., np.ndarray]]] = [
    (chequers, lambda x, y: ((np.floor(x * 5) + np.floor(y * 5)) % 2) * 3 + x),
    (coloured_disc, lambda x, y: 1.0 * (x**2 + y**2 < 0.3)),
    (lettered, lambda x, y: np.where(x * y > 0.1, 6.75, 1.0)),
    (one_bright_pixel, of_one_pixel),
]


@DTYPES
@pytest.mark.parametrize("size", [(64, 64), (254, 256)])
@pytest.mark.parametrize(("source", "right"), STILL)
def test_edges_that_do_not_move_are_no_suspects(
    source: Renderer, right: Callable[..., np.ndarray], size: tuple[int, int], dtype: torch.dtype
) -> None:
    found = mapped(source, "a", size=size, dtype=dtype)
    assert found.strategy == "forward"
    assert codes(found) == set()
    assert error(found, right) <= bound(found)


@DTYPES
@pytest.mark.parametrize("softness", [1e-2, 1e-3, 3e-4])
def test_a_soft_edge_is_no_suspect_however_sharp(dtype: torch.dtype, softness: float) -> None:
    @renderer(channels="grey")
    def soft(pixels: Pixels, r: Tensor = param(0.5, low=0.1, high=1.0)) -> Tensor:
        distance = torch.sqrt(pixels.x**2 + pixels.y**2)
        return torch.sigmoid((r - distance) / softness)

    found = mapped(soft, "r", size=(512, 512), dtype=dtype)
    assert found.strategy == "forward"
    assert codes(found) == set()


@renderer(channels="grey")
def frame_of_a_disc(frame: Frame, r: Tensor = param(0.5, low=0.1, high=1.0)) -> Tensor:
    pixels = frame.pixels()
    return (pixels.x**2 + pixels.y**2 < r**2).to(pixels.x.dtype)


@renderer(channels="grey", halo=2)
def window_of_a_disc(frame: Frame, r: Tensor = param(0.5, low=0.1, high=1.0)) -> Tensor:
    pixels = frame.pixels()
    return (pixels.x**2 + pixels.y**2 < r**2).to(pixels.x.dtype)


@renderer(channels="grey")
def frame_of_a_line(frame: Frame, r: Tensor = param(0.05, low=-1.0, high=1.0)) -> Tensor:
    """Between two columns, and further from the next than small steps go."""
    return (frame.pixels().x < r).to(r.dtype)


@DTYPES
@pytest.mark.parametrize(
    ("source", "right"),
    [(frame_of_a_disc, np.pi), (window_of_a_disc, np.pi), (frame_of_a_line, 2.0)],
)
def test_a_frame_of_hard_edges_alone_is_not_answered_by_zero(
    source: Renderer, right: float, dtype: torch.dtype
) -> None:
    found = mapped(source, "r", size=(128, 128), dtype=dtype)
    assert found.strategy == "finite_difference"
    assert "forward" in dict(found.method.verdict.passed_over)
    assert codes(found) == {"edges_suspected"}
    # Differences across many pixels: the total is right to what a pixel at the rim is worth.
    assert total(found) == pytest.approx(right, rel=0.05)


def test_who_asks_for_the_zeros_of_such_a_frame_is_told() -> None:
    found = mapped(frame_of_a_disc, "r", size=(128, 128), strategy="forward")
    assert not numbers(found).any()
    assert codes(found) == {"edges_suspected"}


@DTYPES
def test_edges_beside_smooth_parts_of_a_frame_are_pointed_at(dtype: torch.dtype) -> None:
    @renderer(channels="grey")
    def shaded(frame: Frame, r: Tensor = param(0.5, low=0.1, high=1.0)) -> Tensor:
        pixels = frame.pixels()
        inside = pixels.x**2 + pixels.y**2 < r**2
        return torch.where(inside, 1 + r * pixels.x, 0.2 * pixels.y * r)

    found = mapped(shaded, "r", size=(96, 96), dtype=dtype)
    assert found.strategy == "forward"
    assert codes(found) == {"edges_suspected"}


@renderer(channels="grey")
def clamped_frame(frame: Frame, r: Tensor = param(0.8, low=0.0, high=1.0)) -> Tensor:
    return r.clamp(0, 0.5) * frame.pixels().x


@renderer(channels="grey")
def saturated_frame(frame: Frame, r: Tensor = param(0.8)) -> Tensor:
    return torch.sigmoid((frame.pixels().x + r - 0.1) * 1e4 + 1e5)


@renderer(channels="grey")
def soft_frame(frame: Frame, r: Tensor = param(0.5, low=0.1, high=1.0)) -> Tensor:
    pixels = frame.pixels()
    return torch.sigmoid((r - torch.hypot(pixels.x, pixels.y)) / 1e-3)


@DTYPES
@pytest.mark.parametrize("source", [clamped_frame, saturated_frame, soft_frame])
def test_a_frame_that_rests_or_is_only_steep_is_suspected_of_nothing(
    source: Renderer, dtype: torch.dtype
) -> None:
    found = mapped(source, "r", size=(64, 64), dtype=dtype)
    assert found.strategy == "forward"
    assert codes(found) == set()
