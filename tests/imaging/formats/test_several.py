"""Several maps in one file."""

import json
from io import BytesIO

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from PIL import Image

from app.imaging import FORMATS, MapData, Maps, SeveralArraysError, Style, heatmap

RNG = np.random.default_rng(0)
IMAGE = RNG.random((5, 7, 3)).astype("f4")


def _map(name: str, components: tuple[int, ...] = (), **words: object) -> MapData:
    values = RNG.standard_normal((5, 7, 3, *components)).astype("f4")
    return MapData(values=values, image=IMAGE, channels="rgb", name=name, **words)


MAPS = Maps(
    (
        _map("radius", title="R", unit="per m", facts={"statistics": {"max": 2}}),
        _map("light", (2,), unit="per W"),
        _map("pose[1]", (2, 3)),
    ),
    title="all",
)


def _loaded(maps: Maps) -> tuple[dict[str, np.ndarray], dict[str, object]]:
    body = FORMATS["npz"].encode(maps, Style(), {"request": "r"}).joined()
    with np.load(BytesIO(body), allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    return arrays, json.loads(str(arrays.pop("metadata")))


def test_npz_holds_every_map_under_its_name() -> None:
    arrays, words = _loaded(MAPS)
    assert {*arrays} == {"radius", "light", "pose[1]", "image"}
    for entry in MAPS.entries:
        assert_array_equal(arrays[entry.name], entry.values)
    assert_array_equal(arrays["image"], IMAGE)
    assert [entry["array"] for entry in words["maps"]] == ["radius", "light", "pose[1]"]
    assert words["request"] == "r"


def test_npz_gives_way_where_a_name_is_taken() -> None:
    names = ("image", "image_", "metadata", "values", "file", "args", "allow_pickle")
    maps = Maps(tuple(_map(name) for name in names))
    arrays, words = _loaded(maps)
    kept = dict(zip(names, (entry["array"] for entry in words["maps"]), strict=True))
    assert kept == {name: name for name in names} | {"image": "image__", "metadata": "metadata_"}
    for entry in maps.entries:
        assert_array_equal(arrays[kept[entry.name]], entry.values)
    assert_array_equal(arrays["image"], IMAGE)


def test_npz_of_one_map_is_what_numpy_would_have_written() -> None:
    data = _map("radius", (2,))
    body = FORMATS["npz"].encode(Maps((data,)), Style(), {"a": "\u03b8"}).joined()
    with np.load(BytesIO(body)) as archive:
        assert archive.files == ["metadata", "values", "image"]
        text = archive["metadata"]
    again = BytesIO()
    np.savez(again, metadata=text, values=data.values, image=data.image)
    assert body == again.getvalue()


def test_npy_of_one_map_is_what_numpy_would_have_written() -> None:
    data = _map("radius", (2,))
    again = BytesIO()
    np.save(again, data.values)
    assert FORMATS["npy"].encode(Maps((data,)), Style(), {}).joined() == again.getvalue()


def test_npy_refuses_several_maps_and_says_where_they_fit() -> None:
    with pytest.raises(SeveralArraysError, match="npz") as caught:
        FORMATS["npy"].encode(MAPS, Style(), {})
    assert caught.value.code == "several_arrays"
    assert "light" in str(caught.value)


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_says_beforehand_whether_it_holds_several(name: str) -> None:
    if FORMATS[name].several:
        assert FORMATS[name].encode(MAPS, Style(), {}).size > 0
    else:
        with pytest.raises(SeveralArraysError):
            FORMATS[name].encode(MAPS, Style(), {})


def test_json_lists_what_belongs_to_each_map() -> None:
    document = json.loads(FORMATS["json"].encode(MAPS, Style(), {"request": 1}).joined())
    assert document["title"] == "all"
    assert document["unit"] == "per unit of each parameter"
    assert document["request"] == 1
    radius, light, pose = document["maps"]
    assert radius == {
        "name": "radius",
        "title": "R",
        "unit": "per m",
        "labels": [],
        "shape": [5, 7, 3],
        "dtype": "float32",
        "statistics": {"max": 2},
    }
    assert light["labels"] == ["light[0]", "light[1]"]
    assert pose["shape"] == [5, 7, 3, 2, 3]


def test_json_of_one_map_is_flat() -> None:
    data = MapData(values=np.ones((1, 2, 1)), title="t", unit="per m", facts={"max": 1})
    body = FORMATS["json"].encode(Maps((data,)), Style(), {"request": 1}).joined()
    assert body == (
        b'{"title": "t", "unit": "per m", "channels": ["0"], "labels": [], "shape": [1, 2, 1], '
        b'"dtype": "float64", "max": 1, "request": 1}'
    )


def test_png_shows_all_and_lists_them() -> None:
    encoded = FORMATS["png"].encode(MAPS, Style(colorbar=True), {})
    picture = Image.open(BytesIO(encoded.joined()))
    drawn = heatmap(MAPS, Style(colorbar=True))
    assert drawn.panels == 9
    assert_array_equal(np.asarray(picture), np.asarray(drawn.picture))
    maps = json.loads(picture.text["sensmap:maps"])
    assert [entry["name"] for entry in maps] == ["radius", "light", "pose[1]"]
    assert maps[0]["statistics"] == {"max": 2}


def test_what_is_known_of_one_map_alone_stands_in_its_png() -> None:
    encoded = FORMATS["png"].encode(Maps(MAPS.entries[:1]), Style(), {})
    texts = Image.open(BytesIO(encoded.joined())).text
    assert json.loads(texts["sensmap:statistics"]) == {"max": 2}
    assert "sensmap:maps" not in texts
