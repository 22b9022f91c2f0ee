"""The sensitivity map of a renderer, and its primal image: the main job."""

import hashlib
import json
from collections.abc import Mapping
from typing import Annotated, Any

import anyio.to_thread
from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from app.api import negotiate, query
from app.api.answer import encode
from app.api.body import json_object
from app.api.dependencies import (
    SchedulerNow,
    SettingsNow,
    SpecNow,
    affordable,
    frame_of,
    parsed,
    strategy_of,
    while_connected,
)
from app.api.drawing import drawing
from app.api.errors import RequestError
from app.api.schemas import ImageRequest, MapRequest, Problem
from app.compute import Scheduler, Work
from app.compute.kinds import maps
from app.imaging import MOST_PANELS, Format, Style
from app.settings import Settings
from renderers import Spec, Subject, parse_subject

router = APIRouter(prefix="/v1/renderers/{renderer}", tags=["maps"])

FormatName = Annotated[str, Query(alias="format", description="png, npy, npz or json")]
ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "the result; `X-Sensmap-*` headers say how it was got",
        "content": {"image/png": {}, "application/octet-stream": {}, "application/json": {}},
    },
    **{status: {"model": Problem} for status in (404, 413, 422, 502, 503, 504)},
}


def _body(model: type[ImageRequest]) -> dict[str, Any]:
    """The body of a request for the API's description."""
    return {
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": model.model_json_schema()}},
        }
    }


@router.post("/map", responses=ANSWERS, response_class=Response, openapi_extra=_body(MapRequest))
async def post_map(
    request: Request,
    spec: SpecNow,
    settings: SettingsNow,
    scheduler: SchedulerNow,
    format_name: FormatName = "",
) -> Response:
    """The sensitivity map d(image)/d(wrt), as a picture or as numbers."""
    form = _format(request, format_name)
    asked = parsed(MapRequest, await json_object(request))
    return await _answer(request, spec, settings, scheduler, asked, form)


@router.post(
    "/image", responses=ANSWERS, response_class=Response, openapi_extra=_body(ImageRequest)
)
async def post_image(
    request: Request,
    spec: SpecNow,
    settings: SettingsNow,
    scheduler: SchedulerNow,
    format_name: FormatName = "",
) -> Response:
    """The primal image."""
    form = _format(request, format_name)
    asked = parsed(ImageRequest, await json_object(request))
    return await _answer(request, spec, settings, scheduler, asked, form)


@router.head("/map.{format}", include_in_schema=False)
@router.get("/map.{format}", responses=ANSWERS, response_class=Response)
async def get_map(
    request: Request,
    format: str,
    spec: SpecNow,
    settings: SettingsNow,
    scheduler: SchedulerNow,
) -> Response:
    """The same map by its address, for `<img src>`: fields and parameters stand in the query."""
    form = negotiate.by_name(format)
    fields = query.fields(request.query_params.multi_items(), MapRequest, spec)
    return await _answer(request, spec, settings, scheduler, parsed(MapRequest, fields), form)


@router.head("/image.{format}", include_in_schema=False)
@router.get("/image.{format}", responses=ANSWERS, response_class=Response)
async def get_image(
    request: Request,
    format: str,
    spec: SpecNow,
    settings: SettingsNow,
    scheduler: SchedulerNow,
) -> Response:
    """The primal image by its address."""
    form = negotiate.by_name(format)
    fields = query.fields(request.query_params.multi_items(), ImageRequest, spec)
    return await _answer(request, spec, settings, scheduler, parsed(ImageRequest, fields), form)


def _format(request: Request, name: str) -> Format:
    query.only(request.query_params.multi_items(), ["format"])
    if name:
        return negotiate.by_name(name)
    return negotiate.by_accept(",".join(request.headers.getlist("accept")))


async def _answer(
    request: Request,
    spec: Spec,
    settings: Settings,
    scheduler: Scheduler,
    asked: ImageRequest,
    form: Format,
) -> Response:
    """Check everything, then compute, then encode."""
    work = affordable(work_of(spec, asked), asked, settings)
    subject = maps.subject_of(work, spec)
    style = style_of(asked, spec, subject, form)
    said = asked.model_dump(mode="json", exclude_defaults=True) | {"renderer": spec.name}
    tag = etag(request.app.state.instance, form.name, said)
    headers = {
        "ETag": tag,
        "Cache-Control": "private, no-cache",
        "Content-Disposition": f'inline; filename="{filename(spec, subject, form)}"',
        "Vary": "Accept",
    }
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    result = await while_connected(request, scheduler.run(work))
    response = await anyio.to_thread.run_sync(encode, result, spec, form, style, said)
    response.headers.update(headers)
    return response


def work_of(spec: Spec, asked: ImageRequest) -> Work:
    """The work that a request asks for, checked before anything is allocated.

    Raises:
        ParameterError: a parameter, or a value of one, that the renderer does not have.
        RequestError: an unknown strategy.
    """
    if not isinstance(asked, MapRequest):
        return maps.work(spec, frame_of(asked), Subject())
    subject = parse_subject(
        spec.params, wrt=asked.wrt, direction=asked.direction, normalise=asked.normalise
    )
    strategy = strategy_of(asked.strategy)
    return maps.work(
        spec,
        frame_of(asked),
        subject,
        second=asked.second,
        strategy=strategy,
        certify=asked.certify,
    )


def style_of(asked: ImageRequest, spec: Spec, subject: Subject, form: Format) -> Style:
    """How the picture is drawn, refused before the device is asked to compute it.

    Raises:
        ImagingError: a colormap, norm, range or overlay that cannot be drawn.
        RequestError: an unknown channel, more entries than a picture has panels, or several maps
            in a format for one.
    """
    if not isinstance(asked, MapRequest):
        return Style()
    if len(subject.names) > 1 and not form.several:
        raise RequestError(
            422,
            "several_arrays",
            f"{form.name} holds one map, and {len(subject.names)} are asked for. Ask for npz, "
            "which holds each by its name, or for one of them.",
            field="wrt",
        )
    if form.name == "png" and subject.size > MOST_PANELS:
        first = subject.wrt[0]
        entry = f"{first.name}[{','.join('0' * len(first.shape))}]" if first.shape else str(first)
        raise RequestError(
            422,
            "too_many_panels",
            f"A picture shows at most {MOST_PANELS} entries; these are {subject.size}. "
            f"Ask for one, such as {entry}, or for npy or npz.",
            field="wrt",
        )
    return drawing(asked, spec)


def etag(instance: str, form: str, said: Mapping[str, Any]) -> str:
    """A strong tag: equal requests to one start of the server have equal bytes."""
    text = json.dumps([instance, form, said], sort_keys=True)
    return f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'


def filename(spec: Spec, subject: Subject, form: Format) -> str:
    """What a saved result is called."""
    named = "_".join(subject.names) if len(subject.names) < 4 else "maps"
    entry = "".join(c if c.isalnum() else "_" for c in named).strip("_")
    return f"{spec.name}_{entry or 'image'}{form.suffix}"
