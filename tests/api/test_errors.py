import json
import time
from typing import Any

import pytest

from tests.server import FAULTS, Server, problem
from tests.tolerances import REFUSAL_S

GAIN = {"wrt": "gain", "width": 16, "height": 16}
CANARY = "canary" * 40
# Characters that JSON has and UTF-8 has not.
LONE = "\\ud800"


def body(**fields: Any) -> bytes:
    return json.dumps({"wrt": "radius", "width": 16, "height": 16, **fields}).encode()


def with_text(field: str, text: str) -> bytes:
    """A body in which a field has a value that Python's writer would not write."""
    return f'{{"wrt": "radius", "width": 16, "height": 16, "{field}": {text}}}'.encode()


BODIES = {
    "an unknown parameter": (body(params={"radios": 1}), 422, "unknown_parameter"),
    "an unknown wrt": (body(wrt="radios"), 422, "unknown_parameter"),
    "an entry of a scalar": (body(wrt="radius[0]"), 422, "unknown_entry"),
    "an entry that is not there": (body(wrt="colour[3]"), 422, "unknown_entry"),
    "a negative entry": (body(wrt="colour[-1]"), 422, "unknown_parameter"),
    "an entry of many digits": (body(wrt=f"colour[{'9' * 150}]"), 422, "unknown_entry"),
    "an empty wrt": (body(wrt=""), 422, "missing_wrt"),
    "a wrt of a number": (body(wrt=[1]), 422, "invalid_field"),
    "a list with a wrong name": (body(wrt=["radius", "radios"]), 422, "unknown_parameter"),
    "a name twice": (body(wrt=["radius", "radius"]), 422, "repeated_wrt"),
    "an empty list": (body(wrt=[]), 422, "missing_wrt"),
    "too long a list": (body(wrt=["radius"] * 2000), 422, "invalid_field"),
    "a direction beside a wrt": (
        body(wrt="radius", direction={"radius": 1}),
        422,
        "wrt_and_direction",
    ),
    "a direction of another shape": (body(wrt="", direction={"colour": [1]}), 422, "invalid_shape"),
    "a direction of a list": (body(wrt="", direction=[1]), 422, "invalid_field"),
    "a direction to nowhere": (body(wrt="", direction={"radius": 0}), 422, "empty_direction"),
    "a scale of nothing": (body(wrt="radius", normalise={"radius": 0}), 422, "out_of_range"),
    "a scale of another": (body(wrt="radius", normalise={"centre": 1}), 422, "unknown_parameter"),
    "a second of several": (body(wrt="radius", second="colour"), 422, "not_a_number"),
    "a second that there is not": (body(wrt="radius", second="c"), 422, "unknown_parameter"),
    "a long wrt": (body(wrt=CANARY), 422, "invalid_field"),
    "no wrt": (b"{}", 422, "missing_wrt"),
    "an unknown field": (body(widht=3), 422, "unknown_field"),
    "a long unknown field": (body(**{CANARY: 3}), 422, "unknown_field"),
    "an unknown colormap": (body(colormap_name="viridid"), 422, "unknown_colormap"),
    "an unknown channel": (body(channel="lumniance"), 422, "unknown_channel"),
    "a channel that is not there": (body(channel=3), 422, "unknown_channel"),
    "a channel of many digits": (with_text("channel", "9" * 4000), 422, "unknown_channel"),
    "an unknown norm": (body(norm="log"), 422, "unknown_norm"),
    "an unknown strategy": (body(strategy="backward"), 422, "unknown_strategy"),
    "an unknown dtype": (body(dtype="float16"), 422, "invalid_field"),
    "a value below the range": (body(params={"radius": 0.01}), 422, "out_of_range"),
    "a value above the range": (body(params={"radius": 1.6}), 422, "out_of_range"),
    "a huge value": (body(params={"radius": 1e300}), 422, "out_of_range"),
    "a value of many digits": (
        with_text("params", f'{{"radius": {"9" * 4000}}}'),
        422,
        "not_finite",
    ),
    "a value of too many digits": (
        with_text("params", f'{{"radius": {"9" * 5000}}}'),
        400,
        "invalid_json",
    ),
    "a width of too many digits": (with_text("width2", "9" * 5000), 400, "invalid_json"),
    "NaN": (with_text("params", '{"radius": NaN}'), 422, "not_finite"),
    "Infinity": (with_text("params", '{"radius": Infinity}'), 422, "not_finite"),
    "-Infinity": (with_text("overlay", "-Infinity"), 422, "not_finite"),
    "1e999": (with_text("params", '{"radius": 1e999}'), 422, "not_finite"),
    "1e999 in a range": (with_text("rescale", "[0, 1e999]"), 422, "invalid_field"),
    "1e999 as a seed": (with_text("seed", "1e999"), 422, "invalid_field"),
    "a boolean for a number": (body(params={"radius": True}), 422, "not_a_number"),
    "a boolean for an overlay": (body(overlay=True), 422, "invalid_field"),
    "a string for a number": (body(params={"radius": "1"}), 422, "not_a_number"),
    "a string for a seed": (body(seed="1"), 422, "invalid_field"),
    "null for a number": (body(params={"radius": None}), 422, "not_a_number"),
    "null for the parameters": (body(params=None), 422, "invalid_field"),
    "an object for a number": (body(params={"radius": {}}), 422, "not_a_number"),
    "a list for a number": (body(params={"radius": [1]}), 422, "not_a_number"),
    "a list of the wrong length": (body(params={"colour": [1, 1]}), 422, "invalid_shape"),
    "a list too deep": (body(params={"colour": [[1], [1], [1]]}), 422, "invalid_shape"),
    "a number for a flag": (body(symmetric=1), 422, "invalid_field"),
    "a surrogate as a value": (with_text("colormap_name", f'"{LONE}"'), 422, "invalid_field"),
    "a surrogate as a number": (
        with_text("params", f'{{"radius": "{LONE}"}}'),
        422,
        "not_a_number",
    ),
    "a surrogate as a norm": (with_text("seed", f'1, "norm": "{LONE}"'), 422, "invalid_field"),
    "a surrogate as a key": (with_text(LONE, "1"), 422, "unknown_field"),
    "a surrogate as a parameter": (with_text("params", f'{{"{LONE}": 1}}'), 422, "invalid_field"),
    "NUL in a name": (body(params={"radius\0": 1}), 422, "unknown_parameter"),
    "a prototype": (body(__proto__={"a": 1}), 422, "unknown_field"),
    "a key given twice": (with_text("wrt", '"colour"'), 422, "repeated_field"),
    "a parameter given twice": (
        with_text("params", '{"radius": 1, "radius": 1}'),
        422,
        "repeated_field",
    ),
    "an empty body": (b"", 400, "invalid_json"),
    "white space": (b" \n", 400, "invalid_json"),
    "half an object": (body()[:-4], 400, "invalid_json"),
    "two objects": (body() * 2, 400, "invalid_json"),
    "XML": (b"<?xml version='1.0'?><wrt>radius</wrt>", 400, "invalid_json"),
    "a form": (b"wrt=radius&width=16", 400, "invalid_json"),
    "single quotes": (b"{'wrt': 'radius'}", 400, "invalid_json"),
    "a list": (b"[]", 422, "invalid_body"),
    "a string": (b'"radius"', 422, "invalid_body"),
    "null": (b"null", 422, "invalid_body"),
    "a number": (b"1", 422, "invalid_body"),
    "NUL": (b"\0", 400, "invalid_json"),
    "invalid UTF-8": (b'{"wrt": "\xff\xfe"}', 400, "invalid_json"),
    "a surrogate in UTF-8": (b'{"wrt": "\xed\xa0\x80"}', 400, "invalid_json"),
    "a byte order mark": (b"\xef\xbb\xbf" + body(), 400, "invalid_json"),
    "UTF-16": (body().decode().encode("utf-16"), 400, "invalid_json"),
    "UTF-32": (body().decode().encode("utf-32-le"), 400, "invalid_json"),
    "a deep list": (b"[" * 100_000, 400, "invalid_json"),
    "a deep value": (with_text("params", "[" * 900 + "]" * 900), 422, "invalid_field"),
    "a deep object": (b'{"a":' * 50_000, 400, "invalid_json"),
    "width 0": (body(width=0), 422, "invalid_field"),
    "height 0": (body(height=0), 422, "invalid_field"),
    "a negative width": (body(width=-1), 422, "invalid_field"),
    "a width of a fraction": (body(width=1.5), 422, "invalid_field"),
    "a width of a real": (body(width=16.0), 422, "invalid_field"),
    "a width of a string": (body(width="16"), 422, "invalid_field"),
    "a width of a boolean": (body(width=True), 422, "invalid_field"),
    "a width of 2^31": (body(width=2**31), 422, "frame_too_large"),
    "a width of 2^64": (body(width=2**64), 422, "frame_too_large"),
    "10^9 pixels": (body(width=31623, height=31623), 422, "frame_too_large"),
    "a line of 10^9 pixels": (body(width=10**9, height=1), 422, "frame_too_large"),
    "a quarter of 10^9 pixels": (body(width=16384, height=16384), 422, "frame_too_large"),
    "a large result": (body(width=8192, height=8192, wrt="colour"), 422, "result_too_large"),
    "a negative seed": (body(seed=-1), 422, "invalid_field"),
    "a seed of 2^63": (body(seed=2**63), 422, "invalid_field"),
    "an overlay of 2": (body(overlay=2), 422, "invalid_field"),
    "a range of one": (body(rescale=[1]), 422, "invalid_field"),
    "a range of three": (body(rescale=[1, 2, 3]), 422, "invalid_field"),
    "a range of none": (body(rescale=[1, 1]), 422, "invalid_rescale"),
    "a range in reverse": (body(rescale=[1, -1]), 422, "invalid_rescale"),
    "a range of strings": (body(rescale=["0", "1"]), 422, "invalid_field"),
    "100,000 unknown fields": (body(**{f"f{i}": 0 for i in range(50_000)}), 422, "unknown_field"),
    "a long name of a parameter": (body(params={CANARY * 1000: 1}), 422, "invalid_field"),
    "a longer name of a field": (body(**{CANARY * 4000: 1}), 422, "unknown_field"),
    "a canary for a number": (body(params={"radius": CANARY}), 422, "not_a_number"),
    "a canary for a colormap": (body(colormap_name=CANARY), 422, "invalid_field"),
    "a canary for a flag": (body(colorbar=CANARY), 422, "invalid_field"),
    "a canary for the parameters": (body(params=CANARY), 422, "invalid_field"),
    "a canary alone": (CANARY.encode(), 400, "invalid_json"),
}


