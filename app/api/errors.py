"""Errors as RFC 9457 problem documents: what was asked, what is allowed, and a stable code.

A problem document never holds the request's input: frameworks that echo it answer 500 to a NaN in
a body and send a hundred megabytes back to whoever sent them.
"""

import json
import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from app.compute import (
    BusyError,
    ComputeError,
    NotReadyError,
    TimedOutError,
    WorkerDiedError,
    WorkFailedError,
)
from app.engine import EngineError
from app.imaging import ImagingError
from renderers import LoadError, RendererError, UnknownRendererError

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_S = 1
LOG = logging.getLogger("sensmap")

# The first class that fits gives the status.
STATUS: Sequence[tuple[type[Exception], int]] = (
    (UnknownRendererError, 404),
    (LoadError, 503),
    (RendererError, 422),
    (ImagingError, 422),
    (EngineError, 422),
    (BusyError, 503),
    (NotReadyError, 503),
    (TimedOutError, 504),
    (WorkerDiedError, 502),
    (WorkFailedError, 502),
)
# What the worker found out, where 502 does not tell it well.
FAILED_STATUS: Mapping[str, int] = {
    "bad_noise": 422,
    "not_sparse": 422,
    "not_square": 422,
    "unknown_method": 422,
    "passes_out_of_range": 422,
    "pattern_disagrees": 422,
    "too_many_parameters": 422,
    "device_out_of_memory": 422,
    "unknown_strategy": 422,
    "strategy_failed": 422,
    "strategy_disagrees": 422,
    "internal_error": 500,
    "load_failed": 503,
    "no_room": 503,
}
FRAMEWORK_CODES: Mapping[int, str] = {
    400: "bad_request",
    404: "not_found",
    405: "method_not_allowed",
    413: "body_too_large",
    415: "unsupported_media_type",
}


class RequestError(Exception):
    """A request that cannot be answered as it stands."""

    def __init__(self, status: int, code: str, message: str, *, field: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.field = field


def problem(
    status: int,
    code: str,
    detail: str,
    *,
    field: str = "",
    errors: Sequence[Mapping[str, Any]] = (),
    headers: Mapping[str, str] | None = None,
) -> Response:
    """A problem document.

    Args:
        status: HTTP status.
        code: stable identifier, snake_case.
        detail: one or two sentences for a person.
        field: the request's field at fault.
        errors: one entry for each field, when several are at fault.
        headers: further headers.
    """
    document: dict[str, Any] = {
        "type": f"urn:sensmap:error:{code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "code": code,
        "detail": detail,
    }
    if field:
        document["field"] = field
    if errors:
        document["errors"] = list(errors)
    extra = {"Retry-After": str(RETRY_AFTER_S)} if status == HTTPStatus.SERVICE_UNAVAILABLE else {}
    return Response(
        # ASCII alone, so that a lone surrogate in a name cannot break the answer about it.
        json.dumps(document, allow_nan=False),
        status,
        {"Cache-Control": "no-store", **extra, **(headers or {})},
        MEDIA_TYPE,
    )


def install(app: FastAPI) -> None:
    """Answer every error with a problem document."""
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _framework)
    app.add_exception_handler(RequestError, _request)
    for kind in (RendererError, ImagingError, EngineError, ComputeError):
        app.add_exception_handler(kind, _domain)
    app.add_exception_handler(ClientDisconnect, _gone)
    app.add_exception_handler(Exception, _unexpected)


async def _request(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestError)  # noqa: S101 - registered for it
    return problem(error.status, error.code, str(error), field=error.field)


async def _domain(_: Request, error: Exception) -> Response:
    status = next(status for kind, status in STATUS if isinstance(error, kind))
    code = getattr(error, "code", "error")
    if isinstance(error, WorkFailedError):
        status = FAILED_STATUS.get(code, status)
    return problem(status, code, str(error), field=getattr(error, "field", ""))


async def _framework(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for it
    code = FRAMEWORK_CODES.get(error.status_code, "http_error")
    details = {
        404: "There is nothing at this address. /docs lists what there is.",
        405: f"{request.method} is not allowed here.",
        413: "The body is larger than this server takes.",
        400: "The body is not valid JSON.",
    }
    detail = details.get(error.status_code, HTTPStatus(error.status_code).phrase + ".")
    return problem(error.status_code, code, detail, headers=error.headers)


async def _invalid(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for it
    errors = [_field_error(item) for item in error.errors()[:20]]
    if all(item["code"] == "json_invalid" for item in errors):
        return problem(400, "invalid_json", "The body is not valid JSON.")
    first = errors[0]
    return problem(
        422, first["code"], first["message"], field=first["field"],
        errors=errors if len(errors) > 1 else (),
    )  # fmt: skip


def _field_error(item: Mapping[str, Any]) -> dict[str, str]:
    """What pydantic says of a field, without the input that it saw."""
    path = [str(part) for part in item["loc"] if part not in ("body", "query", "path")]
    field = ".".join(part if part.isidentifier() else "?" for part in path)
    return {"field": field[:80], "code": str(item["type"]), "message": str(item["msg"])}


async def _gone(_: Request, __: Exception) -> Response:
    """For the access log alone: nobody is left to read it. The number is nginx's."""
    return Response(status_code=499)


async def _unexpected(_: Request, error: Exception) -> Response:
    LOG.error("unexpected error", exc_info=error)
    return problem(500, "internal_error", "The server made a mistake; it has been logged.")
