"""What every format offers: two encoders, and the names by which it is asked for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from app.imaging.mapdata import FloatArray, MapData
from app.imaging.style import Style

_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """A result in bytes.

    Attributes:
        chunks: What to send, in order. A memoryview shares the memory of the array it came from.
        facts: What the encoder decided by itself, such as ``rescale``.
    """

    chunks: tuple[bytes | memoryview, ...]
    media_type: str
    facts: Mapping[str, str] = field(default_factory=lambda: _NOTHING)

    @property
    def size(self) -> int:
        """How many bytes there are in all."""
        return sum(memoryview(chunk).nbytes for chunk in self.chunks)

    def joined(self) -> bytes:
        """All chunks in one piece, copied."""
        return b"".join(self.chunks)


# What was asked and how it was got, as plain data; each format writes it in its own way.
Metadata = Mapping[str, Any]

# A sensitivity map in bytes. The style is for formats that draw; the rest ignore it.
EncodeMap = Callable[[MapData, Style, Metadata], Encoded]

# A primal image ``(H, W, C)`` in bytes.
EncodeImage = Callable[[FloatArray, Metadata], Encoded]


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A line of the table of formats.

    Attributes:
        suffix: With its dot, for file names.
    """

    name: str
    media_type: str
    suffix: str
    help: str
    encode: EncodeMap
    encode_image: EncodeImage
