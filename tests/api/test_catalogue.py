import pytest

from tests.server import Server, problem


def test_the_catalogue_describes_every_renderer(server: Server) -> None:
    document = server.client.get("/v1/renderers").json()
    found = {item["name"]: item for item in document["renderers"]}
    assert document["device"] == "cpu"
    assert set(document["formats"]) >= {"png", "npy", "npz", "json"}
    radius = found["disc"]["params"]["radius"]
    assert radius == {
        "shape": [], "default": 0.5, "low": 0.05, "high": 1.5,
        "unit": "scene unit", "help": "radius of the disc",
        "strategy": None, "passed_over": [], "warnings": [],
    }  # fmt: skip
    assert found["disc"]["summary"] == "A disc with a soft edge on black."
    assert "forward" in found["disc"]["strategies"]
    assert found["paced"]["channels"] == ["grey"]
    assert found["noisy"]["random"] is True


def test_one_renderer_is_described_as_in_the_list(server: Server) -> None:
    listed = server.client.get("/v1/renderers").json()["renderers"]
    for item in listed:
        assert server.client.get(f"/v1/renderers/{item['name']}").json() == item


def test_a_default_too_long_to_read_is_left_out(server: Server) -> None:
    described = server.client.get("/v1/renderers/image_shaped").json()["params"]["texture"]
    assert described["shape"] == [9, 9]
    assert described["default"] is None


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("raises_at_import", "FileNotFoundError: no data at <path>"),
        ("exits_at_import", "SystemExit"),
        ("segfaults_at_import", "SIGSEGV"),
        ("heavy", "SIGSEGV"),
        ("declares_nothing", "declares no renderer"),
        ("missing", "no Python file 'missing.py'"),
    ],
)
def test_a_renderer_that_does_not_load_is_listed_with_the_reason(
    server: Server, name: str, reason: str
) -> None:
    failures = server.client.get("/v1/renderers").json()["failures"]
    assert reason in failures[name]
    assert "/" not in failures[name]
    for answer in (
        server.client.get(f"/v1/renderers/{name}"),
        server.map(name, {"wrt": "gain"}),
        server.client.get(f"/v1/renderers/{name}/map.png?wrt=gain"),
    ):
        assert reason in problem(answer, 503, "load_failed")["detail"]
        assert answer.headers["retry-after"]


@pytest.mark.parametrize("name", ["disk", "DISC", "..", "%00", "%ff", "disc%2f..", "x" * 5000])
def test_an_unknown_renderer_is_answered_with_those_there_are(server: Server, name: str) -> None:
    answer = server.map(name, {"wrt": "radius"})
    if answer.status_code == 404 and answer.json()["code"] == "unknown_renderer":
        assert "disc" in answer.json()["detail"]
        assert "x" * 100 not in answer.text
    else:  # a slash in the name makes it another address
        assert answer.status_code in (404, 405)
        assert answer.headers["content-type"] == "application/problem+json"


def test_the_nearest_renderer_is_suggested(server: Server) -> None:
    answer = server.client.get("/v1/renderers/disk")
    assert "Did you mean 'disc'?" in problem(answer, 404, "unknown_renderer")["detail"]


def test_the_description_of_the_interface_is_complete(server: Server) -> None:
    paths = server.client.get("/openapi.json").json()["paths"]
    assert {"/v1/renderers", "/v1/renderers/{renderer}/map", "/healthz", "/readyz"} <= set(paths)
    body = paths["/v1/renderers/{renderer}/map"]["post"]["requestBody"]
    assert "wrt" in body["content"]["application/json"]["schema"]["properties"]
