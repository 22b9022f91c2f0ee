"""Sweeps in files: moving pictures are decoded frame by frame, arrays are read by NumPy."""

import json
from io import BytesIO

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from PIL import ExifTags, Image

from app.imaging import (
    SWEEP_FORMATS,
    MapData,
    Maps,
    Motion,
    PictureTooLargeError,
    SeveralArraysError,
    Style,
    Sweep,
    UnknownNameError,
    animation,
    sweep_format_named,
)
from app.imaging.palette import NAN

VALUES = (0.25, 0.5, 0.75)
METADATA = {"request": {"wrt": "radius"}, "note": "\u03b8"}
STYLES = [Style(), Style(colorbar=True), Style(overlay=0.6, colorbar=True)]


def _frame(number: int, components: tuple[int, ...] = (), **words: object) -> Maps:
    rng = np.random.default_rng(number)
    values = (1 + number) * rng.standard_normal((20, 24, 3, *components)).astype("f4")
    values[number, 2] = np.nan
    image = rng.random((20, 24, 3)).astype("f4")
    data = MapData(values=values, image=image, channels="rgb", name="light", title="t", **words)
    return Maps((data,))


def _sweep(components: tuple[int, ...] = (), count: int = 3) -> Sweep:
    frames = tuple(_frame(number, components) for number in range(count))
    return Sweep(frames=frames, parameter="radius", values=VALUES[:count], unit="m")


def _opened(
    name: str, sweep: Sweep, style: Style | None = None, motion: Motion | None = None
) -> Image.Image:
    entry = SWEEP_FORMATS[name]
    encoded = entry.encode(sweep, style or Style(), motion or Motion(), METADATA)
    assert encoded.media_type == entry.media_type
    return Image.open(BytesIO(encoded.joined()))


def _seek(picture: Image.Image, place: int) -> Image.Image:
    picture.seek(place)
    picture.load()
    return picture


@pytest.mark.parametrize("style", STYLES, ids=["bare", "bar", "overlay"])
@pytest.mark.parametrize("name", ["png", "webp"])
def test_a_moving_picture_decodes_to_its_frames(name: str, style: Style) -> None:
    sweep = _sweep()
    picture = _opened(name, sweep, style, Motion(milliseconds=250, loop=3))
    assert picture.n_frames == 3
    assert picture.info["loop"] == 3
    for place, expected in enumerate(animation(sweep, style).pictures()):
        found = _seek(picture, place)
        assert found.info["duration"] == 250
        assert_array_equal(np.asarray(found.convert("RGBA")), np.asarray(expected.convert("RGBA")))


def test_a_moving_png_keeps_the_indices_of_its_palette() -> None:
    sweep = _sweep()
    body = SWEEP_FORMATS["png"].encode(sweep, Style(), Motion(lines=False), {}).joined()
    drawn = list(animation(sweep, Style(), lines=False).pictures())
    still = Image.open(BytesIO(body))
    assert still.mode == "P"
    assert still.size == (24, 20)
    assert_array_equal(np.asarray(still), np.asarray(drawn[0]))
    assert still.info["transparency"] == NAN
    assert still.getpalette() == drawn[0].getpalette()
    # One header and one palette for all: every frame has the same kind of pixels.
    for kind, times in {b"IHDR": 1, b"PLTE": 1, b"tRNS": 1, b"fcTL": 3, b"acTL": 1}.items():
        assert body.count(kind) == times


@pytest.mark.parametrize("name", ["png", "webp"])
def test_nan_is_transparent_in_every_frame_and_shows_no_frame_before(name: str) -> None:
    sweep = _sweep()
    picture = _opened(name, sweep, motion=Motion(lines=False))
    for place, frame in enumerate(sweep.frames):
        alpha = np.asarray(_seek(picture, place).convert("RGBA"))[..., 3]
        assert_array_equal(alpha == 0, np.isnan(frame.entries[0].values).any(axis=2))
        assert {*np.unique(alpha).tolist()} == {0, 255}


@pytest.mark.parametrize("name", ["png", "webp"])
def test_a_boomerang_is_written_out(name: str) -> None:
    picture = _opened(name, _sweep(), motion=Motion(boomerang=True))
    assert picture.n_frames == 4
    second, fourth = (np.asarray(_seek(picture, place).convert("RGBA")) for place in (1, 3))
    assert_array_equal(second, fourth)


@pytest.mark.parametrize("name", ["png", "webp"])
def test_frames_that_look_the_same_are_all_kept(name: str) -> None:
    still = Sweep(frames=(_frame(0),) * 3, parameter="radius", values=(1.0, 1.0, 1.0))
    assert _opened(name, still).n_frames == 3


@pytest.mark.parametrize("name", ["png", "webp"])
def test_one_frame_is_a_picture_too(name: str) -> None:
    sweep = _sweep(count=1)
    picture = _opened(name, sweep)
    (expected,) = animation(sweep, Style()).pictures()
    assert picture.n_frames == 1
    assert_array_equal(np.asarray(picture.convert("RGBA")), np.asarray(expected.convert("RGBA")))


