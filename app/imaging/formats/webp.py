"""WebP: a sweep in motion, lossless. What was asked and decided stands in Exif as JSON."""

import json
from io import BytesIO
from typing import Final

from PIL import ExifTags, Image

from app.imaging.animation import animation
from app.imaging.errors import PictureTooLargeError
from app.imaging.formats.contract import Encoded, Metadata, SweepFormat
from app.imaging.formats.words import swept, told
from app.imaging.style import Style
from app.imaging.sweep import Motion, Sweep
from app.imaging.webp import LARGEST_SIDE, animated_webp

_MEDIA_TYPE: Final = "image/webp"


def encode_sweep(sweep: Sweep, style: Style, motion: Motion, metadata: Metadata) -> Encoded:
    """An animated WebP in one range, each frame as the PNG has it.

    Raises:
        PictureTooLargeError: A side of the picture is longer than WebP can count.
    """
    drawn = animation(sweep, style, lines=motion.lines)
    height, width = drawn.layout.canvas.shape
    if max(height, width) > LARGEST_SIDE:
        raise PictureTooLargeError(
            f"A side of a WebP picture is at most {LARGEST_SIDE} pixels long, and this one is "
            f"{width} x {height}. Ask for a smaller one, or for png."
        )
    stills = [_still(picture) for picture in drawn.pictures()]
    words = {
        **drawn.facts,
        **told(sweep.frames[0], facts=False),
        "sweep": swept(sweep),
        **metadata,
    }
    body = animated_webp(
        stills,
        motion.order(len(stills)),
        size=(width, height),
        milliseconds=motion.milliseconds,
        loop=motion.loop,
        exif=_exif(words),
    )
    return Encoded((body,), _MEDIA_TYPE, drawn.facts)


def _still(picture: Image.Image) -> bytes:
    stream = BytesIO()
    # Measured on 1024x1024, ms and kB: a smooth map takes 24 / 73 with no effort, 60 / 65 so, and
    # 153 / 63 with twice as much; a noisy one about 100 / 985, whatever the effort.
    effort = {"quality": 25, "method": 1}
    # `exact` keeps the colour under a transparent pixel.
    picture.convert("RGBA").save(stream, "WEBP", lossless=True, exact=True, **effort)
    return stream.getvalue()


def _exif(words: Metadata) -> bytes:
    exif = Image.Exif()
    exif[ExifTags.Base.ImageDescription] = json.dumps(words, allow_nan=False)  # ASCII, as it must
    return exif.tobytes().removeprefix(b"Exif\0\0")


WEBP_SWEEP: Final = SweepFormat(
    name="webp",
    media_type=_MEDIA_TYPE,
    suffix=".webp",
    help="an animated picture, lossless, NaN transparent, one range for all frames",
    encode=encode_sweep,
)