@pytest.mark.parametrize("name", BODIES)
def test_a_wrong_body_is_refused_at_once_in_words_of_our_own(server: Server, name: str) -> None:
    content, status, code = BODIES[name]
    answer = server.client.post("/v1/renderers/disc/map", content=content, timeout=5)
    document = problem(answer, status, code)
    assert len(answer.content) < 8000
    assert CANARY[:100] not in answer.text
    assert "9999999999" not in document["detail"]
    assert "Traceback" not in answer.text
    assert ".py" not in answer.text


def test_names_are_answered_with_the_nearest(server: Server) -> None:
    for field, wrong, right in (
        ("colormap_name", "viridid", "viridis"),
        ("channel", "lumniance", "luminance"),
        ("strategy", "foward", "forward"),
        ("norm", "symlgo", "symlog"),
        ("wrt", "radios", "radius"),
    ):
        answer = server.client.post("/v1/renderers/disc/map", content=body(**{field: wrong}))
        assert f"Did you mean {right!r}?" in answer.json()["detail"]
    answer = server.client.post("/v1/renderers/disc/map", content=body(widht=3))
    assert "Did you mean 'width'?" in answer.json()["detail"]
    assert answer.json()["field"] == "widht"


def test_a_value_out_of_range_is_answered_with_the_range_and_the_unit(server: Server) -> None:
    answer = server.client.post("/v1/renderers/disc/map", content=body(params={"radius": 2}))
    document = problem(answer, 422, "out_of_range")
    assert "between 0.05 and 1.5 scene unit; got 2" in document["detail"]
    assert document["field"] == "params.radius"


