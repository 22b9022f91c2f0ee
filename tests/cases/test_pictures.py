"""C16: a picture of every map, however hard: zero is the middle colour, and the range is told."""

from collections.abc import Callable
from io import BytesIO

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor

from app.imaging import FORMATS, MapData, Maps, Style, heatmap
from app.imaging.palette import LAST, MIDDLE, NAN
from renderers import Pixels, param, renderer
from tests.cases.asking import DTYPES, mapped

Factor = Callable[[Pixels], Tensor]


def spiked(pixels: Pixels) -> Tensor:
    """Ones, and a million in the pixel above and beside the middle."""
    inside = (pixels.x > 0) & (pixels.x < pixels.pitch)
    inside &= (pixels.y > 0) & (pixels.y < pixels.pitch)
    return torch.where(inside, 1e6, torch.ones_like(pixels.x))


def holed(pixels: Pixels) -> Tensor:
    holes = torch.where(pixels.x < -0.8, torch.nan, pixels.x + 2 * pixels.y)
    holes = torch.where(pixels.x > 0.8, torch.inf, holes)
    return torch.where(pixels.y > 0.8, -torch.inf, holes)


HARD: dict[str, Factor] = {
    "all zero": lambda pixels: 0 * pixels.x,
    "all negative": lambda pixels: -1 - pixels.x**2,
    "tiny": lambda pixels: 1e-7 * pixels.x,
    "one of a million among ones": spiked,
    "NaN and infinities": holed,
    "constant": lambda pixels: 3 + 0 * pixels.x,
    "all NaN": lambda pixels: pixels.x * torch.nan,
    "denormal": lambda pixels: 1e-42 * pixels.x,
    "huge": lambda pixels: 1e37 * pixels.x,
    "one side of zero, far from it": lambda pixels: 1e4 + pixels.x,
}


def data_of(factor: Factor, dtype: torch.dtype, a: float = 1.0) -> MapData:
    """The map of `a * factor`, which is the factor itself."""

    @renderer(channels="grey")
    def scaled(pixels: Pixels, a: Tensor = param(1.0)) -> Tensor:
        return a * factor(pixels)

    values = mapped(scaled, "a", size=(16, 16), dtype=dtype, strategy="forward", certify=False, a=a)
    assert values.values is not None
    return MapData(values=values.values)


@DTYPES
@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize(
    "style",
    [Style(), Style(norm="symlog"), Style(norm="abs"), Style(symmetric=False, colorbar=True)],
    ids=["plain", "symlog", "abs", "lopsided, with a bar"],
)
def test_every_map_has_a_valid_picture_and_a_range(
    name: str, style: Style, dtype: torch.dtype
) -> None:
    data = data_of(HARD[name], dtype)
    encoded = FORMATS["png"].encode(Maps((data,)), style, {})
    with Image.open(BytesIO(b"".join(bytes(chunk) for chunk in encoded.chunks))) as picture:
        picture.verify()
    low, high = (float(end) for end in encoded.facts["rescale"].strip("[]").split(","))
    assert np.isfinite([low, high]).all()
    assert low < high


@DTYPES
@pytest.mark.parametrize("name", HARD)
def test_zero_is_exactly_the_middle_colour_and_no_number_is_transparent(
    name: str, dtype: torch.dtype
) -> None:
    values = data_of(HARD[name], dtype).values
    drawn = np.asarray(heatmap(MapData(values=values)).picture)
    assert (drawn[values[..., 0] == 0] == MIDDLE).all()
    assert ((drawn == NAN) == np.isnan(values[..., 0])).all()
    # Signs are kept: what is above zero never lies on the other side.
    with np.errstate(invalid="ignore"):
        assert (drawn[values[..., 0] > 0] >= MIDDLE).all()
        assert (drawn[values[..., 0] < 0] <= MIDDLE).all()


@DTYPES
def test_one_pixel_of_a_million_does_not_make_the_rest_invisible(dtype: torch.dtype) -> None:
    data = data_of(spiked, dtype)
    drawn = heatmap(data)
    assert drawn.rescale.high == 1
    assert (np.asarray(drawn.picture) == LAST).all()
    assert drawn.clipped == 1


@DTYPES
@pytest.mark.parametrize("factor", [2.0, 10.0, 1e3])
def test_a_given_range_makes_two_maps_comparable(dtype: torch.dtype, factor: float) -> None:
    weak = data_of(lambda pixels: pixels.x, dtype)
    strong = data_of(lambda pixels: factor * pixels.x, dtype)
    style = Style(rescale=(-factor, factor))
    weak_indices, strong_indices = (
        np.asarray(heatmap(data, style).picture).astype(int) - MIDDLE for data in (weak, strong)
    )
    # The colour of a value is its share of the range, whichever map it stands in.
    assert np.abs(weak_indices * factor - strong_indices).max() <= 0.5 * factor + 0.5
    # Each in its own range looks the same: that is why the range is reported.
    assert np.array_equal(np.asarray(heatmap(weak).picture), np.asarray(heatmap(strong).picture))
    assert heatmap(strong).rescale.high == pytest.approx(factor * heatmap(weak).rescale.high)
