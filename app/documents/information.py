"""What a frame tells of parameters, as files: the words as JSON, maps as pictures or numbers."""

import json
from collections.abc import Callable, Mapping
from io import BytesIO
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from app.compute import Result
from app.compute.kinds.maps import subject_of
from app.imaging import FORMATS, LABEL_FORMATS, Encoded, Encoding, LabelMap, MapData, Maps, Style
from renderers import Spec, Subject

PICTURES: Final = ("information", "dominant")
Encode = Callable[[Result, Spec, Style, str, Mapping[str, Any]], Encoded]


def labels_of(subject: Subject) -> tuple[str, ...]:
    """A name for each number that a frame tells of."""
    return tuple(label for wrt in subject.wrt for label in wrt.labels())


def _words(result: Result, request: Mapping[str, Any]) -> dict[str, Any]:
    told = {key: value for key, value in result.facts.items() if key not in ("seconds", "findings")}
    return {"request": request, **told}


def _json(
    result: Result, _spec: Spec, _style: Style, _picture: str, request: Mapping[str, Any]
) -> Encoded:
    text = json.dumps(_words(result, request), ensure_ascii=False, allow_nan=False)
    return Encoded((text.encode(),), "application/json")


def _png(
    result: Result, spec: Spec, style: Style, picture: str, request: Mapping[str, Any]
) -> Encoded:
    labels, words = labels_of(subject_of(result.work, spec)), _words(result, request)
    # Matrices are for JSON: a picture's text is read by people.
    shown = ("request", "strategy", "bounds", "words", "condition", "warnings")
    words = {key: value for key, value in words.items() if key in shown}
    if picture == "dominant":
        title = "the parameter of which a pixel tells most"
        named = LabelMap(values=result.arrays["dominant"], names=labels, title=title)
        return LABEL_FORMATS["png"].encode(named, words)
    # Of parameters in units of their ranges, so that they can be compared.
    scales = np.square(result.facts["scales"]).astype(np.float32)
    values = (result.arrays["information"] * scales)[:, :, np.newaxis, :]
    data = MapData(
        values=values,
        channels=("information",),
        labels=labels,
        title="what each pixel tells of each parameter",
        unit="in units of its range",
        never_negative=True,
    )
    return FORMATS["png"].encode(Maps((data,)), style, words)


def _npz(
    result: Result, _spec: Spec, _style: Style, _picture: str, request: Mapping[str, Any]
) -> Encoded:
    words = _words(result, request)
    arrays: dict[str, NDArray[Any]] = dict(result.arrays)
    for name in ("fisher", "correlations", "bounds", "eigenvalues"):
        if words.get(name) is not None:
            arrays[name] = _numbers(words.pop(name))
    stream = BytesIO()
    text = np.asarray(json.dumps(words, ensure_ascii=False))
    np.savez(stream, allow_pickle=False, metadata=text, **arrays)
    return Encoded((stream.getbuffer(),), FORMATS["npz"].media_type)


def _numbers(nested: Any) -> NDArray[np.float64]:
    """Nested lists as an array; what is not determined is NaN there."""
    return np.array(nested, dtype=object).astype(np.float64)


def _form(name: str, text: str, encode: Encode) -> Encoding[Encode]:
    known = FORMATS[name]
    return Encoding(
        name=name, media_type=known.media_type, suffix=known.suffix, help=text, encode=encode
    )


INFORMATION_FORMATS: Final[Mapping[str, Encoding[Encode]]] = MappingProxyType(
    {
        form.name: form
        for form in (
            _form("json", "bounds, correlations, and what cannot be told apart in words", _json),
            _form("png", "the information of each pixel, or which parameter dominates it", _png),
            _form("npz", "the matrices, the information map and the labels", _npz),
        )
    }
)