def test_moving_pictures_say_what_was_asked_and_what_was_decided() -> None:
    sweep = _sweep()
    encoded = SWEEP_FORMATS["png"].encode(sweep, Style(), Motion(), METADATA)
    texts = Image.open(BytesIO(encoded.joined())).text
    assert json.loads(texts["sensmap:request"]) == METADATA["request"]
    assert texts["sensmap:rescale"] == encoded.facts["rescale"]
    assert json.loads(texts["sensmap:sweep"]) == {
        "parameter": "radius", "unit": "m", "values": list(VALUES)
    }  # fmt: skip
    said = json.loads(_opened("webp", sweep).getexif()[ExifTags.Base.ImageDescription])
    assert said["note"] == METADATA["note"]
    assert said["rescale"] == encoded.facts["rescale"]
    assert said["sweep"]["values"] == list(VALUES)


def test_a_webp_that_is_too_long_is_refused_and_png_is_not() -> None:
    data = MapData(values=np.ones((1, 16_384, 1), "f4"), name="r")
    sweep = Sweep(frames=(Maps((data,)),), parameter="r", values=(0.0,))
    with pytest.raises(PictureTooLargeError, match="png") as caught:
        _opened("webp", sweep, motion=Motion(lines=False))
    assert caught.value.code == "picture_too_large"
    assert _opened("png", sweep, motion=Motion(lines=False)).size == (16_384, 1)


@pytest.mark.parametrize("components", [(), (2,), (2, 3)])
def test_npy_stacks_the_frames(components: tuple[int, ...]) -> None:
    sweep = _sweep(components)
    encoded = SWEEP_FORMATS["npy"].encode(sweep, Style(), Motion(), METADATA)
    stacked = np.load(BytesIO(encoded.joined()), allow_pickle=False)
    assert stacked.shape == (3, 20, 24, 3, *components)
    assert stacked.dtype.str == "<f4"
    assert_array_equal(stacked, [frame.entries[0].values for frame in sweep.frames])


def test_npy_stacks_without_a_copy() -> None:
    sweep = _sweep()
    _, *bodies = SWEEP_FORMATS["npy"].encode(sweep, Style(), Motion(), {}).chunks
    for body, frame in zip(bodies, sweep.frames, strict=True):
        assert np.shares_memory(np.frombuffer(body, np.uint8), frame.entries[0].values)


def _several() -> Sweep:
    frames = tuple(
        Maps(
            tuple(
                MapData(values=np.full((4, 5, 1, *more), size), name=name)
                for name, more in {"values_of_a": (), "light": (2,)}.items()
            )
        )
        for size in (1.0, 2.0)
    )
    return Sweep(frames=frames, parameter="a", values=(0.0, 1.0))


def test_npy_refuses_several_maps_a_frame() -> None:
    assert not SWEEP_FORMATS["npy"].several
    with pytest.raises(SeveralArraysError) as caught:
        SWEEP_FORMATS["npy"].encode(_several(), Style(), Motion(), {})
    assert caught.value.code == "several_arrays"


def test_npz_holds_maps_images_and_the_values_swept_over() -> None:
    sweep = _sweep((2,))
    body = SWEEP_FORMATS["npz"].encode(sweep, Style(), Motion(), METADATA).joined()
    with np.load(BytesIO(body), allow_pickle=False) as archive:
        assert {*archive.files} == {"values", "image", "values_of_radius", "metadata"}
        assert_array_equal(archive["values"], [frame.entries[0].values for frame in sweep.frames])
        assert_array_equal(archive["image"], [frame.image for frame in sweep.frames])
        assert_array_equal(archive["values_of_radius"], VALUES)
        words = json.loads(str(archive["metadata"]))
    assert words["sweep"]["array"] == "values_of_radius"
    assert words["request"] == METADATA["request"]


def test_npz_of_several_maps_a_frame_has_an_array_for_each() -> None:
    body = SWEEP_FORMATS["npz"].encode(_several(), Style(), Motion(), {}).joined()
    with np.load(BytesIO(body), allow_pickle=False) as archive:
        assert {*archive.files} == {"values_of_a", "values_of_a_", "light", "metadata"}
        assert archive["values_of_a"].tolist() == [0, 1]
        assert archive["values_of_a_"].shape == (2, 4, 5, 1)
        assert archive["light"].shape == (2, 4, 5, 1, 2)


def test_json_tells_the_values_and_what_is_known_of_each_frame() -> None:
    frames = tuple(_frame(number, facts={"max": number}) for number in range(3))
    sweep = Sweep(frames=frames, parameter="radius", values=VALUES, unit="m")
    document = json.loads(SWEEP_FORMATS["json"].encode(sweep, Style(), Motion(), METADATA).joined())
    assert document["sweep"] == {
        "parameter": "radius",
        "unit": "m",
        "values": list(VALUES),
        "frames": [{"max": 0}, {"max": 1}, {"max": 2}],
    }
    assert document["shape"] == [20, 24, 3]
    assert "max" not in document  # of the first frame alone, and no frame is all


@pytest.mark.parametrize("name", SWEEP_FORMATS)
def test_every_format_is_found_by_its_name(name: str) -> None:
    assert sweep_format_named(name) is SWEEP_FORMATS[name]
    assert SWEEP_FORMATS[name].suffix == f".{name}"


def test_an_unknown_format_lists_the_choices() -> None:
    with pytest.raises(UnknownNameError, match="webp") as caught:
        sweep_format_named("gif")
    assert caught.value.code == "unknown_format"
