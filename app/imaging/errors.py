"""What can go wrong between an array and its bytes.

ImagingError                  imaging_error
├── UnknownNameError          unknown_colormap | unknown_channel | unknown_norm | unknown_format
├── InvalidMapError           invalid_map
├── InvalidRescaleError       invalid_rescale
├── InvalidStyleError         invalid_style
├── SeveralArraysError        several_arrays
├── TooManyPanelsError        too_many_panels
├── TooManyClassesError       too_many_classes
├── PictureTooLargeError      picture_too_large
├── MissingImageError         missing_image
└── InvalidMetadataError      invalid_metadata
"""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import ClassVar, Literal

NamedKind = Literal["colormap", "channel", "norm", "format"]

_LONGEST_QUOTE = 60


class ImagingError(ValueError):
    """The base of every error that this room raises.

    Attributes:
        code: A stable snake_case word for programs; the message is for people.
    """

    default_code: ClassVar[str] = "imaging_error"

    def __init__(self, message: str, *, code: str | None = None) -> None:
        """Keep the message, and the code where it is not the class's own."""
        super().__init__(message)
        self.code = code or self.default_code


class UnknownNameError(ImagingError):
    """A name that is in none of our tables.

    Attributes:
        choices: Every name that would have been accepted.
        nearest: The closest of them, or None when nothing is close.
    """

    default_code = "unknown_name"

    def __init__(self, kind: NamedKind, asked: object, choices: Iterable[str]) -> None:
        """Say what was asked, what is nearest, and all there is to choose from."""
        self.choices = tuple(choices)
        self.nearest = nearest(str(asked), self.choices)
        hint = "" if self.nearest is None else f" Did you mean {self.nearest!r}?"
        message = f"No {kind} is called {quote(asked)}.{hint} Choose from: {listed(self.choices)}."
        super().__init__(message, code=f"unknown_{kind}")


class InvalidMapError(ImagingError):
    """Arrays whose shapes, types or names do not fit together."""

    default_code = "invalid_map"


class InvalidRescaleError(ImagingError):
    """A value range that is not two finite numbers in increasing order."""

    default_code = "invalid_rescale"


class InvalidStyleError(ImagingError):
    """A style field outside its allowed values."""

    default_code = "invalid_style"


class SeveralArraysError(ImagingError):
    """Several maps, and a format that holds one array."""

    default_code = "several_arrays"


class TooManyPanelsError(ImagingError):
    """More components of the parameters than a grid of panels can show."""

    default_code = "too_many_panels"


class TooManyClassesError(ImagingError):
    """More names on a label map than there are colours to tell them apart."""

    default_code = "too_many_classes"


class PictureTooLargeError(ImagingError):
    """A picture with a side that its format has no room for."""

    default_code = "picture_too_large"


class MissingImageError(ImagingError):
    """An overlay was asked for, but there is no primal image to draw on."""

    default_code = "missing_image"


class InvalidMetadataError(ImagingError):
    """A metadata key that the format cannot store."""

    default_code = "invalid_metadata"


def nearest(asked: str, choices: Iterable[str]) -> str | None:
    """The choice most like what was asked, whatever its case, or None when nothing is close."""
    by_folded = {choice.casefold(): choice for choice in choices}
    # A longer name would make the comparison slow, and could not be close to any of ours.
    close = get_close_matches(asked[:_LONGEST_QUOTE].casefold(), by_folded, n=1)
    return by_folded[close[0]] if close else None


def quote(asked: object) -> str:
    """What was asked, quoted, and cut short where it would swamp the message."""
    shown = repr(asked)
    return shown if len(shown) <= _LONGEST_QUOTE else f"{shown[:_LONGEST_QUOTE]}..."


def listed(choices: Iterable[str]) -> str:
    """The choices in one line."""
    return ", ".join(choices) or "(there are none)"
