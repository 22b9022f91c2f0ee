"""NPZ: numbers, primal image and metadata in one file that NumPy reads without pickle."""

import json
from collections.abc import Mapping
from io import BytesIO
from typing import Final

import numpy as np
from numpy.typing import NDArray

from app.imaging.formats.contract import Encoded, Format, Metadata
from app.imaging.formats.json import described
from app.imaging.formats.npy import plain
from app.imaging.mapdata import FloatArray, MapData
from app.imaging.style import Style

_MEDIA_TYPE: Final = "application/zip"


def encode(data: MapData, _style: Style, metadata: Metadata) -> Encoded:
    """``values``, ``image`` (where there is one) and ``metadata`` (JSON, a 0-d unicode array)."""
    arrays = {"values": plain(data.values)}
    if data.image is not None:
        arrays["image"] = plain(data.image)
    return _encoded(arrays, {**described(data), **metadata})


def encode_image(image: FloatArray, metadata: Metadata) -> Encoded:
    """``image`` and ``metadata``."""
    return _encoded({"image": plain(image)}, metadata)


def _encoded(arrays: Mapping[str, NDArray[np.floating]], words: Metadata) -> Encoded:
    stream = BytesIO()
    text = np.asarray(json.dumps(words, ensure_ascii=False))
    # Not compressed: float noise shrinks by a tenth, and takes a hundred times as long.
    np.savez(stream, allow_pickle=False, metadata=text, **arrays)
    return Encoded((stream.getbuffer(),), _MEDIA_TYPE)


NPZ: Final = Format(
    name="npz",
    media_type=_MEDIA_TYPE,
    suffix=".npz",
    help="the numbers, the primal image and the metadata in one NumPy archive, no pickle",
    encode=encode,
    encode_image=encode_image,
)
