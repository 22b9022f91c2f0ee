"""PNG: maps as heatmaps, a sweep of them in motion, an image as itself.

What was asked and what was decided stands in text chunks.
"""

import json
from io import BytesIO
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from app.imaging.animation import animation
from app.imaging.apng import animated_png
from app.imaging.errors import InvalidMetadataError, quote
from app.imaging.formats.contract import Encoded, Format, LabelFormat, Metadata, SweepFormat
from app.imaging.formats.words import counted, swept, told
from app.imaging.heatmap import heatmap
from app.imaging.labels import LabelMap, label_picture
from app.imaging.mapdata import FloatArray
from app.imaging.maps import Maps
from app.imaging.style import Style
from app.imaging.sweep import Motion, Sweep

_MEDIA_TYPE: Final = "image/png"

# Measured on 2048x2048 palette pictures, ms and MB: a smooth map takes 22 / 0.32 at level 1 and
# 39 / 0.16 at 6; a noisy one 68 / 2.2 at level 1 and 502 / 2.1 at 6. Only level 1 is never slow.
_LEVEL: Final = 1

_ROWS: Final = 16  # at a time, so that the float copy stays in the cache

_LONGEST_KEY: Final = 79  # of a PNG keyword, by the standard


def encode(maps: Maps, style: Style, metadata: Metadata) -> Encoded:
    """The heatmap of all maps, with the metadata and the choices of the heatmap as text chunks."""
    drawn = heatmap(maps, style)
    words = {**drawn.facts, **told(maps), **metadata}
    return Encoded((_png(drawn.picture, words),), _MEDIA_TYPE, drawn.facts)


def encode_sweep(sweep: Sweep, style: Style, motion: Motion, metadata: Metadata) -> Encoded:
    """An animated PNG in one range; a viewer without animation shows the first frame."""
    drawn = animation(sweep, style, lines=motion.lines)
    words = {
        **drawn.facts,
        **told(sweep.frames[0], facts=False),
        "sweep": swept(sweep),
        **metadata,
    }
    stills = [
        _png(picture, words if place == 0 else {}) for place, picture in enumerate(drawn.pictures())
    ]
    order = motion.order(len(stills))
    body = animated_png(stills, order, milliseconds=motion.milliseconds, loop=motion.loop)
    return Encoded((body,), _MEDIA_TYPE, drawn.facts)


def encode_labels(labels: LabelMap, metadata: Metadata) -> Encoded:
    """The labels in colours, with a legend, and how many pixels each has as text chunks."""
    return Encoded((_png(label_picture(labels), {**counted(labels), **metadata}),), _MEDIA_TYPE)


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

PNG_SWEEP: Final = SweepFormat(
    name="png",
    media_type=_MEDIA_TYPE,
    suffix=".png",
    help="an animated picture: palette colours, NaN transparent, one range for all frames",
    encode=encode_sweep,
)

PNG_LABELS: Final = LabelFormat(
    name="png",
    media_type=_MEDIA_TYPE,
    suffix=".png",
    help="a picture: a colour for each name, and a legend",
    encode=encode_labels,
)
