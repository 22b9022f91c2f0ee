"""PNG: a map as a heatmap, an image as itself. What was asked and decided stands in text chunks."""

import json
from io import BytesIO
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from app.imaging.errors import InvalidMetadataError, quote
from app.imaging.formats.contract import Encoded, Format, Metadata
from app.imaging.heatmap import heatmap
from app.imaging.mapdata import FloatArray, MapData
from app.imaging.style import Style

_MEDIA_TYPE: Final = "image/png"

# Measured on 2048x2048 palette pictures, ms and MB: a smooth map takes 22 / 0.32 at level 1 and
# 39 / 0.16 at 6; a noisy one 68 / 2.2 at level 1 and 502 / 2.1 at 6. Only level 1 is never slow.
_LEVEL: Final = 1

_ROWS: Final = 16  # at a time, so that the float copy stays in the cache

_LONGEST_KEY: Final = 79  # of a PNG keyword, by the standard


def encode(data: MapData, style: Style, metadata: Metadata) -> Encoded:
    """The heatmap of a map, with the metadata and the choices of the heatmap as text chunks."""
    drawn = heatmap(data, style)
    return Encoded((_png(drawn.picture, {**drawn.facts, **metadata}),), _MEDIA_TYPE, drawn.facts)


def encode_image(image: FloatArray, metadata: Metadata) -> Encoded:
    """A primal image ``(H, W, C)``, clipped to [0, 1], its numbers taken as they are for display.

    Three channels are RGB. Any other number is drawn in grey: the one channel, or the mean of all.
    A pixel with a NaN is transparent.
    """
    drawn = image if image.shape[2] in (1, 3) else image.mean(axis=2, keepdims=True)
    facts = {"drawn": "rgb" if drawn.shape[2] == 3 else "grey"}
    return Encoded((_png(Image.fromarray(_bytes_of(drawn)), metadata),), _MEDIA_TYPE, facts)


def _bytes_of(image: FloatArray) -> NDArray[np.uint8]:
    """The image in 8 bits, with alpha only where it is needed; grey without its axis of one."""
    levels: NDArray[np.uint8] = np.empty(image.shape, np.uint8)
    missing: NDArray[np.bool_] | None = None
    with np.errstate(over="ignore", invalid="ignore"):
        for top in range(0, len(image), _ROWS):
            band: FloatArray = np.clip(image[top : top + _ROWS], 0, 1).astype(
                np.float32, copy=False
            )
            band *= 255
            np.rint(band, out=band)
            levels[top : top + _ROWS] = band
            if np.isnan(band.min()):
                missing = np.zeros(image.shape[:2], np.bool_) if missing is None else missing
                missing[top : top + _ROWS] = np.isnan(band).any(axis=2)
    if missing is not None:
        alpha = np.where(missing, 0, 255).astype(np.uint8)
        return np.dstack([np.where(missing[..., np.newaxis], 0, levels), alpha])
    return levels[:, :, 0] if image.shape[2] == 1 else levels


def _png(picture: Image.Image, metadata: Metadata) -> bytes:
    stream = BytesIO()
    picture.save(stream, "PNG", compress_level=_LEVEL, pnginfo=_text_chunks(metadata))
    return stream.getvalue()


def _text_chunks(metadata: Metadata) -> PngInfo:
    chunks = PngInfo()
    for name, value in metadata.items():
        key = f"sensmap:{name}"
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        if not (0 < len(key) <= _LONGEST_KEY and key.isascii() and key.isprintable()):
            raise InvalidMetadataError(
                f"A PNG keyword has 1 to {_LONGEST_KEY} printable ASCII letters; got {quote(key)}."
            )
        # Latin letters go into tEXt as they are. NUL would end the chunk's text early.
        if text.isascii() and "\0" not in text:
            chunks.add_text(key, text)
        else:
            chunks.add_itxt(key, text.replace("\0", "\ufffd"))
    return chunks


PNG: Final = Format(
    name="png",
    media_type=_MEDIA_TYPE,
    suffix=".png",
    help="a picture: palette colours, NaN transparent, the range and the request in text chunks",
    encode=encode,
    encode_image=encode_image,
)
