"""A map drawn over its primal image, so that one sees which part of the scene moves.

The image is made grey and dim: then every colour in the picture is the map's. The map's opacity
falls to nothing where the map is zero, because zero has a colour too, and a veil of it would only
hide the image.
"""

import numpy as np
from numpy.typing import NDArray

from app.imaging.channel import reduce_channels
from app.imaging.mapdata import FloatArray
from app.imaging.palette import LEVELS, MIDDLE, NAN
from app.imaging.sheet import Sheet

_BLACK, _WHITE = 38.0, 150.0  # the greys that black and white are dimmed to, of 255


def drawn_over(
    sheet: Sheet,
    image: FloatArray,
    *,
    palette: NDArray[np.uint8],
    opacity: float,
    diverging: bool,
    channels: tuple[str, ...],
) -> NDArray[np.uint8]:
    """The sheet in RGBA ``(H, W, 4)``, with the image under each of its panels.

    Args:
        image: The primal image ``(h, w, C)``, drawn as it would be by itself: clipped to [0, 1].
        palette: The sheet's 256 colours, RGB.
        opacity: That of the map where it is largest, in [0, 1].
        diverging: Whether the map is zero at the middle colour rather than at the first.
        channels: The names of the image's channels.
    """
    opaque = np.concatenate([palette, np.full((256, 1), 255, np.uint8)], axis=1)
    opaque[NAN, 3] = 0
    picture = _packed(opaque)[sheet.canvas]
    # A table over all pairs of index and grey: one look-up a pixel instead of a blend.
    table = _packed(_blends(palette, opacity * _strength(diverging=diverging)))
    grey = _dimmed(image, channels)
    height, width = grey.shape
    for top, left in sheet.corners:
        indices = sheet.canvas[top : top + height, left : left + width]
        pairs = indices.astype(np.uint16) << np.uint16(8) | grey
        picture[top : top + height, left : left + width] = table[pairs]
    return picture.view(np.uint8).reshape(*picture.shape, 4)


def _packed(rgba: NDArray[np.uint8]) -> NDArray[np.uint32]:
    return np.ascontiguousarray(rgba).view(np.uint32)[:, 0]


def _strength(*, diverging: bool) -> NDArray[np.float64]:
    """How much of the full opacity each index has ``(256,)``: none at zero, all at the ends."""
    indices = np.arange(256.0)
    distance = np.abs(indices - MIDDLE) / MIDDLE if diverging else indices / (LEVELS - 1)
    # Linear: the first step away from zero is then too faint to draw an edge where nothing is.
    return np.minimum(distance, 1.0)


def _blends(palette: NDArray[np.uint8], opacity: NDArray[np.float64]) -> NDArray[np.uint8]:
    """RGBA for each pair of index and grey ``(65536, 4)``, the index in the upper byte."""
    grey = np.arange(256.0)[np.newaxis, :, np.newaxis]
    share = opacity[:, np.newaxis, np.newaxis]
    table = np.full((256, 256, 4), 255, np.uint8)
    table[:, :, :3] = np.rint(palette[:, np.newaxis, :] * share + grey * (1 - share))
    table[NAN] = 0
    return table.reshape(-1, 4)


def _dimmed(image: FloatArray, channels: tuple[str, ...]) -> NDArray[np.uint8]:
    colour = {"r", "g", "b"} <= {*channels}
    layer = reduce_channels(image, "luminance" if colour else "mean", channels)
    light = np.clip(np.nan_to_num(layer, nan=0.0, posinf=1.0, neginf=0.0), 0.0, 1.0)
    grey: NDArray[np.uint8] = np.rint(_BLACK + (_WHITE - _BLACK) * light).astype(np.uint8)
    return grey
