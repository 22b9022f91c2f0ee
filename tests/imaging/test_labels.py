from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from app.imaging import (
    MOST_CLASSES,
    InvalidMapError,
    LabelMap,
    TooManyClassesError,
    label_picture,
)
from app.imaging.labels import COLOURS
from app.imaging.palette import BACKGROUND, FAINT, INK, NAN

VALUES = np.arange(-1, 23).reshape(4, 6) % 4 - 1
NAMES = ("radius", "light[0]", "distance")

# Linear sRGB as seen without one kind of cones: G. Machado, M. Oliveira, L. Fernandes, "A
# physiologically-based model for simulation of color vision deficiency", IEEE TVCG 15(6), 2009.
VIEWS = {
    "normal": np.eye(3),
    "no long": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                [-0.003882, -0.048116, 1.051998]],
    "no middle": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                  [-0.011820, 0.042940, 0.968881]],
    "no short": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                 [0.004733, 0.691367, 0.303900]],
}  # fmt: skip


def _oklab(linear: np.ndarray) -> np.ndarray:
    """B. Ottosson, "A perceptual color space for image processing", 2020."""
    cones = [[0.4122214708, 0.5363325363, 0.0514459929],
             [0.2119034982, 0.6806995451, 0.1073969566],
             [0.0883024619, 0.2817188376, 0.6299787005]]  # fmt: skip
    axes = [[0.2104542553, 0.7936177850, -0.0040720468],
            [1.9779984951, -2.4285922050, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.8086757660]]  # fmt: skip
    return np.cbrt(linear @ np.transpose(cones)) @ np.transpose(axes)


@pytest.mark.parametrize("view", VIEWS)
def test_no_two_colours_are_alike_however_one_sees(view: str) -> None:
    encoded = np.asarray([list(bytes.fromhex(colour)) for colour in COLOURS]) / 255
    linear = np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)
    seen = _oklab(np.clip(linear @ np.transpose(VIEWS[view]), 0, 1))
    # As the table claims. Of matplotlib's tab20, two colours are 0.0065 apart for some.
    assert min(np.linalg.norm(one - other) for one, other in combinations(seen, 2)) > 0.075


def test_a_label_is_its_index_and_none_is_transparent() -> None:
    picture = label_picture(LabelMap(values=VALUES, names=NAMES), legend=False)
    assert picture.mode == "P"
    assert picture.size == (6, 4)
    assert picture.info["transparency"] == NAN
    assert_array_equal(np.asarray(picture), np.where(VALUES < 0, NAN, VALUES))
    alpha = np.asarray(picture.convert("RGBA"))[..., 3]
    assert_array_equal(alpha == 0, VALUES < 0)
    colours = np.asarray(picture.convert("RGB"))
    assert bytes(colours[VALUES == 1][0]).hex().upper() == COLOURS[1]


@pytest.mark.parametrize("shape", [(60, 60), (30, 400), (400, 30), (1, 1)])
def test_a_legend_leaves_the_map_alone_and_shows_every_colour(shape: tuple[int, int]) -> None:
    values = np.full(shape, 7)
    names = tuple(f"parameter {number}" for number in range(MOST_CLASSES))
    pixels = np.asarray(label_picture(LabelMap(values=values, names=names, title="what")))
    windows = np.lib.stride_tricks.sliding_window_view(pixels, shape)
    assert (windows == 7).all((2, 3)).any()
    assert {*range(MOST_CLASSES), BACKGROUND, FAINT, INK} <= {*np.unique(pixels).tolist()}
    assert NAN not in pixels
    assert pixels[0, 0] == pixels[-1, -1] == BACKGROUND


def test_none_stands_in_the_legend_where_it_stands_in_the_map() -> None:
    values = np.zeros((30, 30), int)
    full = np.asarray(label_picture(LabelMap(values=values, names=NAMES)))
    values[0, 0] = -1
    holed = np.asarray(label_picture(LabelMap(values=values, names=NAMES)))
    assert (full == NAN).sum() == 0
    assert (holed == NAN).sum() > 1


def test_pixels_are_counted_by_name() -> None:
    labels = LabelMap(values=VALUES.astype(np.int8), names=(*NAMES, "nowhere"))
    assert labels.pixels == (6, 6, 6, 0)
    assert labels.unlabelled == 6


def test_more_names_than_colours_are_refused_in_a_picture_alone() -> None:
    labels = LabelMap(values=VALUES, names=tuple(map(str, range(21))))
    with pytest.raises(TooManyClassesError, match="21") as caught:
        label_picture(labels)
    assert caught.value.code == "too_many_classes"


@pytest.mark.parametrize(
    "values",
    [
        np.zeros((2, 2)),
        np.zeros((2, 2, 1), int),
        np.zeros((0, 2), int),
        np.full((2, 2), 3),
        np.full((2, 2), -2),
    ],
)
def test_labels_without_a_name_are_refused(values: np.ndarray) -> None:
    with pytest.raises(InvalidMapError) as caught:
        LabelMap(values=values, names=NAMES)
    assert caught.value.code == "invalid_map"
