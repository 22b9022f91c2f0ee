"""NPY: the numbers themselves, as ``numpy.load(..., allow_pickle=False)`` reads them."""

from io import BytesIO
from typing import Final

import numpy as np
from numpy.lib.format import write_array_header_1_0

from app.imaging.formats.contract import Encoded, Format, Metadata
from app.imaging.mapdata import FloatArray, MapData
from app.imaging.style import Style

_MEDIA_TYPE: Final = "application/octet-stream"  # NPY has no registered media type


def encode(data: MapData, _style: Style, _metadata: Metadata) -> Encoded:
    """The values, of shape ``image.shape + wrt.shape``; there is no place for metadata."""
    return _encoded(data.values)


def encode_image(image: FloatArray, _metadata: Metadata) -> Encoded:
    """The image ``(H, W, C)``, not clipped."""
    return _encoded(image)


def plain(values: FloatArray) -> FloatArray:
    """The array as ``<f4`` or ``<f8`` in C order; itself where it is that already."""
    wanted = "<f8" if values.dtype.itemsize == 8 else "<f4"
    return np.ascontiguousarray(values, dtype=wanted)


def _encoded(values: FloatArray) -> Encoded:
    array = plain(values)
    stream = BytesIO()
    described = {"descr": array.dtype.str, "fortran_order": False, "shape": array.shape}
    write_array_header_1_0(stream, described)
    # The body is the array's own memory: no copy, whatever its size.
    body = array.reshape(-1).view(np.uint8).data
    return Encoded((stream.getvalue(), body), _MEDIA_TYPE)


NPY: Final = Format(
    name="npy",
    media_type=_MEDIA_TYPE,
    suffix=".npy",
    help="the numbers: little-endian float32 or float64, C order, version 1.0, no pickle",
    encode=encode,
    encode_image=encode_image,
)
