"""C11 and C17: values that are no numbers stay in their pixels, are counted, and cross no wire."""

import json
from io import BytesIO

import numpy as np
import pytest
import torch
from torch import Tensor

from app.engine import SensitivityMap
from app.imaging import FORMATS, MapData, Maps, Style, heatmap
from app.imaging.palette import NAN
from renderers import ParameterError, Pixels, Renderer, param, renderer
from tests.cases.asking import DTYPES, Formula, bound, codes, error, mapped, numbers, positions


@renderer(channels="grey")
def distance(pixels: Pixels, centre: Tensor = param((0.0, 0.0))) -> Tensor:
    """C11: the centre lies on the middle pixel of a frame with odd sides."""
    return torch.sqrt((pixels.x - centre[0]) ** 2 + (pixels.y - centre[1]) ** 2)


@renderer(channels="grey")
def root(pixels: Pixels, a: Tensor = param(1.5)) -> Tensor:
    """The left half is NaN in image and map."""
    return torch.sqrt(pixels.x) * a**2


@renderer(channels="grey")
def pole(pixels: Pixels, a: Tensor = param(1.5)) -> Tensor:
    """Infinite in the middle column of a frame of odd width."""
    return a**2 / pixels.x.abs()


@renderer(channels="grey")
def masked_root(pixels: Pixels, a: Tensor = param(1.0)) -> Tensor:
    """The image is finite everywhere; the branch that is not taken has an infinite slope."""
    inside = a * pixels.x
    return torch.where(inside > 0, torch.sqrt(inside), torch.zeros_like(inside))


def of_the_root(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return 3 * np.sqrt(np.where(x > 0, x, np.nan))


@DTYPES
def test_the_pixel_on_the_centre_alone_is_nan(dtype: torch.dtype) -> None:
    found = mapped(distance, "centre", size=(3, 3), dtype=dtype)
    values = numbers(found)
    assert np.isnan(values[1, 1]).all()
    values[1, 1] = 0
    x = np.array([-1, 0, 1]) * 2 / 3
    x, y = np.meshgrid(x, -x)
    size = np.hypot(x, y)
    size[1, 1] = 1
    assert np.abs(values - np.stack([-x / size, -y / size], -1)).max() <= bound(found)
    assert "non_finite" in codes(found)
    assert found.statistics.nan == 2


@DTYPES
@pytest.mark.parametrize("size", [(8, 8), (64, 48)])
def test_nan_in_a_part_of_the_image_says_nothing_of_the_rest(
    dtype: torch.dtype, size: tuple[int, int]
) -> None:
    found = mapped(root, "a", size=size, dtype=dtype)
    assert found.strategy == "forward"
    assert codes(found) == {"non_finite"}
    assert error(found, of_the_root) <= bound(found)
    assert found.statistics.nan == size[0] * size[1] // 2


@DTYPES
def test_an_infinite_column_is_counted_and_left_out_of_the_rest(dtype: torch.dtype) -> None:
    found = mapped(pole, "a", size=(9, 5), dtype=dtype)
    assert found.strategy == "forward"
    assert found.statistics.posinf == 5
    assert found.statistics.high == pytest.approx(3 / 0.4)
    assert codes(found) >= {"non_finite"}


def test_it_is_transparent_in_the_picture_and_does_not_change_the_range() -> None:
    values = mapped(distance, "centre[0]", size=(3, 3)).values
    assert values is not None
    drawn = heatmap(MapData(values=values))
    clean = heatmap(MapData(values=np.nan_to_num(values)))
    picture = np.asarray(drawn.picture)
    assert picture[1, 1] == NAN
    assert (picture == NAN).sum() == 1
    assert drawn.picture.info["transparency"] == NAN
    assert drawn.rescale == clean.rescale


def every_kind() -> list[SensitivityMap]:
    return [
        mapped(distance, "centre", size=(3, 3)),
        mapped(root, "a", size=(8, 8)),
        mapped(pole, "a", size=(9, 5)),
    ]


def test_statistics_and_certificates_are_plain_json() -> None:
    for found in every_kind():
        assert found.certificate is not None
        for described in (found.statistics.describe(), found.certificate.describe()):
            text = json.dumps(described, allow_nan=False)
            assert json.loads(text) == described


@renderer(channels="grey")
def nothing_but_nan(pixels: Pixels, a: Tensor = param(1.5)) -> Tensor:
    return torch.log(-(pixels.x**2) - 1) * a


def test_a_map_without_a_number_in_it_is_described_all_the_same() -> None:
    found = mapped(nothing_but_nan, "a", size=(6, 4))
    assert codes(found) >= {"non_finite", "unverified"}
    described = json.loads(json.dumps(found.statistics.describe(), allow_nan=False))
    assert (described["nan"], described["min"], described["mean"]) == (24, None, None)


@DTYPES
def test_npy_is_little_endian_c_order_and_loads_without_pickle(dtype: torch.dtype) -> None:
    for found in (mapped(distance, "centre", size=(3, 3), dtype=dtype), mapped(root, "a")):
        assert found.values is not None
        encoded = FORMATS["npy"].encode(Maps((MapData(values=found.values),)), Style(), {})
        loaded = np.load(BytesIO(b"".join(bytes(part) for part in encoded.chunks)))
        assert loaded.dtype.str == ("<f4" if found.values.dtype == np.float32 else "<f8")
        assert loaded.flags.c_contiguous
        assert np.array_equal(loaded, found.values, equal_nan=True)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 10**400])
