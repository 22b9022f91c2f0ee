"""A request's body as JSON, read more strictly than Python does."""

import json
from typing import Any, NoReturn

from fastapi import Request

from app.api.errors import RequestError


async def json_object(request: Request) -> dict[str, Any]:
    """The object in the body, whatever its declared type: `curl -d` says it is a form.

    Raises:
        RequestError: the body is compressed, is no JSON object in UTF-8, holds NaN or Infinity
            (which JSON does not have), or names a field twice.
    """
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise RequestError(415, "unsupported_encoding", "A body is taken uncompressed only.")
    body = await request.body()
    try:
        # Decoded here: left to itself, `loads` would guess UTF-16, and let lone surrogates pass.
        text = body.decode()
        value = json.loads(text, parse_constant=_refuse, object_pairs_hook=_object)
    except RequestError:
        raise
    except (ValueError, RecursionError) as error:
        raise RequestError(400, "invalid_json", "The body is not valid JSON.") from error
    if not isinstance(value, dict):
        raise RequestError(
            422, "invalid_body", 'The body must be a JSON object, such as {"wrt": "radius"}.'
        )
    return value


def _refuse(_: str) -> NoReturn:
    raise RequestError(
        422, "not_finite", "Numbers must be finite: NaN and Infinity are not JSON either."
    )


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise RequestError(422, "repeated_field", "A field is given twice.")
    return found
