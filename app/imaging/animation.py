"""A sweep as pictures: one range, one layout and one palette for all of its frames."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from PIL import Image

from app.imaging.choices import Choices, choose
from app.imaging.heatmap import check_drawable, layers_of, panels_of, picture_of, sheet_of
from app.imaging.lettering import text_width
from app.imaging.mapdata import FloatArray
from app.imaging.sheet import Sheet, bare_sheet
from app.imaging.style import Style
from app.imaging.sweep import Sweep


@dataclass(frozen=True, slots=True, eq=False)
class Animation:
    """The frames of a sweep, ready to be drawn one at a time, and what all have in common.

    Attributes:
        layers: What is drawn, ``(frames, components, H, W)``.
        layout: The first frame, whose arrangement is that of all.
    """

    sweep: Sweep
    style: Style
    layers: FloatArray
    choices: Choices
    layout: Sheet

    @property
    def facts(self) -> Mapping[str, str]:
        """The choices in words, for headers and text chunks."""
        return {**self.choices.facts, "frames": str(len(self.sweep.frames))}

    def pictures(self) -> Iterator[Image.Image]:
        """Each frame, all of one size, mode and palette; only one of them in memory at a time."""
        lines = self.sweep.lines
        for frame, layers, line in zip(self.sweep.frames, self.layers, lines, strict=True):
            sheet = self.layout.refilled(panels_of(layers, self.choices), line)
            yield picture_of(sheet, frame, self.style, self.choices)


def animation(sweep: Sweep, style: Style, *, lines: bool = True) -> Animation:
    """A sweep drawn in one range, found over all frames together unless the style fixes it.

    Args:
        lines: Whether the value of the parameter stands over each frame. Without, and without a
            colour bar, the map of a scalar has exactly a pixel for a pixel.

    Raises:
        TooManyPanelsError: There are more components in a frame than a picture shows.
        MissingImageError: An overlay without primal images.
        UnknownNameError: A channel that the images lack.
    """
    first = sweep.frames[0]
    check_drawable(first, style)
    layers = _layers(sweep, style)
    choices = choose(layers, style, never_negative=first.never_negative)
    panels = panels_of(layers[0], choices)
    if len(panels) == 1 and not style.colorbar and not lines:
        layout = bare_sheet(panels[0])
    else:
        # The widest line makes room for all, or frames would differ in size.
        widest = max(sweep.lines, key=lambda line: text_width(line, 100)) if lines else ""
        layout = sheet_of(panels, first, style, choices, line=widest)
    return Animation(sweep, style, layers, choices, layout)


def _layers(sweep: Sweep, style: Style) -> FloatArray:
    first = layers_of(sweep.frames[0], style)
    stacked = np.empty((len(sweep.frames), *first.shape), first.dtype)
    for place, frame in enumerate(sweep.frames):
        stacked[place] = layers_of(frame, style)
    return stacked
