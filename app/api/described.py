"""What FastAPI is told of a resource that sends results: it reads bodies and formats by hand."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from app.api.told import Problem
from app.imaging import Encoding

Answers = dict[int | str, dict[str, Any]]


def answers(formats: Mapping[str, Encoding[Any]]) -> Answers:
    """The answers of a resource that can be had in these formats."""
    return {
        200: {
            "description": "the result; `X-Sensmap-*` headers say how it was got",
            "content": {form.media_type: {} for form in formats.values()},
        },
        **{status: {"model": Problem} for status in (404, 413, 422, 502, 503, 504)},
    }


def body(model: type[BaseModel]) -> dict[str, Any]:
    """The body of a request."""
    return {
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": model.model_json_schema()}},
        }
    }
