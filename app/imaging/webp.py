"""Animated WebP, lossless, out of still ones: every frame stays, even one like that before it.

Source: RFC 9649, WebP Image Format, section 2.
"""

import struct
from collections.abc import Iterator, Sequence

LARGEST_SIDE = 16_383  # of a lossless picture, whose sides are counted in 14 bits

_ALPHA, _EXIF, _ANIMATION = 0x10, 0x08, 0x02
_DO_NOT_BLEND = 0x02  # a transparent pixel replaces what was there, instead of showing it


def animated_webp(
    stills: Sequence[bytes],
    order: Sequence[int],
    *,
    size: tuple[int, int],
    milliseconds: int,
    loop: int,
    exif: bytes,
) -> bytes:
    """One animated WebP out of still lossless ones.

    Args:
        stills: WebP files of nothing but a lossless picture.
        order: Which still is shown at each step. Each step is written out.
        size: Width and height of every still, at most `LARGEST_SIDE`.
        milliseconds: How long each step stands, below 2**24.
        loop: How often it runs; 0 is for ever.
        exif: A TIFF structure with what is to be said in words.
    """
    width, height = (_24_bits(side - 1) for side in size)
    flags = bytes([_ALPHA | _EXIF | _ANIMATION, 0, 0, 0])
    background = bytes(4)  # transparent
    head = bytes(6) + width + height + _24_bits(milliseconds) + bytes([_DO_NOT_BLEND])
    body = [
        _chunk(b"VP8X", flags + width + height),
        _chunk(b"ANIM", background + struct.pack("<H", loop)),
        *(_chunk(b"ANMF", head + _picture(stills[still])) for still in order),
        _chunk(b"EXIF", exif),
    ]
    return _chunk(b"RIFF", b"WEBP" + b"".join(body))


def _picture(webp: bytes) -> bytes:
    """The chunk with the pixels, whole, out of a still file."""
    return b"".join(_chunk(kind, data) for kind, data in _chunks(webp) if kind == b"VP8L")


def _chunks(webp: bytes) -> Iterator[tuple[bytes, bytes]]:
    place = 12  # behind RIFF, its length, and WEBP
    while place < len(webp):
        kind, length = struct.unpack_from("<4sI", webp, place)
        yield kind, webp[place + 8 : place + 8 + length]
        place += 8 + length + length % 2


def _chunk(kind: bytes, data: bytes) -> bytes:
    return kind + struct.pack("<I", len(data)) + data + bytes(len(data) % 2)


def _24_bits(number: int) -> bytes:
    return struct.pack("<I", number)[:3]
