"""JSON: what there is to say about a map without its numbers. Never arrays, never NaN."""

import json
from typing import Any, Final

from app.imaging.formats.contract import Encoded, Format, Metadata
from app.imaging.mapdata import FloatArray, MapData
from app.imaging.style import Style

_MEDIA_TYPE: Final = "application/json"


def encode(data: MapData, _style: Style, metadata: Metadata) -> Encoded:
    """Names and shape of a map, with the metadata."""
    return _encoded({**described(data), **metadata})


def encode_image(image: FloatArray, metadata: Metadata) -> Encoded:
    """Shape of an image, with the metadata."""
    return _encoded({"shape": list(image.shape), "dtype": str(image.dtype), **metadata})


def described(data: MapData) -> dict[str, Any]:
    """The words that belong to a map, as plain data."""
    return {
        "title": data.title,
        "unit": data.unit,
        "channels": list(data.channels),
        "labels": list(data.labels),
        "shape": list(data.values.shape),
        "dtype": str(data.values.dtype),
    }


def _encoded(document: Metadata) -> Encoded:
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
