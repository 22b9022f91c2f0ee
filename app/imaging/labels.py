"""A label map: which of several names each pixel has, in colours that can be told apart."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from app.imaging.errors import InvalidMapError, TooManyClassesError
from app.imaging.heatmap import indexed
from app.imaging.palette import LEVELS, NAN, palette_of
from app.imaging.sheet import arranged

# The first seven are those of M. Okabe and K. Ito, "Color Universal Design" (2008), without black.
# Each further one was chosen as the colour of a grid in sRGB that lies farthest from all before it
# and from the background, in Oklab, by the worst of four ways to see: normal, and without one kind
# of cones (G. Machado et al., IEEE TVCG 15(6), 2009). No two are nearer than 0.075 in any of them.
COLOURS: Final[tuple[str, ...]] = (
    "E69F00", "56B4E9", "009E73", "F0E442", "0072B2", "D55E00", "CC79A7",
    "480000", "001890", "903018", "B4C0A8", "9C6CFC", "60486C", "4800E4",
    "300054", "90D8FC", "48303C", "6C6C6C", "C0E4B4", "B44824",
)  # fmt: skip

MOST_CLASSES: Final = len(COLOURS)
NONE: Final = -1

_NO_NAME: Final = "none"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LabelMap:
    """A name for each pixel.

    Attributes:
        values: ``(H, W)``, integers: the place of the pixel's name in `names`, or `NONE`.
        names: What the labels stand for.
        title: What the picture shows, for example ``the parameter that moves a pixel most``.

    Raises:
        InvalidMapError: Another shape or type, or a label without a name.
    """

    values: NDArray[Any]  # its type is checked below, with a message for the reader
    names: tuple[str, ...]
    title: str = ""

    def __post_init__(self) -> None:
        """Check that every label has a name."""
        if self.values.ndim != 2 or self.values.size == 0 or self.values.dtype.kind not in "iu":
            raise InvalidMapError(
                "Labels are integers of shape (H, W) with nothing empty; got "
                f"{self.values.dtype} of shape {self.values.shape}."
            )
        low, high = int(self.values.min()), int(self.values.max())
        if low < NONE or high >= len(self.names):
            raise InvalidMapError(
                f"With {len(self.names)} names, labels run from {NONE} (none) to "
                f"{len(self.names) - 1}; got {low} to {high}."
            )

    @property
    def pixels(self) -> tuple[int, ...]:
        """How many pixels have each name."""
        named = self.values[self.values != NONE].astype(np.intp)
        return tuple(np.bincount(named, minlength=len(self.names)).tolist())

    @property
    def unlabelled(self) -> int:
        """How many pixels have no name."""
        return int(np.count_nonzero(self.values == NONE))


def label_picture(labels: LabelMap, *, legend: bool = True) -> Image.Image:
    """The labels in mode P: a name's place is its index in the palette, `NONE` is transparent.

    Args:
        legend: Whether names and title stand beside it; without, it is a pixel for a pixel.

    Raises:
        TooManyClassesError: There are more than `MOST_CLASSES` names.
    """
    count = len(labels.names)
    if count > MOST_CLASSES:
        raise TooManyClassesError(
            f"There are {count} names, and a picture tells at most {MOST_CLASSES} apart. "
            "Ask for fewer, or for the labels as numbers."
        )
    panel = np.where(labels.values == NONE, NAN, labels.values).astype(np.uint8)
    if not legend:
        return indexed(panel, _palette())
    entries = [*enumerate(labels.names)]
    if labels.unlabelled:
        entries.append((NAN, _NO_NAME))
    return indexed(arranged([panel], caption=labels.title, legend=entries).canvas, _palette())


def _palette() -> NDArray[np.uint8]:
    lut = np.zeros((LEVELS, 3), np.uint8)
    lut[:MOST_CLASSES] = [list(bytes.fromhex(colour)) for colour in COLOURS]
    return palette_of(lut)
