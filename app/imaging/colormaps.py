"""The colormaps that a heatmap can be drawn in: a short list, chosen by eye, looked up by name.

A name alone is ambiguous in the catalogue behind (``cmap`` knows two ``coolwarm``), so the table
states the full one. A newcomer adds a line.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from app.imaging.errors import UnknownNameError
from app.imaging.palette import LEVELS

Kind = Literal["diverging", "sequential"]


@dataclass(frozen=True, slots=True)
class ColormapEntry:
    """A line of the table.

    Attributes:
        source: The full name in the catalogue of ``cmap``.
        kind: ``diverging`` has a neutral middle, where zero goes; ``sequential`` runs one way.
        colour_blind_safe: Lightness alone tells the order (each half of it, when diverging), and
            the two sides stay apart for the common kinds of colour blindness.
        help: What it is good for.
    """

    source: str
    kind: Kind
    colour_blind_safe: bool
    help: str


@dataclass(frozen=True, slots=True, eq=False)
class Colormap:
    """A colormap ready for use.

    Attributes:
        lut: RGB of shape ``(LEVELS, 3)``, read-only, from the low end to the high end.
    """

    name: str
    source: str
    kind: Kind
    colour_blind_safe: bool
    lut: NDArray[np.uint8]

    @property
    def diverging(self) -> bool:
        """Whether the middle colour means zero."""
        return self.kind == "diverging"


def _entries() -> dict[str, ColormapEntry]:
    safe, other = True, False
    return {
        "vik": ColormapEntry("crameri:vik", "diverging", safe, "blue, light middle, red-brown"),
        "coolwarm": ColormapEntry("matplotlib:coolwarm", "diverging", safe, "blue, grey, red"),
        "balance": ColormapEntry("cmocean:balance", "diverging", safe, "navy, white, maroon"),
        "broc": ColormapEntry("crameri:broc", "diverging", safe, "blue, light middle, olive"),
        "rdbu": ColormapEntry("colorbrewer:RdBu_r", "diverging", safe, "blue, white, red"),
        "puor": ColormapEntry("colorbrewer:PuOr", "diverging", safe, "orange, white, purple"),
        "berlin": ColormapEntry("crameri:berlin", "diverging", safe, "blue, black middle, pink"),
        "lisbon": ColormapEntry("crameri:lisbon", "diverging", safe, "blue, black middle, yellow"),
        "batlow": ColormapEntry("crameri:batlow", "sequential", safe, "blue, olive, pink"),
        "viridis": ColormapEntry("bids:viridis", "sequential", safe, "violet, green, yellow"),
        "cividis": ColormapEntry("cividis:cividis", "sequential", safe, "blue, grey, yellow"),
        "inferno": ColormapEntry("bids:inferno", "sequential", safe, "black, red, light yellow"),
        "magma": ColormapEntry("bids:magma", "sequential", safe, "black, violet, cream"),
        "oslo": ColormapEntry("crameri:oslo", "sequential", safe, "black, blue, white"),
        "lajolla": ColormapEntry("crameri:lajolla", "sequential", safe, "brown, orange, cream"),
        "gray": ColormapEntry("matlab:gray", "sequential", safe, "black to white"),
        "seismic": ColormapEntry("matplotlib:seismic", "diverging", other, "strong blue, red"),
        "icefire": ColormapEntry("seaborn:icefire", "diverging", other, "ice, black middle, fire"),
        "plasma": ColormapEntry("bids:plasma", "sequential", other, "blue, pink, yellow"),
        "turbo": ColormapEntry("google:turbo", "sequential", other, "rainbow: detail, not order"),
    }


COLORMAPS: Final[Mapping[str, ColormapEntry]] = MappingProxyType(_entries())

# The one diverging map here whose middle is a grey without a tint, so that the zero around a thin
# structure looks like nothing; its two ends are equally dark and still red and blue.
DEFAULT_DIVERGING: Final = "rdbu"
# Over a dim image, values must glow instead: a light middle would put a halo around everything.
DEFAULT_OVERLAY: Final = "berlin"
DEFAULT_SEQUENTIAL: Final = "inferno"


def check_colormap(name: str) -> None:
    """Raise UnknownNameError unless there is a colormap of this name (``unknown_colormap``)."""
    if name not in COLORMAPS:
        raise UnknownNameError("colormap", name, COLORMAPS)


@lru_cache(maxsize=len(COLORMAPS))
def lookup(name: str) -> Colormap:
    """The colormap of this name.

    Raises:
        UnknownNameError: There is none (``unknown_colormap``).
    """
    check_colormap(name)
    entry = COLORMAPS[name]
    return Colormap(name, entry.source, entry.kind, entry.colour_blind_safe, _lut(entry.source))


def _lut(source: str) -> NDArray[np.uint8]:
    from cmap import Colormap as Catalogued  # 0.2 s, spent by the first picture and not at start

    rgba = np.asarray(Catalogued(source).lut(LEVELS), np.float64)
    lut = np.rint(rgba[:, :3] * 255).astype(np.uint8)
    lut.flags.writeable = False
    return lut
