"""The formats that a result can be sent in. A newcomer adds a file here, and its line below."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from app.imaging.errors import UnknownNameError
from app.imaging.formats.contract import Encoded, EncodeImage, EncodeMap, Format
from app.imaging.formats.json import JSON
from app.imaging.formats.npy import NPY
from app.imaging.formats.npz import NPZ
from app.imaging.formats.png import PNG

__all__ = [
    "FORMATS",
    "EncodeImage",
    "EncodeMap",
    "Encoded",
    "Format",
    "format_named",
    "table",
]


def table(formats: Iterable[Format]) -> Mapping[str, Format]:
    """A frozen table of formats by name.

    Raises:
        ValueError: Two formats share a name.
    """
    by_name: dict[str, Format] = {}
    for entry in formats:
        if entry.name in by_name:
            raise ValueError(f"Two formats are called {entry.name!r}.")
        by_name[entry.name] = entry
    return MappingProxyType(by_name)


FORMATS: Final[Mapping[str, Format]] = table([PNG, NPY, NPZ, JSON])


def format_named(name: str) -> Format:
    """The format of this name.

    Raises:
        UnknownNameError: There is none (``unknown_format``).
    """
    if name not in FORMATS:
        raise UnknownNameError("format", name, FORMATS)
    return FORMATS[name]
