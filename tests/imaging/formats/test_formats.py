import json
from io import BytesIO

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from PIL import Image

from app.imaging import (
    FORMATS,
    InvalidMetadataError,
    MapData,
    Maps,
    Style,
    UnknownNameError,
    heatmap,
)
from app.imaging.formats import PNG, format_named, table
from app.imaging.palette import NAN

METADATA = {"request": {"wrt": "radius"}, "note": "\u03b8 \u65e5\u672c"}
TEXTS = {"sensmap:request": '{"wrt": "radius"}', "sensmap:note": "\u03b8 \u65e5\u672c"}


def _data(dtype: str = "f4", components: tuple[int, ...] = ()) -> MapData:
    rng = np.random.default_rng(0)
    values = rng.standard_normal((5, 7, 3, *components)).astype(dtype)
    values[1, 2] = np.nan
    image = rng.random((5, 7, 3)).astype(dtype)
    return MapData(values=values, image=image, channels="rgb", title="d(image)/d(x)")


def _encoded(name: str, data: MapData, style: Style | None = None) -> bytes:
    return FORMATS[name].encode(Maps((data,)), style or Style(), METADATA).joined()


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_encodes_maps_and_images(name: str) -> None:
    entry = FORMATS[name]
    for data in (_data(), _data("f8", (2,)), _data("f2")):
        encoded = entry.encode(Maps((data,)), Style(), METADATA)
        assert encoded.media_type == entry.media_type
        assert encoded.size == len(encoded.joined()) > 0
        assert entry.encode_image(data.image, METADATA).size > 0
    assert entry.suffix == f".{name}"


def test_an_unknown_format_lists_the_choices() -> None:
    with pytest.raises(UnknownNameError, match="npy") as caught:
        format_named("numpy")
    assert caught.value.code == "unknown_format"
    assert format_named("png") is FORMATS["png"]


def test_the_table_refuses_a_taken_name() -> None:
    with pytest.raises(ValueError, match="png"):
        table([PNG, PNG])


@pytest.mark.parametrize(
    ("dtype", "sent"), [("f2", "<f4"), ("f4", "<f4"), (">f4", "<f4"), ("f8", "<f8")]
)
@pytest.mark.parametrize("components", [(), (2,), (2, 3)])
def test_npy_is_read_back_without_pickle(
    dtype: str, sent: str, components: tuple[int, ...]
) -> None:
    data = _data(dtype, components)
    body = _encoded("npy", data)
    assert body[:8] == b"\x93NUMPY\x01\x00"
    again = np.load(BytesIO(body), allow_pickle=False)
    assert again.dtype.str == sent
    assert again.flags.c_contiguous
    assert_array_equal(again, data.values)


def test_npy_sends_the_memory_of_the_array_itself() -> None:
    data = _data()
    _, body = FORMATS["npy"].encode(Maps((data,)), Style(), {}).chunks
    assert np.shares_memory(np.frombuffer(body, np.uint8), data.values)


def test_npy_turns_fortran_order_round() -> None:
    data = MapData(values=np.asfortranarray(_data().values))
    assert_array_equal(np.load(BytesIO(_encoded("npy", data))), data.values)


def test_npz_holds_numbers_image_and_metadata_without_pickle() -> None:
    data = _data(components=(2,))
    with np.load(BytesIO(_encoded("npz", data)), allow_pickle=False) as archive:
        assert_array_equal(archive["values"], data.values)
        assert_array_equal(archive["image"], data.image)
        assert archive["metadata"].shape == ()
        described = json.loads(str(archive["metadata"]))
    assert {key: described[key] for key in METADATA} == METADATA
    assert described["channels"] == ["r", "g", "b"]
    assert described["labels"] == ["[0]", "[1]"]


def test_json_has_the_words_and_no_arrays() -> None:
    nothing = MapData(values=np.full((2, 2, 1), np.nan))
    document = json.loads(_encoded("json", nothing), parse_constant=pytest.fail)
    assert document["shape"] == [2, 2, 1]
    assert document["request"] == METADATA["request"]
    big = MapData(values=np.ones((200, 200, 3)))
    assert len(_encoded("json", big)) < 2000


@pytest.mark.parametrize("style", [Style(), Style(colorbar=True), Style(overlay=0.5)])
def test_png_decodes_to_the_heatmap(style: Style) -> None:
    expected = heatmap(_data(), style).picture
    again = Image.open(BytesIO(_encoded("png", _data(), style)))
    assert again.mode == expected.mode
    assert_array_equal(np.asarray(again), np.asarray(expected))
    assert_array_equal(np.asarray(again.convert("RGBA")), np.asarray(expected.convert("RGBA")))


def test_nan_is_transparent_in_the_png_and_nothing_else_is() -> None:
    again = Image.open(BytesIO(_encoded("png", _data())))
    alpha = np.asarray(again.convert("RGBA"))[..., 3]
    assert again.info["transparency"] == NAN
    assert_array_equal(alpha == 0, np.isnan(_data().values).any(axis=2))
    assert set(np.unique(alpha)) == {0, 255}


def test_png_says_what_was_asked_and_what_was_decided() -> None:
    encoded = FORMATS["png"].encode(Maps((_data(),)), Style(), METADATA)
    texts = Image.open(BytesIO(encoded.joined())).text
    assert {key: texts[key] for key in TEXTS} == TEXTS
    low, high = json.loads(texts["sensmap:rescale"])
    assert low == -high < 0
    assert encoded.facts["rescale"] == texts["sensmap:rescale"]
    assert texts["sensmap:colormap"] == "rdbu"


@pytest.mark.parametrize("key", ["k" * 80, "\u03b8", "a\nb"])
def test_a_key_that_a_png_cannot_hold_is_refused(key: str) -> None:
    with pytest.raises(InvalidMetadataError) as caught:
        FORMATS["png"].encode(Maps((_data(),)), Style(), {key: "x"})
    assert caught.value.code == "invalid_metadata"


def _image_of(image: np.ndarray) -> Image.Image:
    return Image.open(BytesIO(FORMATS["png"].encode_image(image, METADATA).joined()))


def test_a_primal_image_is_clipped_and_rounded() -> None:
    image = np.asarray([[[-1, 0, 0.5], [1, 2, np.inf]]], "f4")
    assert np.asarray(_image_of(image)).tolist() == [[[0, 0, 128], [255, 255, 255]]]
    assert _image_of(image).text == TEXTS
    assert image[0, 0, 0] == -1  # what was given is not written to


@pytest.mark.parametrize(("channels", "mode"), [(1, "L"), (3, "RGB"), (2, "L"), (5, "L")])
def test_the_mode_of_a_primal_image_follows_its_channels(channels: int, mode: str) -> None:
    image = np.full((3, 40, channels), 0.2)
    assert _image_of(image).mode == mode
    image[1, 1, 0] = np.nan
    drawn = np.asarray(_image_of(image))
    assert drawn[1, 1].tolist() == [0] * drawn.shape[2]
    assert (drawn[..., -1] == 255).sum() == 3 * 40 - 1