def test_a_value_that_is_no_number_is_refused_before_anything_is_computed(value: float) -> None:
    with pytest.raises(ParameterError) as caught:
        mapped(root, "a", a=value)
    assert caught.value.code == "not_finite"


@DTYPES
@pytest.mark.parametrize(
    ("source", "right"),
    [
        (masked_root, lambda x, y: np.where(x > 0, np.sqrt(np.abs(x)) / 2, 0)),
    ],
)
def test_a_branch_that_is_not_taken_may_have_no_slope(
    source: Renderer, right: Formula, dtype: torch.dtype
) -> None:
    found = mapped(source, "a", dtype=dtype)
    assert codes(found) == set()
    assert error(found, right) <= bound(found)


@renderer(channels="grey")
def chords(pixels: Pixels, radii: Tensor = param((0.5, 0.4, 0.3), low=0.05, high=1.0)) -> Tensor:
    """An X-ray of three spheres: beside each, `sqrt` at 0 has a slope that `clamp` cannot stop."""
    image = torch.zeros_like(pixels.x)
    for i, x in enumerate((-0.4, 0.1, 0.5)):
        apart = (pixels.x - x) ** 2 + pixels.y**2
        image = image + 2 * torch.sqrt(torch.clamp(radii[i] ** 2 - apart, min=0.0))
    return image


def of_the_chords(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    maps = []
    for radius, at in ((0.5, -0.4), (0.4, 0.1), (0.3, 0.5)):
        inside = radius**2 - (x - at) ** 2 - y**2
        maps.append(np.where(inside > 0, 2 * radius / np.sqrt(np.abs(inside)), 0))
    return np.stack(maps, -1)


@DTYPES
def test_a_slope_that_is_no_number_where_the_image_is_smooth_is_no_answer(
    dtype: torch.dtype,
) -> None:
    found = mapped(chords, "radii", size=(48, 32), dtype=dtype)
    assert found.strategy == "finite_difference"
    assert "broken_derivative" in codes(found)
    values, right = numbers(found), of_the_chords(*positions((48, 32)))
    flat = right.max(-1) < 6  # away from the silhouettes, where the slope grows without bound
    assert np.abs(values - right)[flat].max() <= 0.02
    assert found.statistics.nan == 0
    forced = mapped(chords, "radii", size=(48, 32), dtype=dtype, strategy="forward", certify=False)
    assert forced.statistics.nan > 1000


@renderer(channels="grey")
def switched(pixels: Pixels, r: Tensor = param(0.5, low=0.1, high=1.0)) -> Tensor:
    """Every pixel leaps as the parameter passes its default."""
    return r**2 * pixels.x if float(r) > 0.5 else r * pixels.x


@DTYPES
def test_where_the_whole_image_leaps_nothing_is_certified(dtype: torch.dtype) -> None:
    assert codes(mapped(switched, "r", size=(48, 32), dtype=dtype)) != set()
