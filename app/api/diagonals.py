"""The diagonal and the trace of a Jacobian, by a parameter that is an image itself."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from app.api import described, negotiate
from app.api.answer import Wanted, answered, header_text
from app.api.body import json_object
from app.api.dependencies import SchedulerNow, SpecNow, parsed
from app.api.drawing import drawing
from app.api.errors import RequestError
from app.api.schemas import DiagonalRequest
from app.compute import Result
from app.compute.kinds import diagonal
from app.documents import DIAGONAL_FORMATS
from app.imaging import Encoded, Encoding
from renderers import Spec

router = APIRouter(prefix="/v1/renderers/{renderer}", tags=["diagonal"])

FormatName = Annotated[str, Query(alias="format", description=", ".join(DIAGONAL_FORMATS))]


@router.post(
    "/diagonal",
    responses=described.answers(DIAGONAL_FORMATS),
    response_class=Response,
    openapi_extra=described.body(DiagonalRequest),
)
async def post_diagonal(
    request: Request, spec: SpecNow, scheduler: SchedulerNow, format_name: FormatName = ""
) -> Response:
    """How each value of the image answers to the parameter's value in its own place."""
    form = negotiate.asked_by(request, format_name, DIAGONAL_FORMATS, _named)
    asked = parsed(DiagonalRequest, await json_object(request))
    work = diagonal.work(
        spec,
        asked.params,
        asked.wrt,
        dtype=asked.dtype,
        seed=asked.seed,
        method=asked.method,
        passes=asked.passes,
        draw=asked.draw,
    )
    if form.name != "json" and asked.method in diagonal.TRACE_ALONE:
        raise RequestError(
            422,
            "trace_alone",
            f"{asked.method} estimates the trace alone: ask for json, or for another method.",
            field="method",
        )
    style = drawing(asked, spec)
    said = asked.model_dump(mode="json", exclude_defaults=True) | {"renderer": spec.name}

    def write(result: Result) -> Encoded:
        return form.encode(result, spec, style, said)

    return await answered(request, scheduler, Wanted(spec, work, form, said), write, tell)


def _named(name: str) -> Encoding[Any]:
    if name not in DIAGONAL_FORMATS:
        raise RequestError(
            404, "unknown_format", f"This can be had as {', '.join(DIAGONAL_FORMATS)}.",
            field="format",
        )  # fmt: skip
    return DIAGONAL_FORMATS[name]


def tell(result: Result, spec: Spec, facts: Mapping[str, str]) -> dict[str, str]:
    """What is said in headers."""
    told = result.facts
    codes = dict.fromkeys(warning["code"] for warning in told["warnings"])
    said = {
        "Renderer": spec.name,
        "Wrt": result.work.asked["wrt"],
        "Trace": told["trace"],
        "Standard-Error": told["standard_error"],
        "Method": told["method"],
        "Passes": told["passes"],
        "Warnings": ",".join(codes) or "none",
        **{key.title(): text for key, text in facts.items()},
    }
    return {f"X-Sensmap-{key}": header_text(value) for key, value in said.items()}
