import json
from io import BytesIO

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from PIL import Image

from app.imaging import (
    LABEL_FORMATS,
    LabelMap,
    UnknownNameError,
    label_format_named,
    label_picture,
)

LABELS = LabelMap(
    values=np.array([[0, 1, -1], [1, 1, 0]], np.int64), names=("radius", "light"), title="most"
)


def _encoded(name: str) -> bytes:
    return LABEL_FORMATS[name].encode(LABELS, {"request": {"a": 1}}).joined()


def test_npy_holds_the_labels_as_integers() -> None:
    again = np.load(BytesIO(_encoded("npy")), allow_pickle=False)
    assert again.dtype.str == "<i4"
    assert_array_equal(again, LABELS.values)


def test_png_holds_the_picture_and_the_counts() -> None:
    again = Image.open(BytesIO(_encoded("png")))
    assert_array_equal(np.asarray(again), np.asarray(label_picture(LABELS)))
    assert json.loads(again.text["sensmap:names"]) == ["radius", "light"]
    assert json.loads(again.text["sensmap:request"]) == {"a": 1}


def test_json_counts_the_pixels_of_each_name() -> None:
    assert json.loads(_encoded("json")) == {
        "title": "most",
        "shape": [2, 3],
        "names": ["radius", "light"],
        "pixels": [2, 3],
        "none": 1,
        "request": {"a": 1},
    }


def test_formats_are_found_by_name() -> None:
    assert label_format_named("npy") is LABEL_FORMATS["npy"]
    with pytest.raises(UnknownNameError):
        label_format_named("npz")
