"""A heatmap: sensitivity maps drawn through a colormap, and what was decided on the way."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from app.imaging.channel import reduce_channels
from app.imaging.choices import Choices, choose
from app.imaging.colormaps import Colormap
from app.imaging.errors import MissingImageError, TooManyPanelsError
from app.imaging.mapdata import FloatArray, MapData
from app.imaging.maps import Maps
from app.imaging.norm import Norm
from app.imaging.overlay import drawn_over
from app.imaging.palette import NAN, palette_of
from app.imaging.rescale import Rescale, index
from app.imaging.sheet import Sheet, arranged, bare_sheet
from app.imaging.style import Style

MOST_PANELS: Final = 64


@dataclass(frozen=True, slots=True, eq=False)
class Heatmap:
    """A picture, and the choices without which it cannot be read.

    Attributes:
        picture: Mode P with the layout of `palette`; mode RGBA when drawn over the image.
        panels: How many components of the parameters are shown.
    """

    picture: Image.Image
    choices: Choices
    panels: int

    @property
    def rescale(self) -> Rescale:
        """The values that the ends of the colormap stand for, in all panels."""
        return self.choices.rescale

    @property
    def colormap(self) -> Colormap:
        """The colours."""
        return self.choices.colormap

    @property
    def norm(self) -> Norm:
        """How values become positions between the ends."""
        return self.choices.norm

    @property
    def clipped(self) -> int:
        """How many of the drawn values lie beyond the range, infinities included."""
        return self.choices.clipped

    @property
    def facts(self) -> Mapping[str, str]:
        """The choices in words, for headers and text chunks."""
        return self.choices.facts


def heatmap(data: Maps | MapData, style: Style | None = None) -> Heatmap:
    """The picture of one map or several: a panel for each component, all in one range.

    Without a colour bar, the map of a scalar has exactly a pixel for a pixel.

    Raises:
        TooManyPanelsError: There are more than `MOST_PANELS` components in all.
        MissingImageError: An overlay without a primal image.
        UnknownNameError: A channel that the image lacks.
    """
    maps = Maps((data,)) if isinstance(data, MapData) else data
    style = style or Style()
    check_drawable(maps, style)
    layers = layers_of(maps, style)
    choices = choose(layers, style, never_negative=maps.never_negative)
    panels = panels_of(layers, choices)
    bare = len(panels) == 1 and not style.colorbar
    sheet = bare_sheet(panels[0]) if bare else sheet_of(panels, maps, style, choices)
    return Heatmap(picture_of(sheet, maps, style, choices), choices, len(panels))


def check_drawable(maps: Maps, style: Style) -> None:
    """Refuse what no picture can show, before anything is drawn.

    Raises:
        TooManyPanelsError: There are more than `MOST_PANELS` components in all.
        MissingImageError: An overlay without a primal image.
    """
    if maps.components > MOST_PANELS:
        who = "The parameters have" if maps.several else "The parameter has"
        raise TooManyPanelsError(
            f"{who} {maps.components} components, and a picture shows at most {MOST_PANELS}. Ask "
            "for fewer entries, for a direction, or for the numbers."
        )
    if style.overlay > 0 and maps.image is None:
        raise MissingImageError("An overlay needs the primal image, and this map has none.")


def layers_of(maps: Maps, style: Style) -> FloatArray:
    """What is drawn of each component, as ``(components, H, W)``."""
    layers = [
        reduce_channels(component, style.channel, maps.channels)
        for entry in maps.entries
        for component in _components(entry)
    ]
    stacked = layers[0][np.newaxis] if len(layers) == 1 else np.stack(layers)
    return np.abs(stacked) if style.norm == "abs" else stacked


def _components(entry: MapData) -> list[FloatArray]:
    values = entry.values.reshape(*entry.values.shape[:3], -1)
    return [values[..., place] for place in range(values.shape[3])]


def panels_of(layers: FloatArray, choices: Choices) -> list[NDArray[np.uint8]]:
    """The palette indices of each layer of ``(components, H, W)``."""
    diverging = choices.colormap.diverging
    return [
        index(layer, choices.rescale, norm=choices.norm, diverging=diverging) for layer in layers
    ]


def sheet_of(
    panels: Sequence[NDArray[np.uint8]],
    maps: Maps,
    style: Style,
    choices: Choices,
    *,
    line: str = "",
) -> Sheet:
    """The panels in their grid, with all the words and the bar that the style asks for.

    Args:
        line: A line above the panels for what changes from frame to frame.
    """
    return arranged(
        panels,
        labels=maps.labels,
        columns=maps.columns,
        caption=maps.caption if style.colorbar else "",
        scale=choices.scale if style.colorbar else None,
        line=line,
    )


def picture_of(sheet: Sheet, maps: Maps, style: Style, choices: Choices) -> Image.Image:
    """The sheet in its colours; over the image where the style asks for that."""
    palette = palette_of(choices.colormap.lut)
    if style.overlay > 0 and maps.image is not None:
        rgba = drawn_over(
            sheet,
            maps.image,
            palette=palette,
            opacity=style.overlay,
            diverging=choices.colormap.diverging,
            channels=maps.channels,
        )
        return Image.fromarray(rgba)
    return indexed(sheet.canvas, palette)


def indexed(canvas: NDArray[np.uint8], palette: NDArray[np.uint8]) -> Image.Image:
    """A picture of mode P: palette indices ``(H, W)`` with their 256 RGB colours."""
    picture = Image.fromarray(np.ascontiguousarray(canvas))
    picture.putpalette(palette.tobytes())
    picture.info["transparency"] = NAN
    return picture
