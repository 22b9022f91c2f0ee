"""The diagonal of a picture that is a parameter, over HTTP, beside its closed form."""

import io
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.server import Server, problem

PATH = "/v1/renderers/darkroom/diagonal"


def ask(server: Server, form: str, **body: object) -> Any:
    given = {"wrt": "picture", "dtype": "float64", **body}
    answer = server.client.post(f"{PATH}?format={form}", json=given)
    assert answer.status_code == 200, answer.text
    return answer


def jacobian_column(server: Server, row: int, column: int, channel: int, **params: float) -> Any:
    """The same entry out of a map of one entry of the picture."""
    body = {"wrt": f"picture[{row},{column},{channel}]", "params": params, "width": 64,
            "height": 48, "dtype": "float64"}  # fmt: skip
    answer = server.client.post("/v1/renderers/darkroom/map?format=npy", json=body)
    return np.load(io.BytesIO(answer.content))[row, column, channel]


@pytest.mark.parametrize(("softness", "method", "passes"), [(0.0, "pointwise", 1),
                                                            (0.4, "stencil", 9)])  # fmt: skip
def test_a_pattern_is_found_and_the_values_are_those_of_maps(
    server: Server, softness: float, method: str, passes: int
) -> None:
    params = {"softness": softness}
    answer = ask(server, "npy", params=params)
    values = np.load(io.BytesIO(answer.content))
    assert values.shape == (48, 64, 3)
    assert answer.headers["x-sensmap-method"] == method
    assert answer.headers["x-sensmap-passes"] == str(passes)
    assert float(answer.headers["x-sensmap-trace"]) == pytest.approx(values.sum(), rel=1e-9)
    for place in ((0, 0, 0), (20, 31, 1), (47, 63, 2)):
        entry = jacobian_column(server, *place, **params)
        assert values[place] == pytest.approx(entry, rel=1e-8)


def test_an_estimate_comes_with_its_error(server: Server) -> None:
    exact = ask(server, "json", params={"softness": 0.4}).json()
    told = ask(server, "json", params={"softness": 0.4}, method="hutchinson", passes=32).json()
    assert exact["standard_error"] == 0
    assert told["standard_error"] > 0
    assert abs(told["trace"] - exact["trace"]) < 5 * told["standard_error"]
    assert told["method"] == "hutchinson"
    again = ask(server, "json", params={"softness": 0.4}, method="hutchinson", passes=32).json()
    assert again["trace"] == told["trace"]


def test_it_is_a_picture(server: Server) -> None:
    answer = ask(server, "png")
    with Image.open(io.BytesIO(answer.content)) as shown:
        assert shown.size == (64, 48)
        assert "sensmap:trace" in shown.info


def test_it_is_in_an_archive(server: Server) -> None:
    with np.load(io.BytesIO(ask(server, "npz").content), allow_pickle=False) as found:
        assert found["values"].shape == (48, 64, 3)


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        ({"wrt": "exposure"}, "not_square", "wrt"),
        ({"wrt": "picture[0]"}, "unknown_entry", "wrt"),
        ({"wrt": "pictures"}, "unknown_parameter", "wrt"),
        ({}, "missing_field", "wrt"),
        ({"wrt": "picture", "method": "stensil"}, "unknown_method", "method"),
        ({"wrt": "picture", "passes": 0}, "invalid_field", "passes"),
        ({"wrt": "picture", "width": 64}, "unknown_field", "width"),
        ({"wrt": "picture", "method": "hutch++"}, "trace_alone", "method"),
        ({"wrt": "picture", "method": "pointwise", "params": {"softness": 0.5}},
         "pattern_disagrees", "method"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(
    server: Server, body: dict[str, Any], code: str, field: str
) -> None:
    assert problem(server.client.post(PATH, json=body), 422, code)["field"] == field


def test_a_renderer_without_a_picture_says_so(server: Server) -> None:
    answer = server.client.post("/v1/renderers/disc/diagonal", json={"wrt": "colour"})
    assert "None here is" in problem(answer, 422, "not_square")["detail"]
