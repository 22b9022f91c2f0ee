"""What there is to draw or to write: the numbers of one sensitivity map and their names."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.imaging.errors import InvalidMapError

FloatArray = NDArray[np.floating[Any]]

_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MapData:
    """A sensitivity map as plain arrays, with the words that belong to it.

    Attributes:
        values: d(image)/d(wrt), of shape ``(H, W, C, *wrt.shape)``, float16, float32 or float64.
        image: The primal image ``(H, W, C)``, nominally in [0, 1], where there is one.
        channels: A name for each of the C channels; a string gives one letter each (``"rgb"``).
            Left empty, the channels are called ``"0"``, ``"1"`` and so on.
        name: What the map is called among others, for example ``radius`` or ``light[2]``.
        labels: A name for each component of the parameter, in C order. Left empty, a map of
            several components gets its indices behind its name, such as ``light[0, 2]``.
        title: What the numbers are, for example ``d(image)/d(radius)``.
        unit: What the numbers are measured in, for example ``per scene unit``.
        never_negative: Whether no value can be below zero, as a variance cannot: its range then
            starts at zero, whatever the values happen to be.
        facts: What else is known of this map alone, such as its statistics, as plain data.
    """

    values: NDArray[Any]  # its type is checked below, with a message for the reader
    image: NDArray[Any] | None = None
    channels: tuple[str, ...] | str = ()
    name: str = ""
    labels: tuple[str, ...] = ()
    title: str = ""
    unit: str = ""
    never_negative: bool = False
    facts: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)

    def __post_init__(self) -> None:
        """Check that the shapes fit, and fill in the names that were left out."""
        _check_values(self.values)
        if self.image is not None and self.image.shape != self.values.shape[:3]:
            raise InvalidMapError(
                f"The image has shape {self.image.shape}, but the map {self.values.shape} is the "
                f"derivative of an image of shape {self.values.shape[:3]}."
            )
        set_field = object.__setattr__  # the one way to complete a frozen instance
        set_field(self, "channels", _channel_names(self.channels, self.values.shape[2]))
        set_field(self, "labels", _labels(self.labels, self.name, self.wrt_shape))

    @property
    def wrt_shape(self) -> tuple[int, ...]:
        """The shape of the parameter; ``()`` for a scalar."""
        return self.values.shape[3:]


def _check_values(values: NDArray[Any]) -> None:
    if values.ndim < 3 or values.size == 0:
        raise InvalidMapError(
            f"A map has shape (H, W, C, ...) with nothing empty, but got {values.shape}."
        )
    if values.dtype.kind != "f" or values.dtype.itemsize > 8:
        raise InvalidMapError(
            f"A map is float16, float32 or float64, but got {values.dtype}. Split a complex map "
            "into its real and imaginary parts."
        )


def _channel_names(names: tuple[str, ...] | str, count: int) -> tuple[str, ...]:
    named = tuple(names) or tuple(str(index) for index in range(count))
    if len(named) != count or len(set(named)) != count:
        raise InvalidMapError(
            f"The image has {count} channels, so it needs {count} different names; got {named}."
        )
    return named


def _labels(labels: tuple[str, ...], name: str, wrt_shape: tuple[int, ...]) -> tuple[str, ...]:
    count = prod(wrt_shape)
    if labels and len(labels) != count:
        raise InvalidMapError(
            f"The parameter has shape {wrt_shape}, so it needs {count} labels; got {len(labels)}."
        )
    if labels or not wrt_shape:
        return tuple(labels)
    if count > MOST_DEFAULT_LABELS:
        return ()
    return tuple(f"{name}{list(index)}" for index in np.ndindex(wrt_shape))


# An image-shaped parameter has a million components, and nobody reads a million labels.
MOST_DEFAULT_LABELS = 1024
