"""A legend: swatches of single palette indices, and what each stands for."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from app.imaging.colorbar import blank
from app.imaging.lettering import line_height, text_width, write
from app.imaging.palette import FAINT

Canvas = NDArray[np.uint8]

# Palette indices with their names, in the order in which they are read.
Legend = Sequence[tuple[int, str]]


def legend_block(legend: Legend, *, size: int, width: int = 0) -> Canvas:
    """One entry below the other; side by side as far as a `width` allows, where there is one."""
    swatch = line_height(size)
    cell = max(swatch + size // 2 + text_width(name, size) for _, name in legend) + 1
    columns = max((width + size) // (cell + size), 1)
    pitch = swatch + size // 3
    rows = -(-len(legend) // columns)
    used = min(columns, len(legend))
    canvas = blank(rows * pitch - size // 3, used * (cell + size) - size)
    for place, (index, name) in enumerate(legend):
        top, left = place // columns * pitch, place % columns * (cell + size)
        canvas[top : top + swatch, left : left + swatch] = FAINT  # a thin frame
        canvas[top + 1 : top + swatch - 1, left + 1 : left + swatch - 1] = index
        words = left + swatch + size // 2
        write(canvas, name, left=words, top=top, size=size)
    return canvas
