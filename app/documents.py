"""Finished maps as files: what was computed meets how it is drawn and written."""

from collections.abc import Mapping
from typing import Any

from app.captions import captioned
from app.compute import Result
from app.compute.kinds.maps import subject_of
from app.imaging import Encoded, Format, Style
from renderers import Spec


def document(
    result: Result, spec: Spec, form: Format, style: Style, request: Mapping[str, Any]
) -> Encoded:
    """Maps, or the primal image, in a format, with what was asked and how it was got."""
    facts, subject = result.facts, subject_of(result.work, spec)
    metadata = {
        "request": request,
        "strategy": facts["strategy"],
        "tiles": facts["tiles"],
        "statistics": facts["statistics"],
    }
    metadata |= {name: facts[name] for name in ("unrecorded", "certificate") if facts[name]}
    if not subject:
        return form.encode_image(result.arrays["image"], metadata)
    each = [{"statistics": statistics} for statistics in facts["each"]]
    second = result.work.asked["second"]
    maps = captioned(result.arrays, spec, subject, second=second, facts=each)
    metadata |= {"title": maps.title, "unit": maps.unit}
    return form.encode(maps, style, metadata)
