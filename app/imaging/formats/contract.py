"""What every format offers: an encoder for what it can hold, and the names it is asked for by."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from app.imaging.labels import LabelMap
from app.imaging.mapdata import FloatArray
from app.imaging.maps import Maps
from app.imaging.style import Style
from app.imaging.sweep import Motion, Sweep

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

# One sensitivity map, or several of one image, in bytes. The style is for formats that draw; the
# rest ignore it.
EncodeMap = Callable[[Maps, Style, Metadata], Encoded]

# A primal image ``(H, W, C)`` in bytes.
EncodeImage = Callable[[FloatArray, Metadata], Encoded]

# The maps along a range of a parameter in bytes. The way it moves is for formats that move.
EncodeSweep = Callable[[Sweep, Style, Motion, Metadata], Encoded]

# A label map in bytes.
EncodeLabels = Callable[[LabelMap, Metadata], Encoded]

Encode = TypeVar("Encode")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Encoding(Generic[Encode]):
    """A line of a table: the names by which a way to write something is asked for.

    Attributes:
        suffix: With its dot, for file names.
        several: Whether there is room in it for more than one map of an image.
        head: What stands before the numbers of an array whose own memory is all that follows, so
            that its rows can be sent before all are known; None of other formats.
    """

    name: str
    media_type: str
    suffix: str
    help: str
    encode: Encode
    several: bool = True
    head: Callable[[FloatArray], bytes] | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Format(Encoding[EncodeMap]):
    """A line of the table of formats for maps and images."""

    encode_image: EncodeImage


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SweepFormat(Encoding[EncodeSweep]):
    """A line of the table of formats for sweeps."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LabelFormat(Encoding[EncodeLabels]):
    """A line of the table of formats for label maps."""
