"""The pages for people: the start page, and `/docs` with what FastAPI cannot know of this API.

Both are plain files beside each other, and everything that they load comes from this server.
"""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from http import HTTPStatus
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles

from app.api.errors import MEDIA_TYPE
from app.api.schemas import ImageRequest, MapRequest, SweepRequest

# A folder's files may change with any release: browsers ask each time, and mostly hear 304.
CACHING = {"Cache-Control": "no-cache"}
SHOWN_RENDERER = "disc"
SHOWN_FIELDS: Mapping[str, Any] = {
    "wrt": "radius",
    "along": "softness",
    "width": 256,
    "height": 256,
}
SHOWN_PROBLEMS: Mapping[str, tuple[str, str]] = {
    "404": ("unknown_renderer", "There is no renderer of that name. Did you mean 'disc'?"),
    "413": ("body_too_large", "A body has at most 1048576 bytes."),
    "422": ("out_of_range", "Parameter 'radius' must be between 0.05 and 1.5 scene unit; got 9."),
    "502": ("renderer_crashed", "The worker died while it computed this."),
    "503": ("queue_full", "The queue is full."),
    "504": ("timed_out", "This took longer than it may."),
}
PROBLEM = {"$ref": "#/components/schemas/Problem"}
# These read their fields from the query by hand, because a parameter is its own name there.
TWINS: Mapping[str, type[ImageRequest]] = {
    "/map.{format}": MapRequest,
    "/image.{format}": ImageRequest,
    "/sweep.{format}": SweepRequest,
}
PARAMETERS: Mapping[str, Any] = {
    "name": "params",
    "in": "query",
    "style": "form",
    "explode": True,
    "description": "values by parameter, each in the query under its own name; a vector as numbers "
    "with commas between; `params.NAME` where a field of the request has the same name",
    "schema": {"type": "object", "additionalProperties": {"type": "string"}},
    "example": {"radius": "0.7"},
}


class Pages(StaticFiles):
    """The folder of pages."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        """A file, or 304; never one of an older release out of a browser's cache."""
        response = super().file_response(*args, **kwargs)
        response.headers.update(CACHING)
        return response


def router(pages: Path) -> APIRouter:
    """The address `/docs`, answered from the folder of pages."""
    made = APIRouter(include_in_schema=False)

    @made.api_route("/docs", methods=["GET", "HEAD"])
    async def docs() -> Response:
        return FileResponse(pages / "docs.html", headers=CACHING)

    return made


def describe(app: FastAPI) -> None:
    """Complete the description at `/openapi.json`, once, when it is first asked for."""
    plain = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = completed(plain())
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]  # the way of FastAPI's manual


def completed(description: dict[str, Any]) -> dict[str, Any]:
    """The description with problems as they are, the twins' fields, and examples that work."""
    made = deepcopy(description)
    for path, item in made["paths"].items():
        for operation in item.values():
            _say(operation)
            _exemplify(operation)
            _correct_problems(operation)
        for ending, model in TWINS.items():
            if path.endswith(ending):
                item["get"]["parameters"] += [*_query(model), PARAMETERS]
    for unused in ("HTTPValidationError", "ValidationError"):
        made["components"]["schemas"].pop(unused, None)
    return made


def _say(operation: dict[str, Any]) -> None:
    """Put the docstring's words where FastAPI has made some out of the function's name."""
    operation["summary"] = operation.pop("description", operation["summary"]).rstrip(".")
    good = operation["responses"].get("200", {})
    if "image/png" in good.get("content", {}):  # the default stands first, to be asked for first
        good["content"] = {"image/png": {}, **good["content"]}


def _exemplify(operation: dict[str, Any]) -> None:
    for parameter in operation.get("parameters", ()):
        examples = {"renderer": SHOWN_RENDERER, "format": "png"}
        if parameter["name"] in examples:
            parameter["example"] = examples[parameter["name"]]
    for content in operation.get("requestBody", {}).get("content", {}).values():
        fields = {**SHOWN_FIELDS, "params": {"radius": 0.7}}
        known = content["schema"]["properties"]
        content["example"] = {name: fields[name] for name in fields if name in known}


def _correct_problems(operation: dict[str, Any]) -> None:
    """Give every problem its media type; FastAPI also announces a 422 that it never sends here."""
    for status, answer in operation.get("responses", {}).items():
        schema = answer.get("content", {}).get("application/json", {}).get("schema", {})
        if schema == PROBLEM or "HTTPValidationError" in str(schema):
            answer["content"] = {
                MEDIA_TYPE: {"schema": PROBLEM, "example": _shown_problem(status)},
            }


def _shown_problem(status: str) -> dict[str, Any]:
    code, detail = SHOWN_PROBLEMS[status]
    return {
        "type": f"urn:sensmap:error:{code}",
        "title": HTTPStatus(int(status)).phrase,
        "status": int(status),
        "code": code,
        "detail": detail,
    }


def _query(model: type[ImageRequest]) -> Iterator[dict[str, Any]]:
    """The fields of a request, but for its parameters, as parameters of a query."""
    schema = model.model_json_schema()
    required = schema.get("required", ())
    for name, field in schema["properties"].items():
        if name == "params":
            continue
        yield {
            "name": name,
            "in": "query",
            "required": name in required,
            "description": field.get("description", ""),
            "schema": {key: field[key] for key in field if key not in ("title", "description")},
            **({"example": SHOWN_FIELDS[name]} if name in SHOWN_FIELDS else {}),
        }
