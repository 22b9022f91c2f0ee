import pytest

from tests.server import Server, problem

BODY = {"wrt": "radius", "width": 8, "height": 8}
PNG, NPY, NPZ, JSON = "image/png", "application/octet-stream", "application/zip", "application/json"


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        ("", PNG),
        ("*/*", PNG),
        ("image/*", PNG),
        ("image/avif,image/webp,image/apng,*/*;q=0.8", PNG),
        ("text/html, application/xhtml+xml, */*;q=0.1", PNG),
        (NPY, NPY),
        ("application/x-npy", NPY),
        ("application/numpy", NPY),
        (NPZ, NPZ),
        ("application/x-npz", NPZ),
        (JSON, JSON),
        ("Application/JSON", JSON),
        ("application/json;q=0.5, application/zip;q=0.9", NPZ),
        ("application/json;q=0, image/png", PNG),
        ("application/json;q=nonsense", JSON),
        ("application/json;q=nan, image/png", PNG),
        (";;;,,,application/json", JSON),
        ("application/*", NPY),
        ("text/*, application/json;q=0.1", JSON),
        (",".join(["text/html"] * 2000) + ",application/json", JSON),
    ],
)
def test_the_accept_header_chooses_the_format(server: Server, accept: str, expected: str) -> None:
    answer = server.client.post("/v1/renderers/disc/map", json=BODY, headers={"Accept": accept})
    assert answer.status_code == 200, answer.text[:200]
    assert answer.headers["content-type"] == expected
    assert answer.headers["vary"] == "Accept"


@pytest.mark.parametrize("accept", ["text/html", "image/png;q=0", "text/*", "nonsense", "\xff\xfe"])
def test_a_client_that_wants_none_of_ours_is_told_what_there_is(
    server: Server, accept: str
) -> None:
    answer = server.client.post(
        "/v1/renderers/disc/map", json=BODY, headers={"Accept": accept.encode("latin-1")}
    )
    detail = problem(answer, 406, "not_acceptable")["detail"]
    assert PNG in detail
    assert JSON in detail


def test_several_accept_headers_are_one_list(server: Server) -> None:
    headers = [("Accept", "text/html"), ("Accept", "application/json")]
    answer = server.client.post("/v1/renderers/disc/map", json=BODY, headers=headers)
    assert answer.headers["content-type"] == JSON


def test_the_query_comes_before_the_header(server: Server) -> None:
    answer = server.client.post(
        "/v1/renderers/disc/map?format=npy", json=BODY, headers={"Accept": "image/png"}
    )
    assert answer.headers["content-type"] == NPY


@pytest.mark.parametrize("form", ["jpeg", "PNG", "npz.png", "png%00", "p" * 300])
def test_an_unknown_format_is_answered_with_those_there_are(server: Server, form: str) -> None:
    for answer in (
        server.client.get(f"/v1/renderers/disc/map.{form}?wrt=radius"),
        server.client.post(f"/v1/renderers/disc/map?format={form}", json=BODY),
    ):
        detail = problem(answer, 404, "unknown_format")["detail"]
        assert "npy" in detail
        assert "p" * 100 not in detail
