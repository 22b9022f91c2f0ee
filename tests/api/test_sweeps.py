"""Sweeps over HTTP: moving pictures are decoded, stacked arrays are read by NumPy."""

import io
import json
from typing import Any

import httpx2
import numpy as np
import pytest
from PIL import Image

from tests.closed_forms import disc_map
from tests.server import Server, problem
from tests.tolerances import CLOSED_FORM_FLOAT32

SWEEP = "/v1/renderers/disc/sweep"
RADII = [0.3, 0.75, 0.5]
SMALL: dict[str, Any] = {"wrt": "radius", "along": "radius", "values": RADII}
SMALL |= {"width": 40, "height": 30}
GET_SMALL = "wrt=radius&along=radius&values=0.3,0.75,0.5&width=40&height=30"


def post(server: Server, form: str, **fields: Any) -> httpx2.Response:
    body = {name: value for name, value in (SMALL | fields).items() if value is not None}
    return server.client.post(f"{SWEEP}?format={form}", json=body)


def load(answer: httpx2.Response) -> Any:
    assert answer.status_code == 200, answer.text[:400]
    return np.load(io.BytesIO(answer.content), allow_pickle=False)


def pictures(answer: httpx2.Response) -> list[Image.Image]:
    """The frames of a moving picture, decoded."""
    assert answer.status_code == 200, answer.text[:400]
    found = []
    with Image.open(io.BytesIO(answer.content)) as picture:
        for place in range(picture.n_frames):
            picture.seek(place)
            found.append(picture.convert("RGBA"))
    return found


def test_a_stack_is_the_maps_one_behind_the_other_to_the_bit(server: Server) -> None:
    stack = load(post(server, "npy"))
    assert (stack.dtype.str, stack.shape) == ("<f4", (3, 30, 40, 3))
    fields = {"wrt": "radius", "width": 40, "height": 30}
    for values, radius in zip(stack, RADII, strict=True):
        one = load(server.map("disc", {**fields, "params": {"radius": radius}}))
        assert (values == one).all()
        right = disc_map(40, 30, radius)
        assert np.abs(values - right).max() <= CLOSED_FORM_FLOAT32 * right.max()


def test_the_picture_moves_by_default(server: Server) -> None:
    answer = server.client.post(SWEEP, json=SMALL)
    assert answer.headers["content-type"] == "image/png"
    assert b"acTL" in answer.content
    assert len(pictures(answer)) == 3


@pytest.mark.parametrize("form", ["png", "webp"])
def test_a_frame_is_the_picture_of_its_map_in_the_range_of_all(server: Server, form: str) -> None:
    answer = post(server, form, lines=False)
    assert answer.headers["content-type"] == f"image/{form}"
    frames = pictures(answer)
    assert [frame.size for frame in frames] == [(40, 30)] * 3
    rescale = [float(text) for text in json.loads(answer.headers["x-sensmap-rescale"])]
    for frame, radius in zip(frames, RADII, strict=True):
        one = {"wrt": "radius", "width": 40, "height": 30, "rescale": rescale}
        still = server.map("disc", {**one, "params": {"radius": radius}}, "png")
        with Image.open(io.BytesIO(still.content)) as alone:
            assert (np.asarray(frame) == np.asarray(alone.convert("RGBA"))).all()
    own = server.map("disc", {**one, "rescale": "auto"}, "png").headers["x-sensmap-rescale"]
    assert own != answer.headers["x-sensmap-rescale"]


def test_frames_stand_as_long_and_run_as_often_as_is_asked(server: Server) -> None:
    answer = post(server, "png", milliseconds=40, loop=2, boomerang=True)
    with Image.open(io.BytesIO(answer.content)) as picture:
        assert (picture.n_frames, picture.info["loop"]) == (4, 2)
        assert picture.info["duration"] == 40
    first, second, third, back = pictures(answer)
    assert back.tobytes() == second.tobytes() != third.tobytes()
    assert first.height > 30, "a line over each frame tells the value"


def test_a_range_is_the_parameters_own_unless_it_is_given(server: Server) -> None:
    said = post(server, "json", values=None).json()["sweep"]
    assert (said["parameter"], said["unit"]) == ("radius", "scene unit")
    assert (len(said["values"]), said["values"][0], said["values"][-1]) == (24, 0.05, 1.5)
    there = post(server, "npz", values=None, low=0.75, high=0.25, frames=3)
    archive = load(there)
    assert archive["values_of_radius"].tolist() == [0.75, 0.5, 0.25]
    assert archive["values"].shape == archive["image"].shape == (3, 30, 40, 3)
    headers = there.headers
    assert (headers["x-sensmap-from"], headers["x-sensmap-to"]) == ("0.75", "0.25")


