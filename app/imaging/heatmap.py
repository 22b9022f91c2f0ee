"""A heatmap: a sensitivity map drawn through a colormap, and what was decided on the way."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Final

import numpy as np
from PIL import Image

from app.imaging.channel import is_magnitude, reduce_channels
from app.imaging.colorbar import Scale
from app.imaging.colormaps import (
    DEFAULT_DIVERGING,
    DEFAULT_OVERLAY,
    DEFAULT_SEQUENTIAL,
    Colormap,
    lookup,
)
from app.imaging.errors import MissingImageError, TooManyPanelsError
from app.imaging.mapdata import FloatArray, MapData
from app.imaging.norm import Norm, norm_for
from app.imaging.overlay import drawn_over
from app.imaging.palette import NAN, palette_of
from app.imaging.rescale import Rescale, index, robust_rescale
from app.imaging.sheet import Sheet, arranged, bare_sheet
from app.imaging.style import Style

MOST_PANELS: Final = 64


@dataclass(frozen=True, slots=True, eq=False)
class Heatmap:
    """A picture, and the choices without which it cannot be read.

    Attributes:
        picture: Mode P with the layout of `palette`; mode RGBA when drawn over the image.
        clipped: How many of the drawn values lie beyond the range, infinities included.
        panels: How many components of the parameter are shown.
    """

    picture: Image.Image
    rescale: Rescale
    colormap: Colormap
    norm: Norm
    channel: str
    clipped: int
    panels: int

    @property
    def facts(self) -> Mapping[str, str]:
        """The choices in words, for headers and text chunks."""
        facts = {
            "rescale": f"[{self.rescale.low!r}, {self.rescale.high!r}]",
            "colormap": self.colormap.name,
            "norm": self.norm.name,
            "channel": self.channel,
            "clipped": str(self.clipped),
        }
        if self.norm.linthresh is not None:
            facts["linthresh"] = repr(self.norm.linthresh)
        return facts


def heatmap(data: MapData, style: Style | None = None) -> Heatmap:
    """The picture of a map: one panel for each component of the parameter, all in one range.

    Without a colour bar, the map of a scalar has exactly a pixel for a pixel.

    Raises:
        TooManyPanelsError: The parameter has more than `MOST_PANELS` components.
        MissingImageError: An overlay without a primal image.
        UnknownNameError: A channel that the image lacks.
    """
    style = style or Style()
    _check(data, style)
    layers = _layers(data, style)
    rescale = _rescale(layers, style)
    colormap = _colormap(rescale, style)
    with np.errstate(over="ignore", invalid="ignore"):
        below = int(np.count_nonzero(layers < rescale.low))
        above = int(np.count_nonzero(layers > rescale.high))
    scale = Scale(
        rescale=rescale,
        norm=norm_for(style.norm, rescale.limit),
        diverging=colormap.diverging,
        clipped_below=below > 0,
        clipped_above=above > 0,
    )
    sheet = _sheet(layers, data, style, scale)
    return Heatmap(
        picture=_picture(sheet, data, style, colormap),
        rescale=rescale,
        colormap=colormap,
        norm=scale.norm,
        channel=str(style.channel),
        clipped=below + above,
        panels=len(layers),
    )


def _check(data: MapData, style: Style) -> None:
    count = prod(data.wrt_shape)
    if count > MOST_PANELS:
        raise TooManyPanelsError(
            f"The parameter has {count} components, and a picture shows at most {MOST_PANELS}. Ask "
            "for fewer entries of it, for a direction, or for the numbers."
        )
    if style.overlay > 0 and data.image is None:
        raise MissingImageError("An overlay needs the primal image, and this map has none.")


def _layers(data: MapData, style: Style) -> FloatArray:
    """What is drawn, as ``(panels, H, W)``."""
    values = data.values.reshape(*data.values.shape[:3], -1)
    layers = [
        reduce_channels(values[..., place], style.channel, tuple(data.channels))
        for place in range(values.shape[3])
    ]
    stacked = layers[0][np.newaxis] if len(layers) == 1 else np.stack(layers)
    return np.abs(stacked) if style.norm == "abs" else stacked


def _rescale(layers: FloatArray, style: Style) -> Rescale:
    if style.rescale is not None:
        return Rescale(*style.rescale)
    found = robust_rescale(layers, symmetric=style.symmetric)
    never_negative = style.norm == "abs" or is_magnitude(style.channel)
    return Rescale(0.0, found.high) if never_negative and style.symmetric else found


def _colormap(rescale: Rescale, style: Style) -> Colormap:
    if style.colormap_name is not None:
        return lookup(style.colormap_name)
    if not rescale.low < 0 < rescale.high:
        return lookup(DEFAULT_SEQUENTIAL)
    return lookup(DEFAULT_OVERLAY if style.overlay > 0 else DEFAULT_DIVERGING)


def _sheet(layers: FloatArray, data: MapData, style: Style, scale: Scale) -> Sheet:
    panels = [
        index(layer, scale.rescale, norm=scale.norm, diverging=scale.diverging) for layer in layers
    ]
    if len(panels) == 1 and not style.colorbar:
        return bare_sheet(panels[0])
    return arranged(
        panels,
        labels=data.labels,
        columns=data.wrt_shape[1] if len(data.wrt_shape) == 2 else None,  # a matrix, as one
        caption=data.caption if style.colorbar else "",
        scale=scale if style.colorbar else None,
    )


def _picture(sheet: Sheet, data: MapData, style: Style, colormap: Colormap) -> Image.Image:
    palette = palette_of(colormap.lut)
    if style.overlay > 0 and data.image is not None:
        rgba = drawn_over(
            sheet,
            data.image,
            palette=palette,
            opacity=style.overlay,
            diverging=colormap.diverging,
            channels=tuple(data.channels),
        )
        return Image.fromarray(rgba)
    picture = Image.fromarray(np.ascontiguousarray(sheet.canvas))
    picture.putpalette(palette.tobytes())
    picture.info["transparency"] = NAN
    return picture
