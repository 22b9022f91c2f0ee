"""What is decided before a map is drawn: its range, colormap and norm, and what they leave out."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from app.imaging.channel import is_magnitude
from app.imaging.colorbar import Scale
from app.imaging.colormaps import (
    DEFAULT_DIVERGING,
    DEFAULT_OVERLAY,
    DEFAULT_SEQUENTIAL,
    Colormap,
    lookup,
)
from app.imaging.mapdata import FloatArray
from app.imaging.norm import Norm, norm_for
from app.imaging.rescale import Rescale, robust_rescale
from app.imaging.style import Style


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Choices:
    """The choices without which a picture cannot be read; one set for all that shares a range.

    Attributes:
        clipped_below: How many of the drawn values lie below the range, infinities included.
        clipped_above: The same above.
    """

    rescale: Rescale
    colormap: Colormap
    norm: Norm
    channel: str
    clipped_below: int
    clipped_above: int

    @property
    def clipped(self) -> int:
        """How many of the drawn values lie beyond the range, infinities included."""
        return self.clipped_below + self.clipped_above

    @property
    def scale(self) -> Scale:
        """What a colour bar tells of these choices."""
        return Scale(
            rescale=self.rescale,
            norm=self.norm,
            diverging=self.colormap.diverging,
            clipped_below=self.clipped_below > 0,
            clipped_above=self.clipped_above > 0,
        )

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


def choose(layers: FloatArray, style: Style, *, never_negative: bool) -> Choices:
    """The choices for all that is drawn together, as layers ``(..., H, W)``.

    Args:
        never_negative: Whether no value can be below zero, so that the range starts there.
    """
    rescale = _rescale(layers, style, never_negative=never_negative)
    with np.errstate(over="ignore", invalid="ignore"):
        below = int(np.count_nonzero(layers < rescale.low))
        above = int(np.count_nonzero(layers > rescale.high))
    return Choices(
        rescale=rescale,
        colormap=_colormap(rescale, style),
        norm=norm_for(style.norm, rescale.limit),
        channel=str(style.channel),
        clipped_below=below,
        clipped_above=above,
    )


def _rescale(layers: FloatArray, style: Style, *, never_negative: bool) -> Rescale:
    if style.rescale is not None:
        return Rescale(*style.rescale)
    found = robust_rescale(layers, symmetric=style.symmetric)
    from_zero = never_negative or style.norm == "abs" or is_magnitude(style.channel)
    return Rescale(0.0, found.high) if from_zero and style.symmetric else found


def _colormap(rescale: Rescale, style: Style) -> Colormap:
    if style.colormap_name is not None:
        return lookup(style.colormap_name)
    if not rescale.low < 0 < rescale.high:
        return lookup(DEFAULT_SEQUENTIAL)
    return lookup(DEFAULT_OVERLAY if style.overlay > 0 else DEFAULT_DIVERGING)