def test_each_map_of_a_list_is_stacked(server: Server) -> None:
    archive = load(post(server, "npz", wrt=["radius", "colour"], along="colour[1]"))
    assert archive["radius"].shape == (3, 30, 40, 3)
    assert archive["colour"].shape == (3, 30, 40, 3, 3)
    said = json.loads(str(archive["metadata"]))["sweep"]["frames"]
    assert [frame["radius"]["statistics"]["max"] for frame in said] == [
        pytest.approx(values.max()) for values in archive["radius"]
    ]
    detail = problem(post(server, "npy", wrt=["radius", "colour"]), 422, "several_arrays")["detail"]
    assert "npz" in detail


def test_headers_say_how_a_sweep_was_got(server: Server) -> None:
    answer = post(server, "npy")
    stack, headers = load(answer), answer.headers
    assert (headers["x-sensmap-frames"], headers["x-sensmap-along"]) == ("3", "radius")
    assert headers["x-sensmap-shape"] == "3,30,40,3"
    assert headers["x-sensmap-strategy"] == "forward"
    assert float(headers["x-sensmap-max"]) == stack.max()
    assert headers["x-sensmap-warnings"] == "none"
    assert headers["content-disposition"] == 'inline; filename="disc_radius_along_radius.npy"'
    stages = dict(part.split(";dur=") for part in headers["server-timing"].split(", "))
    assert set(stages) == {"plan", "compute", "certify", "encode"}


def test_json_says_what_there_is_of_each_frame(server: Server) -> None:
    document, stack = post(server, "json").json(), load(post(server, "npy"))
    assert document["title"] == "d(image)/d(radius)"
    assert document["sweep"]["values"] == RADII
    found = [frame["statistics"]["max"] for frame in document["sweep"]["frames"]]
    assert found == [pytest.approx(values.max()) for values in stack]
    assert document["statistics"]["max"] == max(found)
    assert document["request"]["along"] == "radius"


@pytest.mark.parametrize("form", ["png", "webp", "npy", "npz", "json"])
def test_an_address_answers_as_a_body_does(server: Server, form: str) -> None:
    posted = post(server, form)
    address = f"{SWEEP}.{form}?{GET_SMALL}"
    got, head = server.client.get(address), server.client.head(address)
    assert got.status_code == head.status_code == 200, got.text[:300]
    assert got.headers["etag"] == posted.headers["etag"] == head.headers["etag"]
    assert got.headers["content-type"] == posted.headers["content-type"]
    if form != "npz":  # an archive holds the time of day
        assert got.content == posted.content
    assert head.content == b""
    assert head.headers["content-length"] == str(len(got.content))
    again = server.client.get(address, headers={"If-None-Match": got.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_a_query_has_flags_a_range_and_a_single_value(server: Server) -> None:
    fields = "wrt=radius&along=colour[1]&width=8&height=8&radius=0.7"
    given = {"wrt": "radius", "along": "colour[1]", "params": {"radius": 0.7}}
    for text, body in (
        ("low=1&high=0.5&frames=2&lines=false&boomerang=true", {
            "low": 1, "high": 0.5, "frames": 2, "lines": False, "boomerang": True}),
        ("values=0.5&milliseconds=50&loop=1", {"values": [0.5], "milliseconds": 50, "loop": 1}),
    ):  # fmt: skip
        got = server.client.get(f"{SWEEP}.png?{fields}&{text}")
        posted = server.client.post(SWEEP, json={**given, **body, "width": 8, "height": 8})
        assert got.status_code == posted.status_code == 200, got.text[:300]
        assert got.headers["etag"] == posted.headers["etag"]


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        ("image/apng", "image/png"),
        ("image/webp", "image/webp"),
        ("image/*", "image/png"),
        ("application/x-npz", "application/zip"),
        ("application/octet-stream", "application/octet-stream"),
    ],
)
def test_the_accept_header_chooses_the_format(server: Server, accept: str, expected: str) -> None:
    answer = server.client.post(SWEEP, json=SMALL, headers={"Accept": accept})
    assert answer.headers["content-type"] == expected


def test_values_that_are_no_numbers_are_counted_over_all_frames(server: Server) -> None:
    body = {"wrt": "gain", "along": "gain", "values": [1, 2], "width": 64, "height": 64}
    answer = server.client.post("/v1/renderers/spotted/sweep?format=npy", json=body)
    assert answer.headers["x-sensmap-nan"] == str(np.isnan(load(answer)).sum()) != "0"


def test_a_frame_that_fails_is_named(server: Server) -> None:
    body = {"wrt": "gain", "along": "gain", "low": 0, "high": 1, "width": 8, "height": 8}
    answer = server.client.post("/v1/renderers/raises/sweep", json=body)
    assert problem(answer, 502, "renderer_failed")["detail"].startswith("In frame 0, where gain = ")


