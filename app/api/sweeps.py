"""The maps along a range of one parameter: a moving picture, or one stacked array."""

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
from app.api.schemas import Moving, SweepRequest
from app.compute import Result, Scheduler, Work
from app.compute.kinds import sweep
from app.compute.kinds.maps import subject_of as subject_in
from app.documents import sweep_document
from app.imaging import SWEEP_FORMATS, Encoded, Motion, SweepFormat, sweep_format_named
from app.settings import Settings
from renderers import Spec

router = APIRouter(prefix="/v1/renderers/{renderer}", tags=["maps"])

FormatName = Annotated[str, Query(alias="format", description=", ".join(SWEEP_FORMATS))]
ANSWERS = described.answers(SWEEP_FORMATS)


@router.post(
    "/sweep",
    responses=ANSWERS,
    response_class=Response,
    openapi_extra=described.body(SweepRequest),
)
async def post_sweep(
    request: Request,
    spec: SpecNow,
    settings: SettingsNow,
    scheduler: SchedulerNow,
    format_name: FormatName = "",
) -> Response:
    """The maps at each value of a parameter, as a moving picture or as numbers."""
    form = negotiate.asked_by(request, format_name, SWEEP_FORMATS, sweep_format_named)
    asked = parsed(SweepRequest, await json_object(request))
    return await _answer(request, spec, settings, scheduler, asked, form)


@router.head("/sweep.{format}", include_in_schema=False)
@router.get("/sweep.{format}", responses=ANSWERS, response_class=Response)
async def get_sweep(
    request: Request,
    format: str,
    spec: SpecNow,
    settings: SettingsNow,
    scheduler: SchedulerNow,
) -> Response:
    """The same sweep by its address, for `<img src>`."""
    form = negotiate.by_name(format, sweep_format_named)
    fields = query.fields(request.query_params.multi_items(), SweepRequest, spec)
    return await _answer(request, spec, settings, scheduler, parsed(SweepRequest, fields), form)


async def _answer(
    request: Request,
    spec: Spec,
    settings: Settings,
    scheduler: Scheduler,
    asked: SweepRequest,
    form: SweepFormat,
) -> Response:
    """Check everything, then compute, then encode."""
    work = affordable(work_of(spec, asked), asked, settings)
    style = style_of(asked, spec, subject_in(work, spec), form)
    motion = Motion(**{name: getattr(asked, name) for name in Moving.model_fields})
    said = asked.model_dump(mode="json", exclude_defaults=True) | {"renderer": spec.name}

    def write(result: Result) -> Encoded:
        return sweep_document(result, spec, form, style, motion, said)

    return await answered(request, scheduler, Wanted(spec, work, form, said), write)


def work_of(spec: Spec, asked: SweepRequest) -> Work:
    """The work that a request asks for, checked before anything is allocated.

    Raises:
        ParameterError: a parameter, or a value of one, that the renderer does not have.
        RequestError: an unknown strategy.
    """
    values = sweep.values_along(
        spec,
        asked.along,
        values=asked.values,
        low=asked.low,
        high=asked.high,
        frames=asked.frames,
    )
    return sweep.work(
        spec,
        frame_of(asked),
        subject_of(asked, spec),
        along=asked.along,
        values=values,
        second=asked.second,
        strategy=strategy_of(asked.strategy),
        certify=asked.certify,
    )
