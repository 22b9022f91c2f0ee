"""The sensitivity map of a renderer, and its primal image: the main job."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from app.api import described, negotiate, query
from app.api.answer import Wanted, answered
from app.api.body import json_object
from app.api.dependencies import (
    SchedulerNow,
    SettingsNow,
    SpecNow,
    affordable,
    frame_of,
    parsed,
    strategy_of,
    subject_of,
)
from app.api.drawing import style_of
from app.api.errors import RequestError
from app.api.schemas import ImageRequest, MapRequest
from app.compute import Result, Scheduler, Work
from app.compute.kinds import maps
from app.documents import document
from app.imaging import FORMATS, Encoded, Format, Style, format_named
from app.settings import Settings
from renderers import Spec, Subject

router = APIRouter(prefix="/v1/renderers/{renderer}", tags=["maps"])

FormatName = Annotated[str, Query(alias="format", description=", ".join(FORMATS))]
ANSWERS = described.answers(FORMATS)


@router.post(
    "/map", responses=ANSWERS, response_class=Response, openapi_extra=described.body(MapRequest)
)
async def post_map(
    request: Request,
    spec: SpecNow,
    settings: SettingsNow,
    scheduler: SchedulerNow,
    format_name: FormatName = "",
) -> Response:
    """The sensitivity map d(image)/d(wrt), as a picture or as numbers."""
    form = negotiate.asked_by(request, format_name, FORMATS, format_named)
    asked = parsed(MapRequest, await json_object(request))
    return await _answer(request, spec, settings, scheduler, asked, form)


@router.post(
    "/image", responses=ANSWERS, response_class=Response, openapi_extra=described.body(ImageRequest)
)
async def post_image(
    request: Request,
    spec: SpecNow,
    settings: SettingsNow,
    scheduler: SchedulerNow,
    format_name: FormatName = "",
) -> Response:
    """The primal image."""
    form = negotiate.asked_by(request, format_name, FORMATS, format_named)
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
    form = negotiate.by_name(format, format_named)
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
    form = negotiate.by_name(format, format_named)
    fields = query.fields(request.query_params.multi_items(), ImageRequest, spec)
    return await _answer(request, spec, settings, scheduler, parsed(ImageRequest, fields), form)


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
    style, streamed = Style(), ""
    if isinstance(asked, MapRequest):
        style = style_of(asked, spec, subject, form)
        streamed = rows_of(asked, subject, form)
    said = asked.model_dump(mode="json", exclude_defaults=True) | {"renderer": spec.name}

    def write(result: Result) -> Encoded:
        return document(result, spec, form, style, said)

    wanted = Wanted(spec, work, form, said, streamed)
    return await answered(request, scheduler, wanted, write)


def rows_of(asked: MapRequest, subject: Subject, form: Format) -> str:
    """The array whose rows a request wants as they are done; empty where it waits for the whole.

    Raises:
        RequestError: the format needs all rows before the first.
    """
    if asked.stream and form.head is None:
        able = ", ".join(each.name for each in FORMATS.values() if each.head)
        raise RequestError(
            422,
            "not_streamable",
            f"{form.name} needs all rows before the first. Ask for {able}, or without `stream`.",
            field="stream",
        )
    return subject.names[0] if asked.stream else ""


def work_of(spec: Spec, asked: ImageRequest) -> Work:
    """The work that a request asks for, checked before anything is allocated.

    Raises:
        ParameterError: a parameter, or a value of one, that the renderer does not have.
        RequestError: an unknown strategy.
    """
    if not isinstance(asked, MapRequest):
        return maps.work(spec, frame_of(asked), Subject())
    return maps.work(
        spec,
        frame_of(asked),
        subject_of(asked, spec),
        second=asked.second,
        strategy=strategy_of(asked.strategy),
        certify=asked.certify,
    )
