import io

import numpy as np
import pytest

from tests.server import Server, problem

SMALL = "width=12&height=10"


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("wrt=radius&radius=0.7", {"wrt": "radius", "params": {"radius": 0.7}}),
        ("wrt=radius&params.radius=7e-1", {"wrt": "radius", "params": {"radius": 0.7}}),
        ("wrt=colour[2]&colour=1,0.5,0", {"wrt": "colour[2]", "params": {"colour": [1, 0.5, 0]}}),
        (
            "wrt=colour%5B2%5D&colour=[1,0.5,0]",
            {"wrt": "colour[2]", "params": {"colour": [1, 0.5, 0]}},
        ),
        (
            "wrt=radius&symmetric=false&colorbar=1",
            {"wrt": "radius", "symmetric": False, "colorbar": True},
        ),
        ("wrt=radius&rescale=-1,2&channel=0", {"wrt": "radius", "rescale": [-1, 2], "channel": 0}),
        ("wrt=radius&rescale=auto&channel=g", {"wrt": "radius", "rescale": "auto", "channel": "g"}),
        ("wrt=radius&norm=abs&overlay=0.25", {"wrt": "radius", "norm": "abs", "overlay": 0.25}),
        ("wrt=radius&colormap_name=viridis", {"wrt": "radius", "colormap_name": "viridis"}),
        (
            "wrt=radius&dtype=float64&strategy=forward",
            {"wrt": "radius", "dtype": "float64", "strategy": "forward"},
        ),
        ("wrt=radius&seed=9", {"wrt": "radius", "seed": 9}),
    ],
)
def test_a_query_asks_for_what_a_body_asks_for(server: Server, text: str, body: dict) -> None:
    got = server.client.get(f"/v1/renderers/disc/map.png?{SMALL}&{text}")
    posted = server.map("disc", {"width": 12, "height": 10, **body}, "png")
    assert got.status_code == posted.status_code == 200, got.text[:200]
    assert got.headers["etag"] == posted.headers["etag"]
    assert got.content == posted.content


@pytest.mark.parametrize(
    ("text", "code", "field"),
    [
        ("", "missing_wrt", "wrt"),
        ("wrt=radius&radius=0.7&radius=0.8", "repeated_field", "radius"),
        ("wrt=radius&radius=0.7&params.radius=0.8", "repeated_field", "radius"),
        ("wrt=radius&width=8&width=8", "repeated_field", "width"),
        ("wrt=radius&radios=0.7", "unknown_field", "radios"),
        ("wrt=radius&format=npy", "unknown_field", "format"),
        ("wrt=radius&params=1", "unknown_field", "params"),
        ("wrt=radius&radius=", "not_a_number", "radius"),
        ("wrt=radius&radius=nan", "not_a_number", "radius"),
        ("wrt=radius&radius=inf", "not_a_number", "radius"),
        ("wrt=radius&radius=0_1", "not_a_number", "radius"),
        ("wrt=radius&radius=0x1", "not_a_number", "radius"),
        ("wrt=radius&radius=1e999", "not_finite", "params.radius"),
        ("wrt=radius&radius=1,2", "not_a_number", "params.radius"),
        ("wrt=radius&radius=[NaN]", "not_a_number", "params.radius"),
        ("wrt=radius&colour=[NaN,0,0]", "not_finite", "params.colour"),
        ("wrt=radius&colour=1,2", "invalid_shape", "params.colour"),
        ("wrt=radius&colour=[1,2", "not_a_number", "colour"),
        ("wrt=radius&colour=" + "[" * 5000, "not_a_number", "colour"),
        ("wrt=radius&radius=" + "9" * 5000, "not_a_number", "radius"),
        ("wrt=radius&width=1.5", "invalid_field", "width"),
        ("wrt=radius&width=1e2", "invalid_field", "width"),
        ("wrt=radius&symmetric=maybe", "invalid_field", "symmetric"),
        ("wrt=radius&rescale=1", "invalid_field", "rescale"),
        ("wrt=radius&rescale=2,1", "invalid_rescale", ""),
        ("wrt=radius&channel=-1", "unknown_channel", "channel"),
        ("wrt=radius&channel=3", "unknown_channel", "channel"),
        ("wrt=radius&%00=1", "unknown_field", ""),
        ("wrt=radius%00", "unknown_parameter", "wrt"),
        ("wrt=radius&%ff%fe=1", "unknown_field", ""),
    ],
)
def test_a_wrong_query_is_refused_by_name(server: Server, text: str, code: str, field: str) -> None:
    document = problem(server.client.get(f"/v1/renderers/disc/map.png?{text}"), 422, code)
    assert document.get("field", "") == field
    assert "9999" not in document["detail"]


def test_an_unknown_name_is_answered_with_the_nearest(server: Server) -> None:
    answer = server.client.get("/v1/renderers/disc/map.png?wrt=radius&radios=0.7")
    assert "Did you mean 'radius'?" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("format=npy&format=png", "repeated_field"),
        ("fromat=npy", "unknown_field"),
        ("wrt=radius", "unknown_field"),
    ],
)
def test_a_query_beside_a_body_holds_the_format_alone(server: Server, text: str, code: str) -> None:
    answer = server.client.post(f"/v1/renderers/disc/map?{text}", json={"wrt": "radius"})
    problem(answer, 422, code)


def test_a_parameter_of_whole_numbers_has_the_same_map_as_of_reals(server: Server) -> None:
    maps = [
        np.load(
            io.BytesIO(
                server.client.get(f"/v1/renderers/disc/map.npy?wrt=radius&{SMALL}&{t}").content
            )
        )
        for t in ("radius=1", "radius=1.0", "radius=10e-1")
    ]
    assert (maps[0] == maps[1]).all()
    assert (maps[0] == maps[2]).all()
