"""One map, or several of one image: what a picture or a file is made of."""

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.imaging.errors import InvalidMapError, listed, quote
from app.imaging.mapdata import MapData

MIXED_UNITS = "per unit of each parameter"


@dataclass(frozen=True, slots=True, eq=False)
class Maps:
    """Maps of one image with respect to one or several parameters, in the order asked for.

    Attributes:
        entries: At least one map. Several have different names, and the same image and channels.
        title: What all of them are; left empty, the titles of all in one line.

    Raises:
        InvalidMapError: No map at all, or several that do not belong together.
    """

    entries: tuple[MapData, ...]
    title: str = ""

    def __post_init__(self) -> None:
        """Check that these are maps of one image, and that each can be told from the others."""
        object.__setattr__(self, "entries", tuple(self.entries))
        if not self.entries:
            raise InvalidMapError("There is no map here; give at least one.")
        for entry in self.entries[1:]:
            _check_alike(self.entries[0], entry)
        names = [entry.name for entry in self.entries]
        if len(names) > 1 and (len(set(names)) < len(names) or "" in names):
            raise InvalidMapError(
                f"Several maps need a different name each; got {listed(map(quote, names))}."
            )
        if not self.title:
            titles = ", ".join(entry.title for entry in self.entries if entry.title)
            object.__setattr__(self, "title", titles)

    @property
    def several(self) -> bool:
        """Whether each map must be told from others by its name."""
        return len(self.entries) > 1

    @property
    def image(self) -> NDArray[Any] | None:
        """The primal image ``(H, W, C)`` of all, where there is one."""
        return self.entries[0].image

    @property
    def image_shape(self) -> tuple[int, ...]:
        """The shape ``(H, W, C)`` of the image that all are derivatives of."""
        return self.entries[0].values.shape[:3]

    @property
    def channels(self) -> tuple[str, ...]:
        """The names of the image's channels."""
        return tuple(self.entries[0].channels)

    @property
    def components(self) -> int:
        """How many components all parameters have together: the panels of a picture."""
        return sum(prod(entry.wrt_shape) for entry in self.entries)

    @property
    def columns(self) -> int | None:
        """The columns of a matrix that stands alone; None where nothing fixes the arrangement."""
        if self.several or len(self.entries[0].wrt_shape) != 2:
            return None
        return self.entries[0].wrt_shape[1]

    @property
    def labels(self) -> tuple[str, ...]:
        """A name for each component, in order; none where a scalar stands alone."""
        if not self.several:
            return self.entries[0].labels
        return tuple(label for entry in self.entries for label in entry.labels or (entry.name,))

    @property
    def unit(self) -> str:
        """The unit of the numbers, or that there is more than one."""
        units = {entry.unit for entry in self.entries}
        return units.pop() if len(units) == 1 else MIXED_UNITS

    @property
    def caption(self) -> str:
        """Title and unit in one line."""
        return " ".join(part for part in (self.title, self.unit) if part)

    @property
    def never_negative(self) -> bool:
        """Whether no value of any map can be below zero."""
        return all(entry.never_negative for entry in self.entries)


def _check_alike(first: MapData, other: MapData) -> None:
    """Raise InvalidMapError unless both are maps of the same image."""
    if other.values.shape[:3] != first.values.shape[:3] or other.channels != first.channels:
        raise InvalidMapError(
            f"Maps shown together are of one image; {quote(first.name)} is of an image "
            f"{first.values.shape[:3]} with channels {first.channels}, {quote(other.name)} of an "
            f"image {other.values.shape[:3]} with channels {other.channels}."
        )
    if not _same(first.image, other.image):
        raise InvalidMapError(
            f"Maps shown together are of one image; that of {quote(other.name)} is another than "
            f"that of {quote(first.name)}."
        )


def _same(one: NDArray[Any] | None, other: NDArray[Any] | None) -> bool:
    if one is None or other is None or one is other:
        return one is other
    return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=True)
