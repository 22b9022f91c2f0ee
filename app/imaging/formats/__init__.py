"""The formats that a result can be sent in, a table for each kind of result.

A newcomer adds a file here, and its line below.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeVar

from app.imaging.errors import UnknownNameError
from app.imaging.formats.contract import (
    Encoded,
    EncodeImage,
    EncodeLabels,
    EncodeMap,
    EncodeSweep,
    Encoding,
    Format,
    LabelFormat,
    SweepFormat,
)
from app.imaging.formats.json import JSON, JSON_LABELS, JSON_SWEEP
from app.imaging.formats.npy import NPY, NPY_LABELS, NPY_SWEEP
from app.imaging.formats.npz import NPZ, NPZ_SWEEP
from app.imaging.formats.png import PNG, PNG_LABELS, PNG_SWEEP
from app.imaging.formats.webp import WEBP_SWEEP

__all__ = [
    "FORMATS",
    "LABEL_FORMATS",
    "SWEEP_FORMATS",
    "EncodeImage",
    "EncodeLabels",
    "EncodeMap",
    "EncodeSweep",
    "Encoded",
    "Encoding",
    "Format",
    "LabelFormat",
    "SweepFormat",
    "format_named",
    "label_format_named",
    "sweep_format_named",
    "table",
]

Entry = TypeVar("Entry", bound=Encoding[Any])


def table(formats: Iterable[Entry]) -> Mapping[str, Entry]:
    """A frozen table of formats by name.

    Raises:
        ValueError: Two formats share a name.
    """
    by_name: dict[str, Entry] = {}
    for entry in formats:
        if entry.name in by_name:
            raise ValueError(f"Two formats are called {entry.name!r}.")
        by_name[entry.name] = entry
    return MappingProxyType(by_name)


FORMATS: Final[Mapping[str, Format]] = table([PNG, NPY, NPZ, JSON])

SWEEP_FORMATS: Final[Mapping[str, SweepFormat]] = table(
    [PNG_SWEEP, WEBP_SWEEP, NPY_SWEEP, NPZ_SWEEP, JSON_SWEEP]
)

LABEL_FORMATS: Final[Mapping[str, LabelFormat]] = table([PNG_LABELS, NPY_LABELS, JSON_LABELS])


def format_named(name: str) -> Format:
    """The format of this name for maps and images.

    Raises:
        UnknownNameError: There is none (``unknown_format``).
    """
    return _named(name, FORMATS)


def sweep_format_named(name: str) -> SweepFormat:
    """The format of this name for sweeps.

    Raises:
        UnknownNameError: There is none (``unknown_format``).
    """
    return _named(name, SWEEP_FORMATS)


def label_format_named(name: str) -> LabelFormat:
    """The format of this name for label maps.

    Raises:
        UnknownNameError: There is none (``unknown_format``).
    """
    return _named(name, LABEL_FORMATS)


def _named(name: str, formats: Mapping[str, Entry]) -> Entry:
    if name not in formats:
        raise UnknownNameError("format", name, formats)
    return formats[name]
