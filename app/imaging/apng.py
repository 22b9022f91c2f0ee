"""Animated PNG out of still ones: pixels as each was encoded, and one still in memory at a time.

Source: Portable Network Graphics (third edition), W3C Recommendation, sections 4.9 and 11.3.6.
"""

import struct
from collections.abc import Iterator, Sequence
from zlib import crc32

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_KEEP, _REPLACE = 0, 0  # leave the frame standing; draw the next over it, transparency and all


def animated_png(
    stills: Sequence[bytes], order: Sequence[int], *, milliseconds: int, loop: int
) -> bytes:
    """One animated PNG out of still ones of the same size, mode and palette.

    All that the first one says besides its pixels (palette, transparency, texts) is kept, for it
    is also what a viewer without animation shows.

    Args:
        stills: PNG files.
        order: Which still is shown at each step, beginning with 0. Each step is written out.
        milliseconds: How long each step stands, below 65536.
        loop: How often it runs; 0 is for ever.
    """
    head = [part for part in _chunks(stills[0]) if part[0] not in (b"IDAT", b"IEND")]
    size = head[0][1][:8]  # IHDR begins with width and height
    steps = struct.pack(">IIHHBB", 0, 0, milliseconds, 1000, _KEEP, _REPLACE)
    out = [_SIGNATURE, _chunk(*head[0])]
    out.append(_chunk(b"acTL", struct.pack(">II", len(order), loop)))
    out += [_chunk(*part) for part in head[1:]]
    sequence = 0
    for place, still in enumerate(order):
        out.append(_chunk(b"fcTL", struct.pack(">I", sequence) + size + steps))
        sequence += 1
        for data in _pixels(stills[still]):
            if place == 0:
                out.append(_chunk(b"IDAT", data))
                continue
            out.append(_chunk(b"fdAT", struct.pack(">I", sequence) + data))
            sequence += 1
    return b"".join([*out, _chunk(b"IEND", b"")])


def _pixels(png: bytes) -> Iterator[bytes]:
    return (data for kind, data in _chunks(png) if kind == b"IDAT")


def _chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Each chunk's type and data."""
    place = len(_SIGNATURE)
    while place < len(png):
        length, kind = struct.unpack_from(">I4s", png, place)
        yield kind, png[place + 8 : place + 8 + length]
        place += 12 + length


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", crc32(kind + data))
