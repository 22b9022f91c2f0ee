"""Lists of parameters, directions and second derivatives over HTTP."""

import io
import json
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.closed_forms import positions
from tests.server import Server, problem
from tests.tolerances import CLOSED_FORM_FLOAT32, CLOSED_FORM_FLOAT64

MAP = "/v1/renderers/disc/map"
SIZE = {"width": 24, "height": 16}
RADIUS, SOFTNESS, COLOUR = 0.5, 0.05, np.array([1.0, 0.4, 0.1])


def coverage() -> Any:
    x, y = positions(SIZE["width"], SIZE["height"])
    return 1 / (1 + np.exp((np.hypot(x, y) - RADIUS) / SOFTNESS))


def npz(server: Server, **body: object) -> dict[str, Any]:
    answer = server.client.post(f"{MAP}?format=npz", json={**SIZE, **body})
    assert answer.status_code == 200, answer.text
    with np.load(io.BytesIO(answer.content), allow_pickle=False) as found:
        return {name: found[name] for name in found.files}


def near(found: Any, right: Any, tolerance: float = CLOSED_FORM_FLOAT64) -> None:
    np.testing.assert_allclose(found, right, rtol=0, atol=tolerance * np.abs(right).max())


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_list_is_an_array_for_each(server: Server, dtype: str) -> None:
    tolerance = {"float32": CLOSED_FORM_FLOAT32, "float64": CLOSED_FORM_FLOAT64}[dtype]
    found = npz(server, wrt=["radius", "colour", "colour[1]"], dtype=dtype)
    inside = coverage()
    slope = inside * (1 - inside) / SOFTNESS
    near(found["radius"], slope[..., None] * COLOUR, tolerance)
    near(found["colour"], inside[..., None, None] * np.eye(3), tolerance)
    near(found["colour[1]"], found["colour"][..., 1], tolerance)
    near(found["image"], inside[..., None] * COLOUR, tolerance)
    assert json.loads(str(found["metadata"]))["maps"][0]["name"] == "radius"


def test_a_list_is_one_picture_of_all(server: Server) -> None:
    body = {"wrt": "*", "normalise": True, "colorbar": True, **SIZE}
    answer = server.client.post(MAP, json=body)
    assert answer.headers["x-sensmap-wrt"] == "radius;centre;softness;colour"
    assert answer.headers["x-sensmap-unit"].startswith("per range of the parameter;")
    with Image.open(io.BytesIO(answer.content)) as picture:
        assert picture.mode == "P"
        assert picture.width > 2 * SIZE["width"]
    query = "wrt=*&normalise=true&colorbar=true&width=24&height=16"
    by_address = server.client.get(f"{MAP}.png?{query}")
    assert by_address.headers["x-sensmap-rescale"] == answer.headers["x-sensmap-rescale"]


def test_a_list_stands_in_an_address_with_commas_between(server: Server) -> None:
    got = server.client.get(f"{MAP}.npz?wrt=radius,colour[1]&width=24&height=16")
    posted = server.client.post(f"{MAP}?format=npz", json={"wrt": ["radius", "colour[1]"], **SIZE})
    assert got.status_code == 200
    assert got.headers["etag"] == posted.headers["etag"]


def test_a_file_for_one_array_holds_no_list(server: Server) -> None:
    answer = server.client.post(f"{MAP}?format=npy", json={"wrt": ["radius", "softness"], **SIZE})
    assert "npz" in problem(answer, 422, "several_arrays")["detail"]
    one = server.client.post(f"{MAP}?format=npy", json={"wrt": ["radius"], **SIZE})
    assert np.load(io.BytesIO(one.content)).shape == (16, 24, 3)


def test_a_direction_is_one_map_of_a_mixture(server: Server) -> None:
    asked = {"radius": 2.0, "colour[0]": -0.5}
    found = npz(server, direction=asked, dtype="float64")
    parts = npz(server, wrt=["radius", "colour[0]"], dtype="float64")
    near(found["values"], 2 * parts["radius"] - 0.5 * parts["colour[0]"])
    address = f"{MAP}.npy?direction=radius:2,colour[0]:-0.5&dtype=float64&width=24&height=16"
    assert np.array_equal(np.load(io.BytesIO(server.client.get(address).content)), found["values"])


def test_another_direction_is_differentiated_as_well(server: Server) -> None:
    """What is known of one must not be used for another that is a thousand times as long."""
    for by in (1e-3, 1.0, 1e3):
        answer = server.client.post(MAP, json={"direction": {"radius": by}, **SIZE})
        assert answer.headers["x-sensmap-warnings"] == "none"
        assert float(answer.headers["x-sensmap-agreement"]) < 1e-3


def test_a_scale_multiplies(server: Server) -> None:
    plain = npz(server, wrt=["radius", "softness"], dtype="float64")
    scaled = npz(server, wrt=["radius", "softness"], normalise={"softness": 0.1}, dtype="float64")
    near(scaled["radius"], plain["radius"])
    near(scaled["softness"], 0.1 * plain["softness"])


def test_a_second_derivative_is_a_map_of_a_map(server: Server) -> None:
    found = npz(server, wrt=["radius", "colour[0]"], second="radius", dtype="float64")
    inside = coverage()
    curved = inside * (1 - inside) * (1 - 2 * inside) / SOFTNESS**2
    near(found["radius"], curved[..., None] * COLOUR)
    slope = inside * (1 - inside) / SOFTNESS
    near(found["colour[0]"][..., 0], slope)
    assert not found["colour[0]"][..., 1:].any()
    near(found["image"], inside[..., None] * COLOUR)


def test_a_second_derivative_is_named(server: Server) -> None:
    body = {"wrt": "softness", "second": "radius", **SIZE}
    said = server.client.post(f"{MAP}?format=json", json=body).json()
    assert said["title"] == "d²(image)/d(radius)d(softness)"
    assert said["certificate"]["warnings"] == []
    assert said["certificate"]["relative"] < 1e-3


def test_many_maps_are_refused_before_they_are_computed(server: Server) -> None:
    body = {"wrt": "*", "width": 16000, "height": 4000}
    answer = server.client.post(f"{MAP}?format=npz", json=body, timeout=5)
    problem(answer, 422, "result_too_large")
