"""C13: a pixel whose colour depends on what else it is asked with; a tile is not the image."""

import numpy as np
import pytest
import torch
from torch import Tensor

from app.engine import Task, sensitivity_map
from app.engine.seams import KEPT, MOST, narrow_frame, own_frame
from renderers import Frame, Pixels, Renderer, load, param, renderer
from tests.cases.asking import (
    DTYPES,
    Array,
    Formula,
    bound,
    codes,
    error,
    mapped,
    numbers,
    positions,
)
from tests.tolerances import CLOSED_FORM, FINITE_DIFFERENCES


def ramp(pixels: Pixels, a: Tensor) -> Tensor:
    """`a * [0..7] + 1` on a frame of 8 x 1, which spans -8 to 8."""
    return a * (pixels.x / 2 + 3.5) + 1


@renderer(channels="grey")
def by_the_maximum(pixels: Pixels, a: Tensor = param(1.0)) -> Tensor:
    """C13."""
    image = ramp(pixels, a)
    return image / image.max()


@renderer(channels="grey")
def by_the_mean(pixels: Pixels, a: Tensor = param(1.0)) -> Tensor:
    image = (a * pixels.x).exp()
    return image / image.mean()


@renderer(channels="grey")
def by_the_range(pixels: Pixels, a: Tensor = param(1.0)) -> Tensor:
    image = torch.sin(a * pixels.x) + pixels.y
    return (image - image.amin()) / (image.amax() - image.amin())


@renderer(channels="grey")
def by_the_neighbour(pixels: Pixels, a: Tensor = param(1.0)) -> Tensor:
    image = a**2 * pixels.x
    return image - torch.roll(image.flatten(), 1).reshape(image.shape)


