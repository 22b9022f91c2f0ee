"""Arrays to bytes: heatmaps and files. Knows nothing of renderers, torch or HTTP.

The way of a map: `MapData` is reduced to a layer for each component of the parameter (`channel`),
given a range (`rescale`) and a norm (`norm`), turned into palette indices (`rescale.index`),
arranged with labels and a colour bar (`sheet`, `colorbar`), and written (`formats`). What each
entry of a picture's palette is for stands in `palette`.
"""

from app.imaging.channel import REDUCTIONS, channel_choices, reduce_channels
from app.imaging.colormaps import (
    COLORMAPS,
    DEFAULT_DIVERGING,
    DEFAULT_OVERLAY,
    DEFAULT_SEQUENTIAL,
    Colormap,
    ColormapEntry,
    lookup,
)
from app.imaging.errors import (
    ImagingError,
    InvalidMapError,
    InvalidMetadataError,
    InvalidRescaleError,
    InvalidStyleError,
    MissingImageError,
    TooManyPanelsError,
    UnknownNameError,
)
from app.imaging.formats import FORMATS, Encoded, EncodeImage, EncodeMap, Format, format_named
from app.imaging.heatmap import MOST_PANELS, Heatmap, heatmap
from app.imaging.mapdata import MapData
from app.imaging.norm import NORMS, Norm, norm_for
from app.imaging.rescale import Rescale, index, robust_rescale
from app.imaging.style import Style

__all__ = [
    "COLORMAPS",
    "DEFAULT_DIVERGING",
    "DEFAULT_OVERLAY",
    "DEFAULT_SEQUENTIAL",
    "FORMATS",
    "MOST_PANELS",
    "NORMS",
    "REDUCTIONS",
    "Colormap",
    "ColormapEntry",
    "EncodeImage",
    "EncodeMap",
    "Encoded",
    "Format",
    "Heatmap",
    "ImagingError",
    "InvalidMapError",
    "InvalidMetadataError",
    "InvalidRescaleError",
    "InvalidStyleError",
    "MapData",
    "MissingImageError",
    "Norm",
    "Rescale",
    "Style",
    "TooManyPanelsError",
    "UnknownNameError",
    "channel_choices",
    "format_named",
    "heatmap",
    "index",
    "lookup",
    "norm_for",
    "reduce_channels",
    "robust_rescale",
]
