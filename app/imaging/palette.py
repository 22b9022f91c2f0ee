"""What the 256 entries of a picture's palette are for: one layout for every picture.

===========  ==================================================================
0 to 250     the colormap, from the low end of the range to the high end
125          its middle: an odd number of colours has one, and zero is drawn with it
251          NaN: fully transparent
252          background of labels and colour bar (light and solid, so that they can be
             read on a white page and on a dark one)
253, 254     greys between background and ink, for the edges of letters and thin lines
255          ink
===========  ==================================================================

As the layout never changes, a picture gets another colormap by another palette, pixels untouched.
251 colours instead of 255 make steps of 0.8 % instead of 0.78 %: nobody sees the four that the
letters take.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

LEVELS: Final = 251
LAST: Final = LEVELS - 1
MIDDLE: Final = LAST // 2
NAN: Final = 251
BACKGROUND: Final = 252
FAINT: Final = 253
SOFT: Final = 254
INK: Final = 255

_GREYS: Final = ((250, 250, 249), (176, 178, 182), (104, 107, 113), (32, 35, 42))

# The background's own colour under a transparent pixel: what a viewer without transparency shows.
_UNDER_NAN: Final = _GREYS[0]


def palette_of(lut: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The 256 RGB entries ``(256, 3)`` for a colormap of ``(LEVELS, 3)``."""
    return np.concatenate([lut, np.asarray([_UNDER_NAN, *_GREYS], np.uint8)])
