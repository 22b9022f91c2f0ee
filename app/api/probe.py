"""Which parameters move this pixel: probes of regions, and single entries of the Jacobian."""

from collections.abc import Mapping
from typing import Annotated

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
)
from app.api.drawing import drawing
from app.api.errors import RequestError
from app.api.schemas import EntriesRequest, ProbeRequest
from app.compute import Result, Work
from app.compute.kinds import entries, probing
from app.documents import ENTRY_FORMATS, MOST_NUMBERS, PROBE_FORMATS, picturable
from app.documents.probe import Encode
from app.imaging import MOST_PANELS, Encoded, Encoding, Style
from renderers import Spec, Subject, parse_subject

router = APIRouter(prefix="/v1/renderers/{renderer}", tags=["probe"])

ProbeFormat = Annotated[str, Query(alias="format", description=", ".join(PROBE_FORMATS))]
EntryFormat = Annotated[str, Query(alias="format", description=", ".join(ENTRY_FORMATS))]
Forms = Mapping[str, Encoding[Encode]]


@router.post(
    "/probe",
    responses=described.answers(PROBE_FORMATS),
    response_class=Response,
    openapi_extra=described.body(ProbeRequest),
)
async def post_probe(
    request: Request,
    spec: SpecNow,
    settings: SettingsNow,
    scheduler: SchedulerNow,
    format_name: ProbeFormat = "",
) -> Response:
    """What each region of the image answers to every parameter."""
    form = _form(request, format_name, PROBE_FORMATS)
    asked = parsed(ProbeRequest, await json_object(request))
    subject = parse_subject(spec.params, wrt=asked.wrt)
    work = probing.work(spec, frame_of(asked), subject, asked.regions, certify=asked.certify)
    work = affordable(work, asked, settings)
    style = drawing(asked, spec)
    if form.name == "png":
        _drawable(subject, work)
    said = asked.model_dump(mode="json", exclude_defaults=True) | {"renderer": spec.name}

    def write(result: Result) -> Encoded:
        return form.encode(result, spec, style, said)

    return await answered(request, scheduler, Wanted(spec, work, form, said), write, tell)


@router.post(
    "/entries",
    responses=described.answers(ENTRY_FORMATS),
    response_class=Response,
    openapi_extra=described.body(EntriesRequest),
)
async def post_entries(
    request: Request,
    spec: SpecNow,
    settings: SettingsNow,
    scheduler: SchedulerNow,
    format_name: EntryFormat = "",
) -> Response:
    """Single entries of the Jacobian: what some outputs answer to some entries of parameters."""
    form = _form(request, format_name, ENTRY_FORMATS)
    asked = parsed(EntriesRequest, await json_object(request))
    work = entries.work(spec, frame_of(asked), asked.outputs, asked.entries)
    work = affordable(work, asked, settings)
    rows, columns = work.outputs[0].shape
    if form.name == "json" and rows * columns > MOST_NUMBERS:
        raise RequestError(
            422,
            "too_many_entries",
            f"JSON holds at most {MOST_NUMBERS} entries; these are {rows * columns}. Ask for npy "
            "or npz.",
            field="entries",
        )
    said = asked.model_dump(mode="json", exclude_defaults=True) | {"renderer": spec.name}

    def write(result: Result) -> Encoded:
        return form.encode(result, spec, Style(), said)

    return await answered(request, scheduler, Wanted(spec, work, form, said), write, tell)


def _form(request: Request, name: str, forms: Forms) -> Encoding[Encode]:
    """The format that is asked for; JSON where the client does not mind."""

    def named(name: str) -> Encoding[Encode]:
        if name not in forms:
            raise RequestError(
                404, "unknown_format", f"This can be had as {', '.join(forms)}.", field="format"
            )
        return forms[name]

    return negotiate.asked_by(request, name, forms, named, default="json")


def _drawable(subject: Subject, work: Work) -> None:
    """Refuse what has no picture, before it is computed.

    Raises:
        RequestError: several parameters, one that is no image, or too many regions.
    """
    if not picturable(subject.wrt):
        raise RequestError(
            422,
            "not_an_image",
            "A picture shows the gradient by one parameter that is itself an image. Name one with "
            "`wrt`, or ask for json or npz.",
            field="wrt",
        )
    (regions,) = work.outputs[0].shape
    if regions > MOST_PANELS:
        raise RequestError(
            422,
            "too_many_panels",
            f"A picture shows at most {MOST_PANELS} regions; these are {regions}. Ask for fewer, "
            "or for npz.",
            field="regions",
        )


def tell(result: Result, spec: Spec, facts: Mapping[str, str]) -> dict[str, str]:
    """What is said in headers."""
    told = result.facts
    codes = dict.fromkeys(warning["code"] for warning in told["warnings"])
    said = {
        "Renderer": spec.name,
        "Strategy": told["strategy"],
        "Agreement": f"{told['relative']:.3g}",
        "Warnings": ",".join(codes) or "none",
        **{key.title(): text for key, text in facts.items()},
    }
    return {f"X-Sensmap-{key}": header_text(value) for key, value in said.items()}
