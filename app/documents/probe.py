"""Probes and single entries of a Jacobian, as files: numbers as JSON or arrays, pictures."""

import json
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from app.compute import Result
from app.compute.kinds.maps import subject_of
from app.compute.kinds.probing import VALUES, gradient_of
from app.imaging import FORMATS, Encoded, Encoding, MapData, Maps, Style
from renderers import Spec, Wrt

# Entries of a parameter whose gradient is written as lists; longer ones are for arrays.
MOST_LISTED: Final = 64
# Numbers of a block that are written as lists.
MOST_NUMBERS: Final = 4096
# Pixels along the longer side of a panel: an entry of a small parameter is drawn as a square.
PANEL: Final = 256
Encode = Callable[[Result, Spec, Style, Mapping[str, Any]], Encoded]


def picturable(wrt: Sequence[Wrt]) -> bool:
    """Whether this is one parameter of the shape of an image, with channels or without."""
    return len(wrt) == 1 and len(wrt[0].shape) in (2, 3) and min(wrt[0].shape[:2]) > 1


def _said(result: Result, request: Mapping[str, Any]) -> dict[str, Any]:
    told = {key: value for key, value in result.facts.items() if key != "seconds"}
    regions = [_short(each) for each in request.get("regions", ())]
    return {"request": {**request, "regions": regions} if regions else dict(request), **told}


def _short(region: Mapping[str, Any]) -> dict[str, Any]:
    """A region without the numbers of its mask, which whoever asked has."""
    shape = {"mask": list(np.shape(region["mask"]))} if "mask" in region else {}
    return {**region, **shape}


def _probe_json(result: Result, spec: Spec, _style: Style, request: Mapping[str, Any]) -> Encoded:
    subject, said = subject_of(result.work, spec), _said(result, request)
    choices, names = said.pop("choices"), said.pop("names")
    short = [wrt.name for wrt in subject.wrt if wrt.size <= MOST_LISTED]
    units = zip(subject.wrt, subject.units(), strict=True)
    words = {
        **said,
        "parameters": {
            wrt.name: {"shape": list(wrt.shape), "unit": unit, **choices[wrt.name]}
            for wrt, unit in units
        },
        "regions": [
            {
                "name": name,
                "value": _plain(result.arrays[VALUES][row]),
                "gradients": {
                    each: _plain(result.arrays[gradient_of(each)][row]) for each in short
                },
            }
            for row, name in enumerate(names)
        ],
        "left_out": [wrt.name for wrt in subject.wrt if wrt.size > MOST_LISTED],
    }
    if words["left_out"]:
        words["note"] = (
            f"Gradients of more than {MOST_LISTED} entries are left out: ask for format=npz."
        )
    return _json(words)


def _probe_npz(result: Result, _spec: Spec, _style: Style, request: Mapping[str, Any]) -> Encoded:
    return _npz(result, _said(result, request))


def _probe_png(result: Result, spec: Spec, style: Style, request: Mapping[str, Any]) -> Encoded:
    subject = subject_of(result.work, spec)
    (wrt,), (unit,) = subject.wrt, subject.units()
    gradient = result.arrays[gradient_of(wrt.name)]
    values = np.moveaxis(gradient, 0, -1)
    if len(wrt.shape) == 2:
        values = values[:, :, np.newaxis]
    times = -(-PANEL // max(wrt.shape[:2]))
    values = values.repeat(times, axis=0).repeat(times, axis=1)
    count = values.shape[2]
    data = MapData(
        values=values,
        channels=spec.channels if count == len(spec.channels) else (),
        labels=tuple(result.facts["names"]),
        title=f"d(region)/d({wrt.name})",
        unit=unit,
    )
    return FORMATS["png"].encode(Maps((data,)), style, _said(result, request))


def _entries_json(
    result: Result, _spec: Spec, _style: Style, request: Mapping[str, Any]
) -> Encoded:
    words = {name: _plain(array) for name, array in result.arrays.items()}
    return _json({**_said(result, request), **words})


def _entries_npy(
    result: Result, _spec: Spec, _style: Style, _request: Mapping[str, Any]
) -> Encoded:
    stream = BytesIO()
    np.save(stream, result.arrays["entries"], allow_pickle=False)
    return Encoded((stream.getbuffer(),), FORMATS["npy"].media_type)


def _json(words: Mapping[str, Any]) -> Encoded:
    text = json.dumps(words, ensure_ascii=False, allow_nan=False)
    return Encoded((text.encode(),), "application/json")


def _npz(result: Result, words: Mapping[str, Any]) -> Encoded:
    stream = BytesIO()
    text = np.asarray(json.dumps(words, ensure_ascii=False))
    np.savez(stream, allow_pickle=False, metadata=text, **result.arrays)
    return Encoded((stream.getbuffer(),), FORMATS["npz"].media_type)


def _plain(numbers: NDArray[Any] | np.floating[Any]) -> Any:
    """Nested lists; what is no finite number is null."""
    array = np.asarray(numbers, dtype=np.float64)
    if np.isfinite(array).all():
        return array.tolist()
    known = array.astype(object)
    known[~np.isfinite(array)] = None
    return known.tolist()


def _form(name: str, text: str, encode: Encode) -> Encoding[Encode]:
    known = FORMATS[name]
    return Encoding(
        name=name, media_type=known.media_type, suffix=known.suffix, help=text, encode=encode
    )


def _table(*forms: Encoding[Encode]) -> Mapping[str, Encoding[Encode]]:
    return MappingProxyType({form.name: form for form in forms})


PROBE_FORMATS: Final = _table(
    _form("json", "each region's value, and its gradients by parameter", _probe_json),
    _form("npz", "values and gradients as arrays by name", _probe_npz),
    _form("png", "the gradient by one parameter that is an image, a panel a region", _probe_png),
)
ENTRY_FORMATS: Final = _table(
    _form("json", "the matrix as lists, with what was decided", _entries_json),
    _form("npy", "the matrix alone", _entries_npy),
    _form("npz", "the matrix and the outputs' values as arrays", _probe_npz),
)
