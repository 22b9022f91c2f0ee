"""What pixels answer to every parameter, over HTTP, beside closed forms and maps."""

import io
import json
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.closed_forms import positions
from tests.server import Server, problem
from tests.tolerances import PROBE

WIDTH, HEIGHT = 24, 16
FRAME = {"width": WIDTH, "height": HEIGHT}
SIZE = {**FRAME, "dtype": "float64"}
PIXEL = {"x": 16, "y": 7}
RADIUS, SOFTNESS, COLOUR = 0.5, 0.05, np.array([1.0, 0.4, 0.1])
CLOSE = {"rtol": 1e-9, "atol": 1e-12}


def ask(server: Server, path: str = "disc/probe", **body: object) -> Any:
    answer = server.client.post(f"/v1/renderers/{path}", json={**SIZE, **body})
    assert answer.status_code == 200, answer.text
    return answer


def closed_form() -> tuple[Any, Any]:
    """Coverage of the disc, and its derivative by the radius."""
    x, y = positions(WIDTH, HEIGHT)
    inside = 1 / (1 + np.exp((np.hypot(x, y) - RADIUS) / SOFTNESS))
    return inside, inside * (1 - inside) / SOFTNESS


def weights_of_mask() -> Any:
    return np.where(np.arange(WIDTH * HEIGHT).reshape(HEIGHT, WIDTH) % 5 == 0, 0.5, 0.0)


def weights_of(*pixels: tuple[int, int, float]) -> Any:
    weights = np.zeros((HEIGHT, WIDTH))
    for x, y, weight in pixels:
        weights[y, x] = weight
    return weights


def box() -> Any:
    weights = np.zeros((HEIGHT, WIDTH))
    weights[2:9, 3:20] = 1
    return weights


@pytest.mark.parametrize(
    ("region", "weights"),
    [
        (PIXEL, weights_of((16, 7, 1))),
        ({"x0": 3, "y0": 2, "x1": 20, "y1": 9}, box()),
        ({"points": [[16, 7], [7, 9]], "weights": [3, 1]}, weights_of((16, 7, 3), (7, 9, 1))),
        ({"mask": weights_of_mask().tolist()}, weights_of_mask()),
    ],
    ids=["pixel", "rectangle", "points", "mask"],
)
def test_a_region_is_differentiated_as_in_closed_form(
    server: Server, region: dict[str, Any], weights: Any
) -> None:
    told = ask(server, regions=[region, {**region, "reduce": "sum", "weight": -2, "channel": "g"}])
    mean, total = told.json()["regions"]
    inside, slope = closed_form()
    weights_of_mean = weights / weights.sum()
    for found, share, colour in (
        (mean, weights_of_mean, np.full(3, 1 / 3)),
        (total, -2 * weights, np.array([0.0, 1.0, 0.0])),
    ):
        light = float(colour @ COLOUR)
        assert found["value"] == pytest.approx((share * inside).sum() * light)
        gradients = found["gradients"]
        np.testing.assert_allclose(gradients["radius"], (share * slope).sum() * light, **CLOSE)
        np.testing.assert_allclose(gradients["colour"], (share * inside).sum() * colour, **CLOSE)
    assert set(mean["gradients"]) == {"radius", "centre", "softness", "colour"}
    assert told.headers["x-sensmap-strategy"] == "reverse"


def test_a_probe_of_one_number_is_a_row_of_all_maps(server: Server) -> None:
    size = {**SIZE, "wrt": "*"}
    found = server.client.post("/v1/renderers/sphere/map?format=npz", json=size)
    probed = server.client.post(
        "/v1/renderers/sphere/probe?format=npz",
        json={**size, "regions": [{"x": 9, "y": 6, "channel": "each"}]},
    )
    maps, rows = (np.load(io.BytesIO(each.content)) for each in (found, probed))
    # The default image is of three channels, so there are three rows.
    assert rows["values"].shape == (3,)
    named = [name for name in rows.files if name.startswith("gradients/")]
    assert len(named) > 3
    for name in named:
        whole = maps[name.removeprefix("gradients/")][6, 9]
        scale = max(abs(whole).max(), 1e-12)
        assert abs(rows[name] - whole).max() <= PROBE["float64"] * scale
    assert json.loads(str(rows["metadata"]))["names"][0] == "region 1, r"


