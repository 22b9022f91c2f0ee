"""JSON: what there is to say about a map without its numbers. Never arrays, never NaN."""

import json
from typing import Final

from app.imaging.formats.contract import Encoded, Format, LabelFormat, Metadata, SweepFormat
from app.imaging.formats.words import counted, described, swept
from app.imaging.labels import LabelMap
from app.imaging.mapdata import FloatArray
from app.imaging.maps import Maps
from app.imaging.style import Style
from app.imaging.sweep import Motion, Sweep

_MEDIA_TYPE: Final = "application/json"


def encode(maps: Maps, _style: Style, metadata: Metadata) -> Encoded:
    """Names and shape of a map, with the metadata; of several in a list called ``maps``."""
    return _encoded({**described(maps), **metadata})


def encode_image(image: FloatArray, metadata: Metadata) -> Encoded:
    """Shape of an image, with the metadata."""
    return _encoded({"shape": list(image.shape), "dtype": str(image.dtype), **metadata})


def encode_sweep(sweep: Sweep, _style: Style, _motion: Motion, metadata: Metadata) -> Encoded:
    """The same for each frame of a sweep, as they have it in common, and the values swept over."""
    return _encoded({**described(sweep.frames[0], facts=False), "sweep": swept(sweep), **metadata})


def encode_labels(labels: LabelMap, metadata: Metadata) -> Encoded:
    """The names, and how many pixels each has."""
    return _encoded({**counted(labels), **metadata})


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

JSON_SWEEP: Final = SweepFormat(
    name="json",
    media_type=_MEDIA_TYPE,
    suffix=".json",
    help="names, shape and values of the sweep, without its numbers",
    encode=encode_sweep,
)

JSON_LABELS: Final = LabelFormat(
    name="json",
    media_type=_MEDIA_TYPE,
    suffix=".json",
    help="the names, and how many pixels each has",
    encode=encode_labels,
)
