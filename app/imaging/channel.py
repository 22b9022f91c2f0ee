"""One number a pixel out of several channels."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import numpy as np

from app.imaging.errors import UnknownNameError
from app.imaging.mapdata import FloatArray

REDUCTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "mean": "the mean of all channels",
        "luminance": "0.2126 r + 0.7152 g + 0.0722 b (Rec. 709, linear light); rgb images only",
        "norm": "the Euclidean length over all channels, never negative",
    }
)

_LUMINANCE = {"r": 0.2126, "g": 0.7152, "b": 0.0722}  # ITU-R BT.709, item 3.2
_ROWS = 16  # rows at a time for the norm, so that its float64 copy stays in the cache


def channel_choices(names: tuple[str, ...]) -> tuple[str, ...]:
    """Everything that may be asked of an image with these channels."""
    reductions = [name for name in REDUCTIONS if name != "luminance" or set(_LUMINANCE) <= {*names}]
    indices = [str(index) for index in range(len(names))]
    return tuple(dict.fromkeys([*reductions, *names, *indices]))


def is_magnitude(channel: str | int) -> bool:
    """Whether this choice of channel gives values that are never negative."""
    return channel == "norm"


def reduce_channels(values: FloatArray, channel: str | int, names: tuple[str, ...]) -> FloatArray:
    """The layer ``(H, W)`` that a choice of channel makes of values ``(H, W, C)``.

    A channel's own name comes before a reduction's. NaN in any channel is NaN in the layer.

    Raises:
        UnknownNameError: The image offers no such channel (``unknown_channel``).
    """
    choices = channel_choices(names)
    asked = str(channel)
    if asked not in choices:
        raise UnknownNameError("channel", channel, choices)
    if asked in names:
        return values[:, :, names.index(asked)]
    if asked == "norm":
        return _euclidean(values)
    if asked in REDUCTIONS:
        return _weighted(values, _weights(asked, names))
    return values[:, :, int(asked)]


def _weights(reduction: str, names: tuple[str, ...]) -> list[float]:
    if reduction == "luminance":
        return [_LUMINANCE.get(name, 0.0) for name in names]
    return [1 / len(names)] * len(names)


def _weighted(values: FloatArray, weights: list[float]) -> FloatArray:
    # A product with a vector is 20 times faster than `mean` over an axis of three. Infinities of
    # opposite signs give NaN, as they should, and float16 is too narrow to add up in.
    wide = values.astype(np.result_type(values.dtype, np.float32), copy=False)
    used = [index for index, weight in enumerate(weights) if weight]
    if len(used) < len(weights):  # 0 * NaN would carry the NaN of an unused channel over
        wide = wide[:, :, used]
    wide = np.ascontiguousarray(wide)  # or BLAS rounds the same numbers by how they lie in memory
    with np.errstate(over="ignore", invalid="ignore"):
        layer: FloatArray = wide @ np.asarray([weights[index] for index in used], wide.dtype)
    return layer


def _euclidean(values: FloatArray) -> FloatArray:
    layer = np.empty(values.shape[:2], np.result_type(values.dtype, np.float32))
    if values.dtype == np.float64:  # squares of large or tiny numbers leave float64, hypot does not
        with np.errstate(over="ignore"):
            np.hypot.reduce(values, axis=2, out=layer)
        layer[np.isnan(values).any(axis=2)] = np.nan  # hypot(inf, nan) is inf
        return layer
    for top in range(0, len(values), _ROWS):  # in float64 no square of a float32 overflows
        wide = values[top : top + _ROWS].astype(np.float64)
        np.square(wide, out=wide)
        with np.errstate(over="ignore"):
            layer[top : top + _ROWS] = np.sqrt(wide @ np.ones(values.shape[2]))
    return layer
