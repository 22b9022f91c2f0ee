"""The sensitivity map of a renderer, and its primal image: the main job."""

import hashlib
import json
import math
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
    parsed,
    while_connected,
    work_of,
)
from app.api.errors import RequestError
from app.api.schemas import ImageRequest, MapRequest, Problem
from app.compute import Scheduler, Work
from app.imaging import MOST_PANELS, Format, Style, channel_choices
from app.settings import Settings
from renderers import Spec, suggestion

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
    work = work_of(spec, asked, settings)
    style = style_of(asked, spec, work, form)
    said = asked.model_dump(mode="json", exclude_defaults=True) | {"renderer": spec.name}
    tag = etag(request.app.state.instance, form.name, said)
    headers = {
        "ETag": tag,
        "Cache-Control": "private, no-cache",
        "Content-Disposition": f'inline; filename="{filename(work, form)}"',
        "Vary": "Accept",
    }
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    result = await while_connected(request, scheduler.run(work))
    response = await anyio.to_thread.run_sync(encode, result, spec, form, style, said)
    response.headers.update(headers)
    return response


def style_of(asked: ImageRequest, spec: Spec, work: Work, form: Format) -> Style:
    """How the picture is drawn, refused before the device is asked to compute it.

    Raises:
        ImagingError: a colormap, norm, range or overlay that cannot be drawn.
        RequestError: an unknown channel, or more entries than a picture has panels.
    """
    if not isinstance(asked, MapRequest):
        return Style()
    choices = channel_choices(spec.channels)
    known = isinstance(asked.channel, str) and asked.channel in choices
    if not known and not (isinstance(asked.channel, int) and asked.channel in range(work.channels)):
        hint = suggestion(str(asked.channel)[:64], map(str, choices))
        raise RequestError(
            422, "unknown_channel", "There is no such channel." + hint, field="channel"
        )
    panels = math.prod(work.wrt_shape)
    if form.name == "png" and panels > MOST_PANELS:
        raise RequestError(
            422,
            "too_many_panels",
            f"A picture shows at most {MOST_PANELS} entries; {work.wrt!r} has {panels}. "
            f"Ask for one, such as {work.wrt}[{','.join('0' * len(work.wrt_shape))}], or for npy.",
            field="wrt",
        )
    return Style(
        colormap_name=asked.colormap_name,
        rescale=None if asked.rescale == "auto" else asked.rescale,
        symmetric=asked.symmetric,
        norm=asked.norm,
        channel=asked.channel,
        overlay=asked.overlay,
        colorbar=asked.colorbar,
    )


def etag(instance: str, form: str, said: Mapping[str, Any]) -> str:
    """A strong tag: equal requests to one start of the server have equal bytes."""
    text = json.dumps([instance, form, said], sort_keys=True)
    return f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'


def filename(work: Work, form: Format) -> str:
    """What a saved result is called."""
    entry = "".join(c if c.isalnum() else "_" for c in work.wrt).strip("_")
    return f"{work.renderer}_{entry or 'image'}{form.suffix}"