def test_single_entries_are_those_of_maps(server: Server) -> None:
    outputs, entries = [[9, 6, 0], [10, 8, "b"]], ["radius", "light[2]", "albedo"]
    told = ask(server, "sphere/entries", outputs=outputs, entries=entries).json()
    labels = ["radius", "light[2]", "albedo[0]", "albedo[1]", "albedo[2]"]
    assert told["labels"] == labels
    found = ask(server, "sphere/map?format=npz", wrt=["radius", "light[2]", "albedo"])
    maps = np.load(io.BytesIO(found.content))
    right = [
        np.concatenate([np.atleast_1d(maps[name][y, x, c]) for name in entries])
        for x, y, c in ((9, 6, 0), (10, 8, 2))
    ]
    np.testing.assert_allclose(told["entries"], right, rtol=1e-9, atol=1e-10)
    npy = ask(server, "sphere/entries?format=npy", outputs=outputs, entries=entries)
    np.testing.assert_array_equal(np.load(io.BytesIO(npy.content)), told["entries"])


def test_a_parameter_that_is_an_image_is_left_out_of_lists_and_drawn(server: Server) -> None:
    body = {"width": 64, "height": 48, "regions": [{"x": 10, "y": 40}, {"x": 40, "y": 5}]}
    told = ask(server, "darkroom/probe", **body).json()
    assert told["left_out"] == ["picture"]
    assert "npz" in told["note"]
    assert set(told["regions"][0]["gradients"]) == {"exposure", "softness", "contrast"}
    answer = ask(server, "darkroom/probe?format=png", **body, wrt="picture")
    with Image.open(io.BytesIO(answer.content)) as shown:
        assert shown.width >= 256
    arrays = np.load(
        io.BytesIO(ask(server, "darkroom/probe?format=npz", **body, wrt="picture").content)
    )
    # A pixel of the print depends on 3 x 3 pixels of the picture, and on no others.
    moved = abs(arrays["gradients/picture"][0]).sum(-1)
    assert np.argwhere(moved).min(0).tolist() == [39, 9]
    assert np.argwhere(moved).max(0).tolist() == [41, 11]


MASK = [[1.0] * WIDTH] * HEIGHT


@pytest.mark.parametrize(
    ("regions", "code"),
    [
        ([], "empty_region"),
        ([{}], "invalid_region"),
        ([{"x": 3}], "invalid_region"),
        ([{"x": 3, "y": 4, "mask": MASK}], "invalid_region"),
        ([{"x": 3.5, "y": 4}], "invalid_region"),
        ([{"x": True, "y": 4}], "invalid_region"),
        ([{"x": 10**30, "y": 4}], "invalid_region"),
        ([{"x": WIDTH, "y": 4}], "outside_frame"),
        ([{"x": 3, "y": -1}], "outside_frame"),
        ([{"x0": 3, "y0": 3, "x1": 3, "y1": 9}], "empty_region"),
        ([{"x0": 3, "y0": 3, "x1": 300, "y1": 9}], "outside_frame"),
        ([{"points": []}], "empty_region"),
        ([{"points": [[1]]}], "invalid_region"),
        ([{"points": [[1, 2], [3, 4]], "weights": [1]}], "weights_mismatch"),
        ([{"points": [[1, 2]], "weights": ["1"]}], "invalid_weights"),
        ([{"points": [[1, 2], [3, 4]], "weights": [1, -1]}], "invalid_weights"),
        ([{"mask": [[1.0, 2.0]]}], "mask_size"),
        ([{"mask": [[1.0], [1.0, 2.0]]}], "mask_size"),
        ([{"mask": "mask.png"}], "mask_size"),
        ([{"mask": [[0.0] * WIDTH] * HEIGHT}], "empty_region"),
        ([{**PIXEL, "weights": [1]}], "invalid_region"),
        ([{**PIXEL, "channel": "alpha"}], "unknown_channel"),
        ([{**PIXEL, "channel": 3}], "unknown_channel"),
        ([{**PIXEL, "reduce": "median"}], "invalid_region"),
        ([{**PIXEL, "weight": 1e300}], "invalid_weights"),
        ([{**PIXEL, "name": "a"}, {**PIXEL, "name": "a"}], "region_named_twice"),
        ([{**PIXEL, "colour": 1}], "unknown_field"),
        ([3], "invalid_field"),
        ({"x": 3, "y": 4}, "invalid_field"),
    ],
)
def test_a_region_that_is_none_is_refused(server: Server, regions: Any, code: str) -> None:
    body = {**SIZE, "regions": regions}
    answer = server.client.post("/v1/renderers/disc/probe", json=body, timeout=5)
    assert problem(answer, 422, code)["field"] == "regions"


