"""A request's body as JSON, read more strictly than Python does."""

import json
from typing import Any, NoReturn

from fastapi import Request

from app.api.errors import RequestError


async def json_object(request: Request) -> dict[str, Any]:
    """The object in the body, whatever its declared type: `curl -d` says it is a form.

    Raises:
        RequestError: the body is no JSON object, holds NaN or Infinity (which JSON does not have),
            or names a field twice.
    """
    body = await request.body()
    try:
        value = json.loads(body, parse_constant=_refuse, object_pairs_hook=_object)
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
