"""Maps, images and sweeps as files."""

from collections.abc import Mapping
from typing import Any

from app.captions import captioned
from app.compute import Result
from app.compute.kinds.maps import subject_of
from app.imaging import Encoded, Format, Maps, Motion, Style, Sweep, SweepFormat
from renderers import Spec, parse_wrt


def document(
    result: Result, spec: Spec, form: Format, style: Style, request: Mapping[str, Any]
) -> Encoded:
    """Maps, or the primal image, in a format, with what was asked and how it was got."""
    facts, subject = result.facts, subject_of(result.work, spec)
    words = metadata(result, request)
    if not subject:
        return form.encode_image(result.arrays["image"], words)
    # What is said of one map alone is said of it already.
    each = facts["each"] if len(subject.names) > 1 else ()
    maps = captioned(
        result.arrays,
        spec,
        subject,
        second=result.work.asked["second"],
        facts=[{"statistics": statistics} for statistics in each],
    )
    return form.encode(maps, style, {**words, "title": maps.title, "unit": maps.unit})


def sweep_document(
    result: Result,
    spec: Spec,
    form: SweepFormat,
    style: Style,
    motion: Motion,
    request: Mapping[str, Any],
) -> Encoded:
    """The maps along a range in a format, with what was asked and how it was got."""
    asked = result.work.asked
    sweep = Sweep(
        frames=tuple(frame_of(result, spec, number) for number in range(len(asked["values"]))),
        parameter=asked["along"],
        values=tuple(asked["values"]),
        unit=parse_wrt(asked["along"], spec.params).unit,
    )
    first = sweep.frames[0]
    words = metadata(result, request) | {"title": first.title, "unit": first.unit}
    return form.encode(sweep, style, motion, words)


def frame_of(result: Result, spec: Spec, number: int) -> Maps:
    """The maps of one frame of a sweep: views of the whole, not copies."""
    said = result.facts["frames"][number]
    return captioned(
        {name: stack[number] for name, stack in result.arrays.items()},
        spec,
        subject_of(result.work, spec),
        second=result.work.asked["second"],
        facts=[
            {"strategy": said["strategy"], "statistics": statistics} for statistics in said["each"]
        ],
    )


def metadata(result: Result, request: Mapping[str, Any]) -> dict[str, Any]:
    """What was asked and how it was got, of all maps together."""
    facts = result.facts
    said = ("strategy", "tiles", "statistics")
    told = ("unrecorded", "certificate")
    return {
        "request": request,
        **{name: facts[name] for name in said},
        **{name: facts[name] for name in told if facts[name]},
    }
