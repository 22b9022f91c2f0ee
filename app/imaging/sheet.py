"""The arrangement of a picture: panels, their labels, the caption and the colour bar on one canvas.

A map is never resampled. Where letters need more room than the map has, the canvas grows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, log, sqrt

import numpy as np
from numpy.typing import NDArray

from app.imaging.colorbar import (
    LONGEST,
    SHORTEST,
    Scale,
    bar_margin,
    blank,
    horizontal_bar,
    vertical_bar,
)
from app.imaging.legend import Legend, legend_block
from app.imaging.lettering import line_height, text_width, wrapped, write
from app.imaging.palette import BACKGROUND, FAINT

Canvas = NDArray[np.uint8]

_SMALLEST_LETTERS, _LARGEST_LETTERS = 12, 48
_LETTERS_ACROSS = 42  # a picture of 512 gets letters of 12, one of 2048 letters of 48
_PLEASANT_ASPECT = 1.5


@dataclass(frozen=True, slots=True, eq=False)
class Sheet:
    """Palette indices, and where on them the panels lie.

    Attributes:
        corners: The row and column of each panel's top left pixel.
        line: The row and column where the line above the panels begins, where there is one.
        letters: The size of the letters.
    """

    canvas: Canvas
    corners: tuple[tuple[int, int], ...]
    line: tuple[int, int] | None = None
    letters: int = 0

    def refilled(self, panels: Sequence[Canvas], line: str) -> "Sheet":
        """The same arrangement with other panels of the same size, and another line above them."""
        canvas = self.canvas.copy()
        for (top, left), panel in zip(self.corners, panels, strict=True):
            canvas[top : top + panel.shape[0], left : left + panel.shape[1]] = panel
        if self.line is not None:
            top, left = self.line
            canvas[top : top + line_height(self.letters), left:] = BACKGROUND
            write(canvas, line, left=left, top=top, size=self.letters)
        return replace(self, canvas=canvas)


def bare_sheet(panel: Canvas) -> Sheet:
    """A single panel and nothing else: the picture has the size of the map."""
    return Sheet(panel, ((0, 0),))


def arranged(
    panels: Sequence[Canvas],
    *,
    labels: Sequence[str] = (),
    columns: int | None = None,
    caption: str = "",
    scale: Scale | None = None,
    line: str = "",
    legend: Legend = (),
) -> Sheet:
    """The panels in a grid, with labels above each, and whatever else is given around it.

    Args:
        line: A line of its own between caption and panels, that `Sheet.refilled` writes anew.
        legend: What single indices stand for.
    """
    size = _letter_size(len(panels), panels[0].shape)
    body = _grid(panels, labels, columns, size)
    body = body if scale is None else _with_bar(body, scale, size)
    body = _with_legend(body, legend, size) if legend else body
    body = _with_line(body, line, size) if line else body
    body = _with_caption(body, caption, size) if caption else body
    return _padded(body, size)


def _letter_size(count: int, shape: tuple[int, ...]) -> int:
    across = sqrt(count * shape[0] * shape[1]) / _LETTERS_ACROSS
    return round(min(max(across, _SMALLEST_LETTERS), _LARGEST_LETTERS))


def _grid(panels: Sequence[Canvas], labels: Sequence[str], columns: int | None, size: int) -> Sheet:
    height, width = panels[0].shape
    head = line_height(size) if labels else 0
    gap = size if labels else size // 2
    cell_width = max([width + 2, *(text_width(label, size) for label in labels)]) + gap
    cell_height = head + height + 2 + gap
    columns = columns or _pleasant_columns(len(panels), cell_height, cell_width)
    rows = ceil(len(panels) / columns)
    canvas = blank(rows * cell_height - gap, columns * cell_width - gap)
    corners = []
    for place, panel in enumerate(panels):
        top, left = place // columns * cell_height + head, place % columns * cell_width
        canvas[top : top + height + 2, left : left + width + 2] = FAINT  # a thin frame
        canvas[top + 1 : top + 1 + height, left + 1 : left + 1 + width] = panel
        corners.append((top + 1, left + 1))
        if labels:
            write(canvas, labels[place], left=left, top=top - head, size=size)
    return Sheet(canvas, tuple(corners))


def _pleasant_columns(count: int, height: int, width: int) -> int:
    """The number of columns that makes the grid a little wider than high, with few holes."""

    def unpleasant(columns: int) -> float:
        rows = ceil(count / columns)
        aspect = columns * width / (rows * height)
        return abs(log(aspect / _PLEASANT_ASPECT)) + (rows * columns - count) / count

    return min(range(1, count + 1), key=unpleasant)


def _with_bar(grid: Sheet, scale: Scale, size: int) -> Sheet:
    """Put the bar to the right, or below a grid that is at least twice as wide as high."""
    height, width = grid.canvas.shape
    shortest, longest = SHORTEST * line_height(size), LONGEST * line_height(size)
    if width >= 2 * max(height, shortest):
        bar = horizontal_bar(scale, length=min(width, longest), size=size)
        return _joined(grid, bar, top=height + size, left=0)
    head = grid.corners[0][0]  # the bar begins where the first panel does, below its label
    length = min(max(height - head, shortest), longest)
    bar = vertical_bar(scale, length=length, size=size)
    # The bar's own margins hold the halves of its end labels, and stick out over the panels.
    overhang = bar.shape[0] - length - bar_margin(size)
    return _joined(grid, bar, top=head - overhang, left=width + size)


def _joined(sheet: Sheet, block: Canvas, *, top: int, left: int) -> Sheet:
    """The sheet with a block beside it; a negative `top` moves the sheet down instead."""
    down = max(-top, 0)
    height = max(down + sheet.canvas.shape[0], down + top + block.shape[0])
    canvas = blank(height, max(sheet.canvas.shape[1], left + block.shape[1]))
    canvas[down : down + sheet.canvas.shape[0], : sheet.canvas.shape[1]] = sheet.canvas
    canvas[down + top : down + top + block.shape[0], left : left + block.shape[1]] = block
    return _moved(sheet, canvas, down=down)


def _with_legend(sheet: Sheet, legend: Legend, size: int) -> Sheet:
    """Put the legend to the right, or below a sheet that is at least twice as wide as high."""
    height, width = sheet.canvas.shape
    if width >= 2 * max(height, SHORTEST * line_height(size)):
        block = legend_block(legend, size=size, width=width)
        return _joined(sheet, block, top=height + size, left=0)
    block = legend_block(legend, size=size)
    return _joined(sheet, block, top=sheet.corners[0][0], left=width + size)


def _with_line(sheet: Sheet, line: str, size: int) -> Sheet:
    """A line above all: never wrapped, because it must have the same room in every frame."""
    head = line_height(size) + size
    width = max(sheet.canvas.shape[1], text_width(line, size))
    canvas = blank(head + sheet.canvas.shape[0], width)
    canvas[head:, : sheet.canvas.shape[1]] = sheet.canvas
    write(canvas, line, left=0, top=0, size=size)
    return replace(_moved(sheet, canvas, down=head), line=(0, 0), letters=size)


def _moved(sheet: Sheet, canvas: Canvas, *, down: int, right: int = 0) -> Sheet:
    """What is known of a sheet after it was drawn onto a larger canvas, this far from the top."""
    corners = tuple((row + down, column + right) for row, column in sheet.corners)
    line = sheet.line and (sheet.line[0] + down, sheet.line[1] + right)
    return Sheet(canvas, corners, line, sheet.letters)


def _with_caption(sheet: Sheet, caption: str, size: int) -> Sheet:
    lines = wrapped(caption, size, max(sheet.canvas.shape[1], 22 * size))
    head = len(lines) * line_height(size) + size // 2
    width = max([sheet.canvas.shape[1], *(text_width(line, size) for line in lines)])
    canvas = blank(head + sheet.canvas.shape[0], width)
    for place, line in enumerate(lines):
        write(canvas, line, left=0, top=place * line_height(size), size=size)
    canvas[head:, : sheet.canvas.shape[1]] = sheet.canvas
    return _moved(sheet, canvas, down=head)


def _padded(sheet: Sheet, margin: int) -> Sheet:
    canvas = blank(sheet.canvas.shape[0] + 2 * margin, sheet.canvas.shape[1] + 2 * margin)
    canvas[margin:-margin, margin:-margin] = sheet.canvas
    return _moved(sheet, canvas, down=margin, right=margin)
