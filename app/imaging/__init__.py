"""Arrays to bytes: heatmaps and files. Knows nothing of renderers, torch or HTTP.

The way of a map: each `MapData` of some `Maps` is reduced to a layer for each component of its
parameter (`channel`); all are given a range, a colormap and a norm (`choices`), turned into palette
indices (`rescale.index`), arranged with labels and a colour bar (`sheet`, `colorbar`), and written
(`formats`). A `Sweep` goes the same way frame by frame (`animation`), a `LabelMap` skips the range.
What each entry of a picture's palette is for stands in `palette`.
"""

from app.imaging.animation import Animation, animation
from app.imaging.channel import REDUCTIONS, channel_choices, reduce_channels
from app.imaging.choices import Choices
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
    PictureTooLargeError,
    SeveralArraysError,
    TooManyClassesError,
    TooManyPanelsError,
    UnknownNameError,
)
from app.imaging.formats import (
    FORMATS,
    LABEL_FORMATS,
    SWEEP_FORMATS,
    Encoded,
    EncodeImage,
    EncodeLabels,
    EncodeMap,
    EncodeSweep,
    Encoding,
    Format,
    LabelFormat,
    SweepFormat,
    format_named,
    label_format_named,
    sweep_format_named,
)
from app.imaging.heatmap import MOST_PANELS, Heatmap, heatmap
from app.imaging.labels import MOST_CLASSES, LabelMap, label_picture
from app.imaging.mapdata import MapData
from app.imaging.maps import MIXED_UNITS, Maps
from app.imaging.norm import NORMS, Norm, norm_for
from app.imaging.rescale import Rescale, index, robust_rescale
from app.imaging.style import Style
from app.imaging.sweep import LONGEST_MS, MOST_LOOPS, SHORTEST_MS, Motion, Sweep

__all__ = [
    "COLORMAPS",
    "DEFAULT_DIVERGING",
    "DEFAULT_OVERLAY",
    "DEFAULT_SEQUENTIAL",
    "FORMATS",
    "LABEL_FORMATS",
    "LONGEST_MS",
    "MIXED_UNITS",
    "MOST_CLASSES",
    "MOST_LOOPS",
    "MOST_PANELS",
    "NORMS",
    "REDUCTIONS",
    "SHORTEST_MS",
    "SWEEP_FORMATS",
    "Animation",
    "Choices",
    "Colormap",
    "ColormapEntry",
    "EncodeImage",
    "EncodeLabels",
    "EncodeMap",
    "EncodeSweep",
    "Encoded",
    "Encoding",
    "Format",
    "Heatmap",
    "ImagingError",
    "InvalidMapError",
    "InvalidMetadataError",
    "InvalidRescaleError",
    "InvalidStyleError",
    "LabelFormat",
    "LabelMap",
    "MapData",
    "Maps",
    "MissingImageError",
    "Motion",
    "Norm",
    "PictureTooLargeError",
    "Rescale",
    "SeveralArraysError",
    "Style",
    "Sweep",
    "SweepFormat",
    "TooManyClassesError",
    "TooManyPanelsError",
    "UnknownNameError",
    "animation",
    "channel_choices",
    "format_named",
    "heatmap",
    "index",
    "label_format_named",
    "label_picture",
    "lookup",
    "norm_for",
    "reduce_channels",
    "robust_rescale",
    "sweep_format_named",
]
