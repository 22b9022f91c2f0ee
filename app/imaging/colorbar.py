"""The colour bar: the colormap from end to end, and the values that its colours stand for."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from app.imaging.lettering import line_height, text_width, write
from app.imaging.norm import Norm
from app.imaging.palette import BACKGROUND, SOFT
from app.imaging.rescale import Placement, Rescale
from app.imaging.ticks import Ticks, ticks

Canvas = NDArray[np.uint8]

# Lengths in lines of text: room for five ticks beside the smallest picture, and not so long beside
# a picture of 1x4000 that no two ticks can be seen at once.
SHORTEST: Final = 9
LONGEST: Final = 40
_MOST_TICKS: Final = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Everything that a bar tells.

    Attributes:
        clipped_below: Whether some values lie below the range; the bar then ends in a point.
        clipped_above: The same above.
    """

    rescale: Rescale
    norm: Norm
    diverging: bool
    clipped_below: bool = False
    clipped_above: bool = False

    @property
    def placement(self) -> Placement:
        """Where the values of the bar lie on the palette."""
        return Placement.of(self.rescale, self.norm, diverging=self.diverging)


def vertical_bar(scale: Scale, *, length: int, size: int) -> Canvas:
    """A bar of this height with letters of this size: high values on top, labels to the right."""
    marks = _marks(scale, length * 2 // (3 * line_height(size)))
    margin = bar_margin(size)
    head = margin + line_height(size) * bool(marks.factor)
    label_left = _thickness(size) + size // 2 + 2
    widest = max(text_width(text, size) for text in (*marks.labels, marks.factor))
    canvas = blank(head + length + margin, label_left + widest + 2)
    _draw_strip(canvas[::-1], scale, start=margin, length=length, size=size)
    for offset, label in zip(_offsets(marks, scale, length), marks.labels, strict=True):
        row = head + length - 1 - offset
        _draw_mark(canvas.T, row, size)
        half_digit = round(0.64 * size)  # from the top of a line down to the middle of a digit
        write(canvas, label, left=label_left, top=row - half_digit, size=size)
    if marks.factor:
        write(canvas, marks.factor, left=0, top=0, size=size)
    return canvas


def horizontal_bar(scale: Scale, *, length: int, size: int) -> Canvas:
    """A bar with letters of this size, labels below; `length` includes what the labels overhang."""
    widest = max(text_width(text, size) for text in _marks(scale, length // (4 * size)).labels)
    marks = _marks(scale, length // (widest + 2 * size))
    margin = max(max(text_width(text, size) for text in marks.labels) // 2 + 1, _point(size))
    tail = max(margin, _point(size) + size // 2 + text_width(marks.factor, size))
    strip = max(length - margin - tail, 4 * size)
    label_top = _thickness(size) + size // 3 + 2
    canvas = blank(label_top + line_height(size), margin + strip + tail)
    _draw_strip(canvas.T, scale, start=margin, length=strip, size=size)
    for offset, label in zip(_offsets(marks, scale, strip), marks.labels, strict=True):
        _draw_mark(canvas, margin + offset, size)
        left = margin + offset - text_width(label, size) // 2
        write(canvas, label, left=left, top=label_top, size=size)
    if marks.factor:
        left = canvas.shape[1] - text_width(marks.factor, size)
        write(canvas, marks.factor, left=left, top=0, size=size)
    return canvas


def bar_margin(size: int) -> int:
    """What a vertical bar adds at each end for the label that sticks out, in pixels."""
    return max(line_height(size) // 2 + 1, _point(size))


def blank(height: int, width: int) -> Canvas:
    """A canvas of nothing but background."""
    return np.full((height, width), BACKGROUND, np.uint8)


def _marks(scale: Scale, most: int) -> Ticks:
    return ticks(scale.rescale, scale.norm, most=min(max(most, 2), _MOST_TICKS))


def _thickness(size: int) -> int:
    return max(round(size * 1.1), 8)


def _point(size: int) -> int:
    return _thickness(size) // 2


def _draw_strip(along: Canvas, scale: Scale, *, start: int, length: int, size: int) -> None:
    """Draw the colours; rows of `along` run from low to high, its columns across the bar."""
    placement, thick = scale.placement, _thickness(size)
    colours = np.rint(np.linspace(placement.first, placement.last, length)).astype(np.uint8)
    along[start : start + length, :thick] = colours[:, np.newaxis]
    for step in range(1, _point(size) + 1):
        if scale.clipped_below:
            along[start - step, step : thick - step] = placement.first
        if scale.clipped_above:
            along[start + length - 1 + step, step : thick - step] = placement.last


def _draw_mark(across: Canvas, place: int, size: int) -> None:
    """Draw the short line of a tick; columns of `across` run along the bar."""
    thick = _thickness(size)
    line = max(size // 12, 1)
    across[thick : thick + size // 3, place - line // 2 : place - line // 2 + line] = SOFT


def _offsets(marks: Ticks, scale: Scale, length: int) -> list[int]:
    """How far from the low end each tick lies, in pixels."""
    placement = scale.placement
    indices = np.asarray(marks.values, np.float64)
    placement.place(indices)
    share = (indices - placement.first) / (placement.last - placement.first)
    return [round(float(part) * (length - 1)) for part in share]
