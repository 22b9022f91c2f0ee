"""NPZ: numbers, primal image and metadata in one file that NumPy reads without pickle."""

import json
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from io import BytesIO
from typing import Any, Final
from zipfile import ZipFile

import numpy as np

from app.imaging.formats.contract import Encoded, Format, Metadata, SweepFormat
from app.imaging.formats.npy import pieces, plain, stacked_pieces
from app.imaging.formats.words import described, swept
from app.imaging.mapdata import FloatArray
from app.imaging.maps import Maps
from app.imaging.style import Style
from app.imaging.sweep import Motion, Sweep

_MEDIA_TYPE: Final = "application/zip"

_IMAGE, _METADATA = "image", "metadata"


def encode(maps: Maps, _style: Style, metadata: Metadata) -> Encoded:
    """``values``, ``image`` (where there is one) and ``metadata`` (JSON, a 0-d unicode array).

    Several maps stand under a name each instead (`keys`), and ``maps`` in the metadata tells it as
    ``array``.
    """
    names = keys(maps, {_IMAGE, _METADATA})
    files = {
        name: pieces(plain(entry.values))
        for name, entry in zip(names, maps.entries, strict=True)
    }  # fmt: skip
    if maps.image is not None:
        files[_IMAGE] = pieces(plain(maps.image))
    return _encoded(files, {**_described(maps, names), **metadata})


def encode_image(image: FloatArray, metadata: Metadata) -> Encoded:
    """``image`` and ``metadata``."""
    return _encoded({_IMAGE: pieces(plain(image))}, metadata)


def encode_sweep(sweep: Sweep, _style: Style, _motion: Motion, metadata: Metadata) -> Encoded:
    """The same of a sweep, frames first, with ``values_of_<parameter>``, float64, in their order.

    Shapes in the metadata are those of a frame.
    """
    first, range_ = sweep.frames[0], f"values_of_{sweep.parameter}"
    names = keys(first, {_IMAGE, _METADATA, range_})
    files = {
        name: stacked_pieces([plain(frame.entries[place].values) for frame in sweep.frames])
        for place, name in enumerate(names)
    }
    images = [plain(frame.image) for frame in sweep.frames if frame.image is not None]
    if images:
        files[_IMAGE] = stacked_pieces(images)
    files[range_] = pieces(np.asarray(sweep.values, "<f8"))
    words = _described(first, names, facts=False)
    words["sweep"] = {**swept(sweep), "array": range_}
    return _encoded(files, {**words, **metadata})


def keys(maps: Maps, taken: Collection[str]) -> tuple[str, ...]:
    """Under which name each map stands: ``values`` for one; for several their own names.

    A name that is taken by something else in the file gets underscores behind it until it is not,
    so that the map of a parameter called ``image`` is ``image_``.
    """
    if not maps.several:
        return ("values",)
    own = [entry.name for entry in maps.entries]
    return tuple(_freed(name, {*taken, *own}) if name in taken else name for name in own)


def _freed(name: str, used: Container[str]) -> str:
    while name in used:
        name += "_"
    return name


def _described(maps: Maps, names: Sequence[str], *, facts: bool = True) -> dict[str, Any]:
    words = described(maps, facts=facts)
    for word, name in zip(words.get("maps", ()), names, strict=False):
        word["array"] = name
    return words


def _encoded(files: Mapping[str, Iterable[bytes | memoryview]], words: Metadata) -> Encoded:
    stream = BytesIO()
    text = np.asarray(json.dumps(words, ensure_ascii=False))
    # As `numpy.savez` does, which takes no array called `file`. Not compressed: float noise shrinks
    # by a tenth, and takes a hundred times as long.
    with ZipFile(stream, "w") as archive:
        for name, parts in {_METADATA: pieces(text), **files}.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                for part in parts:
                    file.write(part)
    return Encoded((stream.getbuffer(),), _MEDIA_TYPE)


NPZ: Final = Format(
    name="npz",
    media_type=_MEDIA_TYPE,
    suffix=".npz",
    help="the numbers, the primal image and the metadata in one NumPy archive, no pickle",
    encode=encode,
    encode_image=encode_image,
)

NPZ_SWEEP: Final = SweepFormat(
    name="npz",
    media_type=_MEDIA_TYPE,
    suffix=".npz",
    help="numbers and images of all frames, the values swept over, and the metadata",
    encode=encode_sweep,
)
