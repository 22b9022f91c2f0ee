"""JSON: what there is to say about a map without its numbers. Never arrays, never NaN."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Final

from app.imaging.formats.contract import Encoded, Format
from app.imaging.mapdata import FloatArray, MapData
from app.imaging.statistics import statistics
from app.imaging.style import Style

_MEDIA_TYPE: Final = "application/json"


def encode(data: MapData, _style: Style, metadata: Mapping[str, str]) -> Encoded:
    """Names, shape and statistics of a map."""
    described = {"title": data.title, "unit": data.unit, "channels": list(data.channels)}
    return _encoded({**described, "labels": list(data.labels)}, data.values, metadata)


def encode_image(image: FloatArray, metadata: Mapping[str, str]) -> Encoded:
    """Shape and statistics of an image."""
    return _encoded({}, image, metadata)


def _encoded(
    described: Mapping[str, object], values: FloatArray, metadata: Mapping[str, str]
) -> Encoded:
    document = {
        **described,
        "shape": list(values.shape),
        "dtype": str(values.dtype),
        "statistics": asdict(statistics(values)),  # None, and not NaN, where there is no number
        "metadata": dict(metadata),
    }
    text = json.dumps(document, ensure_ascii=False, allow_nan=False)
    return Encoded((text.encode(),), _MEDIA_TYPE)


JSON: Final = Format(
    name="json",
    media_type=_MEDIA_TYPE,
    suffix=".json",
    help="names, shape and statistics of the map, without its numbers",
    encode=encode,
    encode_image=encode_image,
)