def test_a_body_in_another_encoding_is_refused(server: Server) -> None:
    for encoding in ("gzip", "br", "deflate", "gzip, gzip", CANARY):
        answer = server.client.post(
            "/v1/renderers/disc/map", content=body(), headers={"Content-Encoding": encoding}
        )
        problem(answer, 415, "unsupported_encoding")
        assert CANARY not in answer.text


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nothing", 404, "not_found"),
        ("GET", "/v1", 404, "not_found"),
        ("GET", "/v1/renderers/disc/map", 404, "not_found"),
        ("DELETE", "/v1/renderers/disc/map", 405, "method_not_allowed"),
        ("PUT", "/v1/renderers", 405, "method_not_allowed"),
        ("POST", "/", 405, "method_not_allowed"),
        ("POST", "/healthz", 405, "method_not_allowed"),
    ],
)
def test_what_is_not_there_is_a_problem_as_well(
    server: Server, method: str, path: str, status: int, code: str
) -> None:
    answer = server.client.request(method, path)
    if path == "/v1/renderers/disc/map" and answer.status_code == 405:
        status, code = 405, "method_not_allowed"
    problem(answer, status, code)


@pytest.mark.parametrize(
    ("renderer", "code", "words"),
    [
        ("raises", "renderer_failed", "ValueError: no medium in <path> today"),
        ("integers", "quantised_output", "torch.int32"),
        ("wrong_shape", "invalid_output", "for channels r, g, b; got ["),
        ("nothing", "invalid_output", "NoneType"),
        ("exits", "renderer_failed", "exit"),
    ],
)
def test_a_renderer_that_goes_wrong_is_answered_with_what_it_says(
    server: Server, renderer: str, code: str, words: str
) -> None:
    worker = server.worker
    for form in ("map", "image"):
        fields = GAIN if form == "map" else {"width": 16, "height": 16}
        answer = server.client.post(f"/v1/renderers/{renderer}/{form}", json=fields)
        detail = problem(answer, 502, code)["detail"]
        assert words in detail
        assert str(FAULTS) not in answer.text
        assert ".py" not in answer.text
    assert server.worker == worker, "the worker lives on"
    assert server.map("paced", GAIN).status_code == 200


def test_a_renderer_that_cannot_be_placed_in_double_precision_is_one_in_single(
    server: Server,
) -> None:
    answer = server.map("single_precision", {**GAIN, "dtype": "float64"})
    assert "no table in <path>" in problem(answer, 503, "load_failed")["detail"]
    assert server.map("single_precision", GAIN).status_code == 200


def test_refusals_are_quick_while_the_body_is_as_large_as_it_may_be(server: Server) -> None:
    content = body(**{f"{i:07}": 0 for i in range(70_000)})
    assert 900_000 < len(content) < 1 << 20
    started = time.monotonic()
    problem(server.client.post("/v1/renderers/disc/map", content=content), 422, "unknown_field")
    assert time.monotonic() - started <= REFUSAL_S
