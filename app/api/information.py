"""What a frame tells of parameters: Fisher information, bounds, correlations, and maps of it."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from app.api import described, negotiate
from app.api.answer import Wanted, answered, header_text
from app.api.body import json_object
from app.api.dependencies import (
    SchedulerNow,
    SettingsNow,
    SpecNow,
    affordable,
    frame_of,
    parsed,
    strategy_of,
)
from app.api.drawing import drawing
from app.api.errors import RequestError
from app.api.schemas import InformationRequest
from app.compute import Result
from app.compute.kinds import informing
from app.documents import INFORMATION_FORMATS
from app.imaging import MOST_PANELS, Encoded, Encoding
from renderers import Spec, parse_subject

router = APIRouter(prefix="/v1/renderers/{renderer}", tags=["information"])

FormatName = Annotated[str, Query(alias="format", description=", ".join(INFORMATION_FORMATS))]


@router.post(
    "/information",
    responses=described.answers(INFORMATION_FORMATS),
    response_class=Response,
    openapi_extra=described.body(InformationRequest),
)
async def post_information(
    request: Request,
    spec: SpecNow,
    settings: SettingsNow,
    scheduler: SchedulerNow,
    format_name: FormatName = "",
) -> Response:
    """How well the image determines each parameter, and which it cannot tell apart."""
    name = format_name or ("" if _wants(request) else "json")
    form = negotiate.asked_by(request, name, INFORMATION_FORMATS, _named)
    asked = parsed(InformationRequest, await json_object(request))
    subject = parse_subject(spec.params, wrt=asked.wrt)
    work = informing.work(spec, frame_of(asked), subject, asked.noise, strategy_of(asked.strategy))
    work = affordable(work, asked, settings)
    style = drawing(asked, spec)
    if form.name == "png" and asked.picture == "information" and subject.size > MOST_PANELS:
        raise RequestError(
            422,
            "too_many_panels",
            f"A picture shows at most {MOST_PANELS} parameters; these are {subject.size}. Ask for "
            "fewer, or for npz.",
            field="wrt",
        )
    said = asked.model_dump(mode="json", exclude_defaults=True) | {"renderer": spec.name}

    def write(result: Result) -> Encoded:
        return form.encode(result, spec, style, asked.picture, said)

    return await answered(request, scheduler, Wanted(spec, work, form, said), write, tell)


def _wants(request: Request) -> bool:
    """Whether the client says what it would rather have."""
    return request.headers.get("accept", "*/*") not in ("*/*", "")


def _named(name: str) -> Encoding[Any]:
    if name not in INFORMATION_FORMATS:
        raise RequestError(
            404, "unknown_format", f"This can be had as {', '.join(INFORMATION_FORMATS)}.",
            field="format",
        )  # fmt: skip
    return INFORMATION_FORMATS[name]


def tell(result: Result, spec: Spec, facts: Mapping[str, str]) -> dict[str, str]:
    """What is said in headers."""
    told = result.facts
    codes = dict.fromkeys(warning["code"] for warning in told["warnings"])
    said = {
        "Renderer": spec.name,
        "Strategy": told["strategy"],
        "Agreement": f"{told['relative']:.3g}",
        "Warnings": ",".join(codes) or "none",
        "Condition": told["condition"],
        "Rows": told["rows"],
        **{key.title(): text for key, text in facts.items()},
    }
    return {f"X-Sensmap-{key}": header_text(value) for key, value in said.items()}
