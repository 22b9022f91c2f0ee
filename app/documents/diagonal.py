"""A diagonal as files: a heatmap, the numbers, or what there is to say."""

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from app.compute import Result
from app.imaging import FORMATS, Encoded, Encoding, MapData, Maps, Style
from renderers import Spec

Encode = Callable[[Result, Spec, Style, Mapping[str, Any]], Encoded]


def told(result: Result, request: Mapping[str, Any]) -> dict[str, Any]:
    """What there is to say: the trace, its standard error, and how both were found."""
    left = ("seconds", "values")
    return {"request": request, **{k: v for k, v in result.facts.items() if k not in left}}


def _json(result: Result, _spec: Spec, _style: Style, request: Mapping[str, Any]) -> Encoded:
    text = json.dumps(told(result, request), ensure_ascii=False, allow_nan=False)
    return Encoded((text.encode(),), "application/json")


def _drawn(form: str) -> Encode:
    def encode(result: Result, spec: Spec, style: Style, request: Mapping[str, Any]) -> Encoded:
        wrt = result.work.asked["wrt"]
        shape = (*result.arrays["diagonal"].shape[:2], len(spec.channels))
        unit = spec.params[wrt].unit
        data = MapData(
            values=np.ascontiguousarray(result.arrays["diagonal"].reshape(shape)),
            channels=spec.channels,
            title=f"diagonal of d(image)/d({wrt})",
            unit=f"per {unit}" if unit else "",
        )
        return FORMATS[form].encode(Maps((data,)), style, told(result, request))

    return encode


def _form(name: str, text: str, encode: Encode) -> Encoding[Encode]:
    known = FORMATS[name]
    return Encoding(
        name=name, media_type=known.media_type, suffix=known.suffix, help=text, encode=encode
    )


DIAGONAL_FORMATS: Final[Mapping[str, Encoding[Encode]]] = MappingProxyType(
    {
        form.name: form
        for form in (
            _form("png", "the diagonal as a heatmap", _drawn("png")),
            _form("npy", "the diagonal, of the parameter's shape", _drawn("npy")),
            _form("npz", "the diagonal and how it was found", _drawn("npz")),
            _form("json", "the trace, its standard error, and how they were found", _json),
        )
    }
)