@pytest.mark.parametrize(
    ("path", "body", "code", "field"),
    [
        ("probe", {}, "missing_field", "regions"),
        ("probe", {"regions": [PIXEL], "wrt": "radios"}, "unknown_parameter", "wrt"),
        ("probe", {"regions": [PIXEL], "wrt": "colour[1]"}, "whole_parameters_only", "wrt"),
        ("probe", {"regions": [PIXEL], "wrt": []}, "missing_wrt", "wrt"),
        ("probe", {"regions": [PIXEL], "params": {"radius": 9}}, "out_of_range", "params.radius"),
        ("probe", {"regions": [PIXEL], "width": 10**6}, "frame_too_large", "width"),
        ("probe?format=png", {"regions": [PIXEL]}, "not_an_image", "wrt"),
        ("probe?format=png", {"regions": [PIXEL], "wrt": "radius"}, "not_an_image", "wrt"),
        ("entries", {"outputs": [[0, 0, 0]]}, "missing_field", "entries"),
        ("entries", {"outputs": [[0, 0, 0]], "entries": []}, "empty_entries", "entries"),
        ("entries", {"outputs": [], "entries": ["radius"]}, "empty_outputs", "outputs"),
        ("entries", {"outputs": [[0, 0]], "entries": ["radius"]}, "invalid_output", "outputs"),
        ("entries", {"outputs": [[0, 0, 3]], "entries": ["radius"]}, "unknown_channel", "outputs"),
        ("entries", {"outputs": [[0, 0, "a"]], "entries": ["radius"]}, "unknown_channel",
         "outputs"),
        ("entries", {"outputs": [[0, 99, 0]], "entries": ["radius"]}, "outside_frame", "outputs"),
        ("entries", {"outputs": [[0, 0, 0]], "entries": ["radios"]}, "unknown_parameter",
         "entries"),
        ("entries", {"outputs": [[0, 0, 0]] * 4097, "entries": ["radius"]}, "too_many_entries",
         "entries"),
        ("entries?format=npy", {"outputs": [[0, 0, 0]] * 60000, "entries": ["colour"] * 9},
         "too_many_entries", "entries"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(
    server: Server, path: str, body: dict[str, Any], code: str, field: str
) -> None:
    answer = server.client.post(f"/v1/renderers/disc/{path}", json={**SIZE, **body}, timeout=10)
    assert problem(answer, 422, code)["field"] == field


@pytest.mark.parametrize(("path", "form"), [("probe", "npy"), ("entries", "png")])
def test_a_format_that_there_is_not_is_named(server: Server, path: str, form: str) -> None:
    answer = server.client.post(f"/v1/renderers/disc/{path}?format={form}", json=SIZE)
    assert "npz" in problem(answer, 404, "unknown_format")["detail"]


def test_a_client_that_takes_pictures_alone_gets_no_entries(server: Server) -> None:
    body = {**SIZE, "outputs": [[0, 0, 0]], "entries": ["radius"]}
    for accept, status in (("image/*", 406), ("text/html, */*;q=0.8", 200)):
        headers = {"accept": accept}
        path = "/v1/renderers/disc/entries"
        assert server.client.post(path, json=body, headers=headers).status_code == status
