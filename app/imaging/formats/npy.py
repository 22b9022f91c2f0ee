"""NPY: the numbers themselves, as ``numpy.load(..., allow_pickle=False)`` reads them."""

from collections.abc import Sequence
from io import BytesIO
from typing import Any, Final

import numpy as np
from numpy.lib.format import write_array_header_1_0
from numpy.typing import NDArray

from app.imaging.errors import SeveralArraysError, listed
from app.imaging.formats.contract import Encoded, Format, LabelFormat, Metadata, SweepFormat
from app.imaging.labels import LabelMap
from app.imaging.mapdata import FloatArray
from app.imaging.maps import Maps
from app.imaging.style import Style
from app.imaging.sweep import Motion, Sweep

_MEDIA_TYPE: Final = "application/octet-stream"  # NPY has no registered media type


def encode(maps: Maps, _style: Style, _metadata: Metadata) -> Encoded:
    """The values, of shape ``image.shape + wrt.shape``; there is no place for metadata.

    Raises:
        SeveralArraysError: More than one map (``several_arrays``).
    """
    _check_single(maps)
    return Encoded(pieces(plain(maps.entries[0].values)), _MEDIA_TYPE)


def encode_image(image: FloatArray, _metadata: Metadata) -> Encoded:
    """The image ``(H, W, C)``, not clipped."""
    return Encoded(pieces(plain(image)), _MEDIA_TYPE)


def encode_sweep(sweep: Sweep, _style: Style, _motion: Motion, _metadata: Metadata) -> Encoded:
    """The frames one behind the other, of shape ``(frames, *image.shape, *wrt.shape)``.

    Raises:
        SeveralArraysError: More than one map a frame (``several_arrays``).
    """
    _check_single(sweep.frames[0])
    frames = [plain(frame.entries[0].values) for frame in sweep.frames]
    return Encoded(stacked_pieces(frames), _MEDIA_TYPE)


def encode_labels(labels: LabelMap, _metadata: Metadata) -> Encoded:
    """The labels ``(H, W)`` as ``<i4``, -1 for none."""
    return Encoded(pieces(np.ascontiguousarray(labels.values, "<i4")), _MEDIA_TYPE)


def plain(values: FloatArray) -> FloatArray:
    """The array as ``<f4`` or ``<f8`` in C order; itself where it is that already."""
    wanted = "<f8" if values.dtype.itemsize == 8 else "<f4"
    return np.ascontiguousarray(values, dtype=wanted)


def pieces(array: NDArray[Any]) -> tuple[bytes | memoryview, ...]:
    """An NPY file in pieces, of an array in C order."""
    return (head(array), memory(array))


def stacked_pieces(arrays: Sequence[NDArray[Any]]) -> tuple[bytes | memoryview, ...]:
    """An NPY file of equal arrays along a new first axis, without ever stacking them."""
    shape = (len(arrays), *arrays[0].shape)
    return (head(arrays[0], shape), *map(memory, arrays))


def head(array: NDArray[Any], shape: tuple[int, ...] | None = None) -> bytes:
    """What stands in an NPY file before the numbers of an array, or of more such than one."""
    stream = BytesIO()
    described = {"descr": array.dtype.str, "fortran_order": False, "shape": shape or array.shape}
    write_array_header_1_0(stream, described)
    return stream.getvalue()


def memory(array: NDArray[Any]) -> memoryview:
    """The memory of an array in C order: no copy, whatever its size."""
    return array.reshape(-1).view(np.uint8).data


def _check_single(maps: Maps) -> None:
    if maps.several:
        names = listed(entry.name for entry in maps.entries)
        raise SeveralArraysError(
            f"An NPY file holds one array, and these are {len(maps.entries)}: {names}. "
            "Ask for npz, or for one of them."
        )


NPY: Final = Format(
    name="npy",
    media_type=_MEDIA_TYPE,
    suffix=".npy",
    help="the numbers: little-endian float32 or float64, C order, version 1.0, no pickle",
    several=False,
    encode=encode,
    encode_image=encode_image,
    head=head,
)

NPY_SWEEP: Final = SweepFormat(
    name="npy",
    media_type=_MEDIA_TYPE,
    suffix=".npy",
    help="the numbers of all frames in one array, frames first",
    several=False,
    encode=encode_sweep,
)

NPY_LABELS: Final = LabelFormat(
    name="npy",
    media_type=_MEDIA_TYPE,
    suffix=".npy",
    help="the labels: little-endian int32, -1 for none",
    encode=encode_labels,
)
