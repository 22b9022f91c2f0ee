"""What a frame tells of parameters, over HTTP, beside closed forms and SciPy."""

import io
import json
from typing import Any

import numpy as np
import pytest
import scipy.linalg
from PIL import Image

from tests.closed_forms import positions
from tests.server import Server, problem

PATH = "/v1/renderers/disc/information"
SIZE = {"width": 24, "height": 16, "dtype": "float64"}
RADIUS, SOFTNESS, COLOUR = 0.5, 0.05, np.array([1.0, 0.4, 0.1])


def jacobian() -> Any:
    """d(image)/d(radius, colour) in closed form, `(values, 4)`."""
    x, y = positions(SIZE["width"], SIZE["height"])
    inside = 1 / (1 + np.exp((np.hypot(x, y) - RADIUS) / SOFTNESS))
    slope = inside * (1 - inside) / SOFTNESS
    by_radius = slope[..., None] * COLOUR
    by_colour = inside[..., None, None] * np.eye(3)
    return np.concatenate([by_radius[..., None], by_colour], -1).reshape(-1, 4), inside


def ask(server: Server, **body: object) -> Any:
    answer = server.client.post(PATH, json={**SIZE, "wrt": ["radius", "colour"], **body})
    assert answer.status_code == 200, answer.text
    return answer


def test_bounds_are_those_of_the_closed_form(server: Server) -> None:
    told = ask(server, noise={"sigma": 0.02}).json()
    matrix = jacobian()[0].T @ jacobian()[0] / 0.02**2
    np.testing.assert_allclose(told["fisher"], matrix, rtol=1e-9, atol=1e-9 * matrix.max())
    bounds = np.sqrt(np.diag(scipy.linalg.inv(matrix)))
    np.testing.assert_allclose(told["bounds"], bounds, rtol=1e-8)
    assert told["parameters"] == ["radius", "colour[0]", "colour[1]", "colour[2]"]
    assert told["null"] == []
    assert told["warnings"] == []


def test_poisson_noise_weighs_by_the_light(server: Server) -> None:
    told = ask(server, noise={"poisson": {"photons": 500, "background": 2}}).json()
    derivatives, inside = jacobian()
    expected = 500 * (inside[..., None] * COLOUR).reshape(-1) + 2
    matrix = (500 * derivatives).T @ (500 * derivatives / expected[:, None])
    np.testing.assert_allclose(told["fisher"], matrix, rtol=1e-9, atol=1e-9 * matrix.max())


def test_a_variance_image_weighs_each_pixel(server: Server) -> None:
    variance = np.linspace(1e-4, 1e-2, 16 * 24).reshape(16, 24)
    told = ask(server, noise={"variance": variance.tolist()}).json()
    derivatives = jacobian()[0]
    weights = 1 / np.repeat(variance.reshape(-1), 3)
    matrix = derivatives.T @ (derivatives * weights[:, None])
    np.testing.assert_allclose(told["fisher"], matrix, rtol=1e-9, atol=1e-9 * matrix.max())


def test_what_cannot_be_told_apart_is_named_and_not_infinite(server: Server) -> None:
    """The length of the direction to the light is nothing that an image shows."""
    body = {"wrt": ["light", "radius"], "width": 32, "height": 32}
    answer = server.client.post("/v1/renderers/sphere/information", json=body)
    told = answer.json()
    (null,) = told["null"]
    assert set(null["parts"]) == {"light[0]", "light[1]", "light[2]"}
    assert "cannot be told apart" in " ".join(told["words"])
    assert told["bounds"][:3] == [None, None, None]
    assert told["bounds"][3] > 0
    assert told["condition"] is None
    assert "Infinity" not in answer.text


def test_numbers_and_maps_come_as_arrays(server: Server) -> None:
    answer = server.client.post(f"{PATH}?format=npz", json={**SIZE, "wrt": ["radius", "colour"]})
    with np.load(io.BytesIO(answer.content), allow_pickle=False) as found:
        arrays = {name: found[name] for name in found.files}
    derivatives = jacobian()[0].reshape(16, 24, 3, 4)
    information = (derivatives**2).sum(2) / 0.01**2
    np.testing.assert_allclose(
        arrays["information"], information, rtol=1e-5, atol=1e-6 * information.max()
    )
    assert arrays["dominant"].shape == (16, 24)
    ranges = np.array([1.45, 1, 1, 1])
    best = (information * ranges**2).argmax(-1)
    strong = np.sort(information * ranges**2, -1)
    clear = strong[..., -1] > 1.001 * strong[..., -2]
    assert (arrays["dominant"] == best)[clear].all()
    total = arrays["fisher"].diagonal()
    np.testing.assert_allclose(arrays["information"].sum((0, 1)), total, rtol=1e-5)
    assert json.loads(str(arrays["metadata"]))["words"]


@pytest.mark.parametrize("picture", ["information", "dominant"])
def test_maps_of_it_are_pictures(server: Server, picture: str) -> None:
    body = {**SIZE, "wrt": ["radius", "colour"], "picture": picture}
    answer = server.client.post(PATH, json=body, headers={"accept": "image/png"})
    assert answer.headers["content-type"] == "image/png"
    with Image.open(io.BytesIO(answer.content)) as shown:
        assert shown.width > 24
        assert "sensmap:bounds" in shown.info


def test_a_parameter_that_is_detached_is_differentiated_all_the_same(server: Server) -> None:
    told = ask(server, wrt="*").json()
    assert told["strategy"] in ("forward", "per_pixel")
    assert len(told["bounds"]) == 7


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        ({"noise": {}}, "bad_noise", "noise"),
        ({"noise": {"sigma": 0}}, "bad_noise", "noise"),
        ({"noise": {"sigma": -1}}, "bad_noise", "noise"),
        ({"noise": {"sigma": "1"}}, "bad_noise", "noise"),
        ({"noise": {"sigma": 1, "poisson": 3}}, "bad_noise", "noise"),
        ({"noise": {"gauss": 1}}, "bad_noise", "noise"),
        ({"noise": {"poisson": {"photos": 1}}}, "bad_noise", "noise"),
        ({"noise": {"poisson": {"photons": -5}}}, "bad_noise", "noise"),
        ({"noise": {"variance": [[1.0, 2.0]]}}, "bad_noise", "noise"),
        ({"noise": {"variance": [[1.0], [1.0, 2.0]]}}, "bad_noise", "noise"),
        ({"noise": {"variance": "file.npy"}}, "bad_noise", "noise"),
        ({"noise": 3}, "invalid_field", "noise"),
        ({"wrt": ["colour", "colour[1]"]}, "repeated_wrt", "wrt"),
        ({"wrt": []}, "missing_wrt", "wrt"),
        ({"wrt": "radios"}, "unknown_parameter", "wrt"),
        ({"picture": "map"}, "invalid_field", "picture"),
        ({"strategy": "forwrd"}, "unknown_strategy", "strategy"),
        ({"direction": {"radius": 1}}, "unknown_field", "direction"),
    ],
)
def test_what_makes_no_sense_is_refused(
    server: Server, body: dict[str, Any], code: str, field: str
) -> None:
    answer = server.client.post(PATH, json={**SIZE, **body}, timeout=5)
    assert problem(answer, 422, code)["field"] == field


def test_a_format_that_there_is_not_is_named(server: Server) -> None:
    answer = server.client.post(f"{PATH}?format=npy", json=SIZE)
    assert "npz" in problem(answer, 404, "unknown_format")["detail"]