def of_the_maximum(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    index = np.arange(8)
    return ((index - 7) / 64)[None]


def of_the_mean(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    image = np.exp(x)
    return image * x / image.mean() - image * (image * x).mean() / image.mean() ** 2


def of_the_range(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    image, slope = np.sin(x) + y, x * np.cos(x)
    low, high = image.argmin(), image.argmax()
    extent = image.flat[high] - image.flat[low]
    lifted = slope.flat[high] - slope.flat[low]
    part = (image - image.flat[low]) / extent
    return (slope - slope.flat[low]) / extent - part * lifted / extent


def of_the_neighbour(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return 2 * (x - np.roll(x.ravel(), 1).reshape(x.shape))


@DTYPES
@pytest.mark.parametrize(
    ("source", "right", "size"),
    [
        (by_the_maximum, of_the_maximum, (8, 1)),
        (by_the_mean, of_the_mean, (40, 30)),
        (by_the_range, of_the_range, (40, 30)),
        (by_the_neighbour, of_the_neighbour, (40, 30)),
    ],
)
def test_a_frame_whose_pixels_depend_on_each_other_is_computed_whole(
    source: Renderer, right: Formula, size: tuple[int, int], dtype: torch.dtype
) -> None:
    found = mapped(source, "a", size=size, dtype=dtype)
    assert found.strategy == "forward"
    assert codes(found) == {"tile_dependent"}
    assert found.method.verdict.whole
    assert found.plan.rows == size[1]
    assert error(found, right) <= bound(found)


def test_its_image_alone_is_computed_whole_as_well() -> None:
    loaded = by_the_maximum.load("cpu", torch.float64)
    found = sensitivity_map(loaded, Task(params=loaded.spec.bind({}), width=800, height=600))
    assert found.method.verdict.whole
    assert found.plan.rows == 600
    x = (np.arange(800) - 399.5) / 300
    expected = (x / 2 + 4.5) / (x[-1] / 2 + 4.5)
    off = np.abs(found.image[..., 0] - expected).max()
    assert off <= CLOSED_FORM["float64"]


def test_in_two_bands_it_would_be_wrong() -> None:
    loaded = by_the_maximum.load("cpu", torch.float64)
    x = (torch.arange(8, dtype=torch.float64) - 3.5) * 2
    a = torch.ones((), dtype=torch.float64)
    halves = [loaded(Pixels(part, 0 * part, 8, 1), {"a": a})[:, 0] for part in (x[:4], x[4:])]
    assert not torch.allclose(torch.cat(halves), loaded(Pixels(x, 0 * x, 8, 1), {"a": a})[:, 0])


def test_a_large_frame_of_that_kind_is_whole_as_well() -> None:
    found = mapped(by_the_maximum, "a", size=(800, 600), dtype=torch.float32, a=0.5)
    assert codes(found) == {"tile_dependent"}
    assert found.plan.rows == 600
    values = numbers(found)
    assert values[:, -1].max() == pytest.approx(0, abs=1e-6)
    assert values[0, 0] == pytest.approx(values[-1, 0], rel=1e-5)


@DTYPES
def test_a_frame_renderer_may_depend_on_all_of_its_frame_without_a_word(
    dtype: torch.dtype,
) -> None:
    @renderer(channels="grey")
    def normalised(frame: Frame, a: Tensor = param(1.0)) -> Tensor:
        image = (a * frame.pixels().x).exp()
        return image / image.mean()

    found = mapped(normalised, "a", size=(40, 30), dtype=dtype)
    assert codes(found) == set()
    assert error(found, of_the_mean) <= bound(found)


@DTYPES
def test_a_matrix_product_is_no_dependence_on_the_tile(dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(0)
    weights = torch.randn(3, 64, generator=generator).to(dtype)

    @renderer(channels="grey")
    def network(pixels: Pixels, a: Tensor = param(1.0)) -> Tensor:
        inputs = torch.stack([pixels.x, pixels.y, a.expand_as(pixels.x)], -1)
        return torch.tanh(inputs @ weights.to(pixels.x.dtype)).sum(-1)

    found = mapped(network, "a", size=(100, 80), dtype=dtype)
    assert codes(found) == set()
    assert not found.method.verdict.whole


def waves(frame: Frame, a: Tensor) -> Tensor:
    """What is blurred, different in every row."""
    pixels = frame.pixels()
    return torch.sin(9 * a * pixels.y + 2 * pixels.x)


def waves_moved(x: Array, y: Array) -> Array:
    """Its derivative at `a = 1`."""
    moved: Array = 9 * y * np.cos(9 * y + 2 * x)
    return moved


def blurring(
    reach: int, halo: int | None, mode: str = "replicate", offset: float = 0.0
) -> Renderer:
    """A box blur of some rows to either side, declared with a halo that may be too small."""

    @renderer(channels="grey", halo=halo)
    def blurred(frame: Frame, a: Tensor = param(1.0, low=0.5, high=2.0)) -> Tensor:
        image = waves(frame, a).T[None]
        padded = torch.nn.functional.pad(image, (reach, reach), mode=mode)
        return offset + torch.nn.functional.avg_pool1d(padded[0], 2 * reach + 1, stride=1).T

    return blurred


def blurred_map(size: tuple[int, int], reach: int, mode: str = "edge") -> Array:
    """A blur is linear: the derivative of the blurred image is the blurred derivative."""
    padded = np.pad(waves_moved(*positions(size)), ((reach, reach), (0, 0)), mode=mode)  # type: ignore[call-overload]
    parts = [padded[k : k + size[1]] for k in range(2 * reach + 1)]
    blurred: Array = np.mean(parts, axis=0)
    return blurred


@DTYPES
@pytest.mark.parametrize(
    ("halo", "reach", "size"),
    [
        (2, 8, (512, 2048)),
        (2, 3, (96, 300)),
        (0, 1, (96, 300)),
        (1, 60, (96, 1500)),
        (20, 21, (96, 300)),
        (2, 3, (3, 40)),
    ],
)
@pytest.mark.parametrize(("mode", "as_numpy"), [("replicate", "edge"), ("reflect", "reflect")])
def test_a_halo_that_is_too_small_is_named_and_the_frame_computed_whole(
    halo: int, reach: int, size: tuple[int, int], mode: str, as_numpy: str, dtype: torch.dtype
) -> None:
    found = mapped(blurring(reach, halo, mode), "a", size=size, dtype=dtype)
    assert found.strategy == "forward"
    assert codes(found) == {"halo_too_small"}
    assert found.method.verdict.whole
    assert found.plan.rows == size[1]
    assert error(found, blurred_map(size, reach, as_numpy)) <= bound(found)


@DTYPES
@pytest.mark.parametrize(
    ("reach", "size"), [(1, (96, 300)), (3, (40, 30)), (8, (512, 2048)), (60, (96, 300))]
)
@pytest.mark.parametrize(
    ("mode", "as_numpy"), [("replicate", "edge"), ("reflect", "reflect"), ("constant", "constant")]
)
@pytest.mark.parametrize("more", [0, 1])
def test_a_halo_that_is_as_wide_as_the_blur_is_left_in_peace(
    reach: int, size: tuple[int, int], mode: str, as_numpy: str, more: int, dtype: torch.dtype
) -> None:
    if mode == "reflect" and size[1] <= reach:
        pytest.skip("no such padding")
    found = mapped(blurring(reach, reach + more, mode), "a", size=size, dtype=dtype)
    assert codes(found) == set()
    assert not found.method.verdict.whole
    assert error(found, blurred_map(size, reach, as_numpy)) <= bound(found)


def test_float32_beside_a_large_constant_is_no_reach() -> None:
    found = mapped(blurring(3, 3, offset=100.0), "a", size=(96, 300), dtype=torch.float32)
    assert "halo_too_small" not in codes(found)


class Insisting:
    """In float32, whatever is asked for; the halo is right."""

    def __init__(self, device: torch.device, dtype: torch.dtype) -> None:
        if dtype is torch.float64:
            raise ValueError("single precision alone")

    def render(self, frame: Frame, a: Tensor = param(1.0)) -> Tensor:
        image = waves(frame, a).T
        padded = torch.nn.functional.pad(image[None], (4, 4), mode="replicate")[0]
        padded = torch.nn.functional.pad(padded.cumsum(1), (1, 0))
        return ((padded[:, 9:] - padded[:, :-9]) / 9).T


def test_running_sums_in_float32_are_no_reach() -> None:
    found = mapped(
        renderer(channels="grey", halo=4)(Insisting), "a", size=(96, 300), dtype=torch.float32
    )
    assert "halo_too_small" not in codes(found)
    assert not found.method.verdict.whole


@DTYPES
@pytest.mark.parametrize("wrt", ["gamma", "k1"])
def test_a_camera_without_a_halo_is_left_in_peace(wrt: str, dtype: torch.dtype) -> None:
    found = mapped(
        load(plugins=False).get("isp").load("cpu", dtype), wrt, size=(96, 300), dtype=dtype
    )
    assert "halo_too_small" not in codes(found)
    assert not found.method.verdict.whole


def differenced(source: Renderer, size: tuple[int, int], at: float) -> Array:
    """Central differences of the whole frame, in float64."""
    loaded = source.load("cpu", torch.float64)
    frame = Frame(*size, 0, size[1], torch.device("cpu"), torch.float64)
    step = 1e-5
    ahead, behind = (
        loaded(frame, {"a": torch.tensor(value, dtype=torch.float64)})[..., 0]
        for value in (at + step, at - step)
    )
    values: Array = ((ahead - behind) / (2 * step)).numpy()
    return values


@renderer(channels="grey", halo=2)
def over_its_largest(frame: Frame, a: Tensor = param(1.0)) -> Tensor:
    image = torch.exp(a * frame.pixels().y)
    return image / image.max()


@renderer(channels="grey", halo=0)
def less_its_mean(frame: Frame, a: Tensor = param(1.0)) -> Tensor:
    image = torch.exp(a * frame.pixels().y)
    return image - image.mean()


@renderer(channels="grey", halo=2)
def over_its_range(frame: Frame, a: Tensor = param(1.0)) -> Tensor:
    pixels = frame.pixels()
    image = torch.sin(a * pixels.x) + pixels.y
    return (image - image.amin()) / (image.amax() - image.amin())


@renderer(channels="grey", halo=0)
def of_the_row_above(frame: Frame, a: Tensor = param(1.0)) -> Tensor:
    image = waves(frame, a)
    return image - torch.cat([image[:1], image[:-1]])


@renderer(channels="grey", halo=0)
def of_the_row_below_where_it_is_dark(frame: Frame, a: Tensor = param(1.0)) -> Tensor:
    """Rows in the lower half alone depend on others."""
    image, y = waves(frame, a), frame.pixels().y
    return image - torch.where(y < 0, torch.cat([image[1:], image[-1:]]), image)


@renderer(channels="grey", halo=2)
def by_a_mean_at_nought(frame: Frame, a: Tensor = param(0.0)) -> Tensor:
    """The image shows nothing of what the derivative depends on."""
    image = torch.exp(frame.pixels().y)
    return image + a * image.mean()


@renderer(channels="grey", halo=2)
def on_a_thousand(frame: Frame, a: Tensor = param(1.0)) -> Tensor:
    """What depends on the window is little beside the rest."""
    image = torch.exp(a * frame.pixels().y)
    return 1000 + image / image.mean()


@renderer(channels="grey", halo=8)
def growing(frame: Frame, a: Tensor = param(1.0)) -> Tensor:
    """A blur over a part of the frame's height: in a small frame, the halo suffices."""
    reach = frame.height // 50
    image = torch.nn.functional.pad(waves(frame, a).T[None], (reach, reach), mode="replicate")
    return torch.nn.functional.avg_pool1d(image[0], 2 * reach + 1, stride=1).T


@renderer(channels="grey", halo=1)
def of_one_size(frame: Frame, a: Tensor = param(1.0)) -> Tensor:
    if (frame.width, frame.height) != (60, 400):
        raise ValueError("60 x 400 alone")
    image = waves(frame, a)
    return image - image.mean()


@pytest.mark.parametrize(
    "source",
    [
        over_its_largest,
        less_its_mean,
        over_its_range,
        of_the_row_above,
        of_the_row_below_where_it_is_dark,
        by_a_mean_at_nought,
        on_a_thousand,
        growing,
        of_one_size,
    ],
)
def test_a_window_that_is_not_the_frame_is_named_and_the_frame_computed_whole(
    source: Renderer,
) -> None:
    size = (60, 1000) if source is growing else (60, 400)
    found = mapped(source, "a", size=size)
    assert found.strategy == "forward"
    assert codes(found) == {"halo_too_small"}
    assert found.plan.rows == size[1]
    right = differenced(source, size, 0.0 if source is by_a_mean_at_nought else 1.0)
    assert error(found, right) <= FINITE_DIFFERENCES


def test_the_message_tells_what_to_change() -> None:
    found = mapped(blurring(8, 2), "a", size=(96, 300))
    assert found.certificate is not None
    (finding,) = found.certificate.findings
    assert "Declare a `halo` of as many rows" in finding.message


def test_a_frame_renderer_without_a_halo_is_not_asked_for_windows() -> None:
    found = mapped(blurring(8, None), "a", size=(96, 300))
    assert codes(found) == set()
    assert error(found, blurred_map((96, 300), 8)) <= bound(found)


@pytest.mark.parametrize("halo", [0, 2, 30, 400, 5000])
@pytest.mark.parametrize("width", [1, 64, 5000])
def test_looking_at_the_seams_costs_no_more_than_some_bands(halo: int, width: int) -> None:
    for kept in KEPT:
        cut = narrow_frame(width, halo, kept)
        asked = cut.width * (cut.height + sum(band.rows + 2 * halo for band in cut.kept))
        assert cut.kept[0].start == 0
        assert cut.kept[-1].stop == cut.height > 4 * halo
        assert asked <= MOST or cut.width == 1
    for height in (8, 30, 3000):
        cuts = list(own_frame(width, height, halo))
        rows = [cut.rows.rows + sum(band.rows for band in cut.kept) for cut in cuts]
        assert width * sum(rows) <= MOST
        if cuts:
            assert cuts[0].kept[0].start == 0
            assert cuts[-1].kept[-1].stop == height
            for cut in cuts:
                for band in cut.kept:
                    assert cut.rows.start <= max(0, band.start - halo)
                    assert min(height, band.stop + halo) <= cut.rows.stop
