"""The certificate alone: is a renderer differentiated right, parameter by parameter."""

from typing import Any

from fastapi import APIRouter, Request

from app.api import schemas, told
from app.api.body import json_object
from app.api.dependencies import SchedulerNow, SpecNow, parsed, while_connected
from app.compute.kinds import checking

router = APIRouter(prefix="/v1/renderers/{renderer}", tags=["renderers"])


@router.post(
    "/check",
    responses={status: {"model": told.Problem} for status in (404, 422, 502, 503, 504)},
    openapi_extra={
        "requestBody": {
            "content": {"application/json": {"schema": schemas.CheckRequest.model_json_schema()}}
        }
    },
)
async def post_check(
    request: Request, spec: SpecNow, scheduler: SchedulerNow
) -> list[told.ReportInfo]:
    """For each parameter: the strategy, its agreement with differences, and what to change."""
    body: dict[str, Any] = await json_object(request) if await request.body() else {}
    asked = parsed(schemas.CheckRequest, body)
    work = checking.work(spec, asked.params, asked.wrt)
    result = await while_connected(request, scheduler.run(work))
    return [told.ReportInfo(**report) for report in result.facts["reports"]]
