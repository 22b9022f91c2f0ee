"""The pages: whole, of this server alone, and without a script or a style inside the markup."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from starlette.testclient import TestClient

from app.api.schemas import MapRequest, SweepRequest
from app.compute import Backend
from app.main import WEB, create_app
from app.settings import Settings

PAGES = ("index.html", "docs.html")
OURS = sorted(path.name for path in WEB.iterdir() if path.suffix in {".html", ".js", ".css"})
MODULES = [name for name in OURS if name.endswith(".js")]
TYPES = {
    ".html": {"text/html"},
    ".css": {"text/css"},
    ".js": {"text/javascript", "application/javascript"},
    ".svg": {"image/svg+xml"},
    ".ico": {"image/x-icon", "image/vnd.microsoft.icon"},
}


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    async def nothing() -> None:
        pass

    idle = SimpleNamespace(start=nothing, stop=nothing, catalogue=None, trouble="")
    with TestClient(create_app(Settings(), cast(Backend, idle))) as made:
        yield made


class Markup(HTMLParser):
    """What a page loads and links to, and what a strict policy would forbid in it."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.forbidden: list[str] = []
        self.within = ""
        self.feed((WEB / name).read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.within = tag
        for name, value in attrs:
            if name in {"src", "href"}:
                self.addresses.append(value or "")
            if name == "style" or name.startswith("on"):
                self.forbidden.append(f"{tag} {name}")

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002 - the interface's
        self.within = ""

    def handle_data(self, data: str) -> None:
        if self.within in {"script", "style"} and data.strip():
            self.forbidden.append(self.within)


@pytest.mark.parametrize("name", [p.name for p in WEB.iterdir() if p.is_file()])
def test_every_file_is_served_with_its_type(client: TestClient, name: str) -> None:
    answer = client.get(f"/{name}")
    assert answer.status_code == 200
    assert answer.headers["content-type"].partition(";")[0] in TYPES[Path(name).suffix]
    assert answer.headers["cache-control"] == "no-cache"
    again = client.get(f"/{name}", headers={"If-None-Match": answer.headers["etag"]})
    assert again.status_code == 304


@pytest.mark.parametrize(("address", "name"), [("/", "index.html"), ("/docs", "docs.html")])
def test_the_pages_have_short_addresses(client: TestClient, address: str, name: str) -> None:
    answer = client.get(address)
    assert answer.text == (WEB / name).read_text(encoding="utf-8")
    assert answer.headers["content-type"].startswith("text/html")
    assert answer.headers["cache-control"] == "no-cache"
    assert client.head(address).status_code == 200


@pytest.mark.parametrize("name", PAGES)
def test_a_page_refers_only_to_what_is_served_beside_it(client: TestClient, name: str) -> None:
    addresses = Markup(name).addresses
    assert addresses
    for address in addresses:
        assert not address.startswith("/"), "a prefix before the server would be lost"
        assert client.get(f"/{address.removeprefix('./')}").status_code == 200, address


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_no_script_or_style_in_its_markup(name: str) -> None:
    assert Markup(name).forbidden == []


@pytest.mark.parametrize("name", OURS)
def test_nothing_of_ours_refers_to_another_host(name: str) -> None:
    assert re.findall(r"""(?:https?:)?//[\w.-]+\.\w+|@import|\burl\(""", _code(name)) == []


@pytest.mark.parametrize("name", MODULES)
def test_no_module_makes_markup_or_code_out_of_text(name: str) -> None:
    risky = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|srcdoc"
    assert re.findall(risky, _code(name)) == []


@pytest.mark.parametrize("name", MODULES)
def test_imports_are_relative_and_exist(name: str) -> None:
    for found in re.findall(r"""\bfrom\s+["']([^"']+)["']""", _code(name)):
        assert found.startswith("./")
        assert (WEB / found).is_file()


@pytest.mark.parametrize("name", OURS)
def test_every_file_of_ours_says_what_it_is(name: str) -> None:
    head = (WEB / name).read_text(encoding="utf-8").removeprefix("<!doctype html>\n")
    assert head.startswith(("// ", "/* ", "<!-- "))


def test_the_vendored_files_are_whole_and_named(client: TestClient) -> None:
    folder = WEB / "vendor" / "swagger-ui"
    assert re.fullmatch(r"swagger-ui-dist \d+\.\d+\.\d+\n", (folder / "VERSION").read_text())
    assert "Apache License" in (folder / "LICENSE").read_text()
    for name in ("swagger-ui.css", "swagger-ui-bundle.js"):
        text = client.get(f"/vendor/swagger-ui/{name}").text
        assert len(text) > 100_000
        assert "sourceMappingURL" not in text


def test_the_page_knows_every_field_of_a_request() -> None:
    """A parameter named like a field is asked for by another name; see `FIELDS` in choice.js."""
    listed = re.search(r"FIELDS = new Set\(\[(.*?)\]\)", _code("choice.js"), re.DOTALL)
    assert listed
    assert set(MapRequest.model_fields) <= set(re.findall(r'"(\w+)"', listed[1]))


def test_what_is_not_there_is_a_problem(client: TestClient) -> None:
    answer = client.get("/nowhere.js")
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"


def test_the_folder_is_not_left(client: TestClient) -> None:
    assert client.get("/%2e%2e/main.py").status_code == 404
    assert client.get("/vendor/%2e%2e/%2e%2e/main.py").status_code == 404


@pytest.fixture(scope="module")
def description(client: TestClient) -> dict[str, Any]:
    answer: dict[str, Any] = client.get("/openapi.json").json()
    return answer


def _operations(description: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, item in description["paths"].items():
        for method, operation in item.items():
            yield f"{method} {path}", operation


def test_operations_have_a_name_of_their_own_and_a_summary(description: dict[str, Any]) -> None:
    operations = dict(_operations(description))
    assert len({one["operationId"] for one in operations.values()}) == len(operations)
    assert all(" " in one["summary"] for one in operations.values())


def test_problems_are_described_under_their_media_type(description: dict[str, Any]) -> None:
    seen = 0
    for name, operation in _operations(description):
        for status, answer in operation["responses"].items():
            if int(status) >= 400:
                assert list(answer["content"]) == ["application/problem+json"], name
                assert answer["content"]["application/problem+json"]["example"]["status"] == int(
                    status
                )
                seen += 1
    assert seen
    assert "HTTPValidationError" not in str(description)


def test_every_reference_leads_somewhere(description: dict[str, Any]) -> None:
    named = set(re.findall(r"#/components/schemas/(\w+)", str(description)))
    assert named <= set(description["components"]["schemas"])


def test_bodies_and_twins_describe_the_same_fields(description: dict[str, Any]) -> None:
    paths = description["paths"]
    for resource in ("map", "image", "sweep"):
        body = paths[f"/v1/renderers/{{renderer}}/{resource}"]["post"]["requestBody"]
        content = body["content"]["application/json"]
        query = paths[f"/v1/renderers/{{renderer}}/{resource}.{{format}}"]["get"]["parameters"]
        names = {one["name"] for one in query if one["in"] == "query"}
        assert names == set(content["schema"]["properties"])
        assert set(content["example"]) <= names


def test_the_shown_bodies_are_accepted(description: dict[str, Any]) -> None:
    for resource, model in (("map", MapRequest), ("sweep", SweepRequest)):
        path = description["paths"][f"/v1/renderers/{{renderer}}/{resource}"]
        body = path["post"]["requestBody"]
        model.model_validate(body["content"]["application/json"]["example"])


def _code(name: str) -> str:
    return (WEB / name).read_text(encoding="utf-8")