BAD: dict[str, tuple[dict[str, Any], str, str]] = {
    "no along": ({"along": None}, "missing_field", "along"),
    "an empty along": ({"along": ""}, "invalid_field", "along"),
    "an along that there is not": ({"along": "radios"}, "unknown_parameter", "along"),
    "an along of several numbers": ({"along": "colour"}, "not_a_number", "along"),
    "an entry that is not there": ({"along": "colour[3]"}, "unknown_entry", "along"),
    "an along of a list": ({"along": ["radius"]}, "invalid_field", "along"),
    "no wrt": ({"wrt": None}, "missing_wrt", "wrt"),
    "a value above the bounds": ({"values": [0.5, 9]}, "out_of_range", "values"),
    "a value below the bounds": ({"values": [0.01]}, "out_of_range", "values"),
    "no values": ({"values": []}, "invalid_field", "values"),
    "a value that is none": ({"values": [0.5, "1"]}, "invalid_field", "values"),
    "a boolean for a value": ({"values": [True]}, "invalid_field", "values"),
    "one value without its list": ({"values": 0.5}, "invalid_field", "values"),
    "too many values": ({"values": [0.5] * 257}, "invalid_field", "values"),
    "values and an end": ({"low": 0.1}, "values_and_range", "values"),
    "values and their number": ({"frames": 3}, "values_and_range", "values"),
    "an end below the bounds": ({"values": None, "low": 0.01}, "out_of_range", "low"),
    "an end above the bounds": ({"values": None, "high": 2}, "out_of_range", "high"),
    "a huge end": ({"values": None, "high": 1e300}, "out_of_range", "high"),
    "a range of one value": (
        {"values": None, "low": 0.5, "high": 0.5},
        "empty_range",
        "high",
    ),
    "no frames": ({"values": None, "frames": 0}, "invalid_field", "frames"),
    "too many frames": ({"values": None, "frames": 257}, "invalid_field", "frames"),
    "half a frame": ({"values": None, "frames": 1.5}, "invalid_field", "frames"),
    "frames that fly by": ({"milliseconds": 19}, "invalid_field", "milliseconds"),
    "frames that stand for ever": ({"milliseconds": 60_001}, "invalid_field", "milliseconds"),
    "a loop of less than none": ({"loop": -1}, "invalid_field", "loop"),
    "a number for a flag": ({"boomerang": 1}, "invalid_field", "boomerang"),
    "an unknown field": ({"frmes": 3}, "unknown_field", "frmes"),
    "an unknown channel": ({"channel": "lumniance"}, "unknown_channel", "channel"),
    "an unknown strategy": ({"strategy": "backward"}, "unknown_strategy", "strategy"),
    "a frame too large": ({"width": 16385}, "frame_too_large", "width"),
    "too much in all frames": (
        {"values": [0.5] * 256, "width": 1024, "height": 1024},
        "result_too_large",
        "wrt",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_answered_in_words(server: Server, name: str) -> None:
    fields, code, field = BAD[name]
    assert problem(post(server, "png", **fields), 422, code)["field"] == field


def test_refusals_say_what_is_allowed(server: Server) -> None:
    told = problem(post(server, "png", values=[0.5, 9]), 422, "out_of_range")["detail"]
    assert told.startswith("Frame 1: ")
    assert "between 0.05 and 1.5 scene unit; got 9" in told
    told = problem(post(server, "png", along="radios"), 422, "unknown_parameter")["detail"]
    assert "Did you mean 'radius'?" in told
    told = problem(post(server, "png", along="colour"), 422, "not_a_number")["detail"]
    assert "colour[0]" in told


@pytest.mark.parametrize("name", ["raises", "spotted"])
def test_a_parameter_without_a_range_needs_one(server: Server, name: str) -> None:
    fields = {"wrt": "gain", "along": "gain", "width": 8, "height": 8}
    path = f"/v1/renderers/{name}/sweep"
    told = problem(server.client.post(path, json=fields), 422, "no_range")
    assert "Give both ends, or the values." in told["detail"]
    told = problem(server.client.post(path, json={**fields, "low": 0}), 422, "no_range")
    assert told["field"] == "high"


@pytest.mark.parametrize("form", ["png", "webp"])
def test_a_picture_of_too_many_entries_is_refused(server: Server, form: str) -> None:
    fields = {"wrt": "texture", "along": "texture[0,0]", "values": [0, 1], "width": 8, "height": 8}
    path = "/v1/renderers/image_shaped/sweep"
    problem(server.client.post(f"{path}?format={form}", json=fields), 422, "too_many_panels")
    stack = load(server.client.post(f"{path}?format=npy", json=fields))
    assert stack.shape == (2, 8, 8, 1, 9, 9)


@pytest.mark.parametrize("form", ["gif", "apng", "p" * 300])
def test_an_unknown_format_is_answered_with_those_there_are(server: Server, form: str) -> None:
    for answer in (server.client.get(f"{SWEEP}.{form}?{GET_SMALL}"), post(server, form)):
        assert "webp" in problem(answer, 404, "unknown_format")["detail"]


def test_maps_are_still_in_formats_of_their_own(server: Server) -> None:
    fields = {"wrt": "radius", "width": 8, "height": 8}
    problem(server.map("disc", fields, "webp"), 404, "unknown_format")
