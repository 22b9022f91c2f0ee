import numpy as np
import pytest

from app.imaging.lettering import spelled, text_width, wrapped, write
from app.imaging.palette import BACKGROUND, INK


def _written(text: str, size: int = 14) -> np.ndarray:
    canvas = np.full((40, 200), BACKGROUND, np.uint8)
    write(canvas, text, left=4, top=4, size=size)
    return canvas


def test_letters_that_the_font_lacks_are_spelled_or_replaced() -> None:
    assert spelled("caf\u00e9 \u03b8 \u65e5") == "cafe theta ?"
    assert spelled("\u22121 \u00d7 \u00b12\u00b0") == "\u22121 \u00d7 \u00b12\u00b0"


@pytest.mark.parametrize("text", ["0", "\u2212", "\u00d7", "d(image)/d(x)"])
def test_text_leaves_ink_on_the_background(text: str) -> None:
    canvas = _written(text)
    assert (canvas == INK).any()
    assert canvas.min() >= BACKGROUND


def test_a_minus_sign_is_a_bar_at_the_height_of_digits() -> None:
    rows = np.flatnonzero((_written("\u2212") != BACKGROUND).any(axis=1))
    digit = np.flatnonzero((_written("0") != BACKGROUND).any(axis=1))
    assert len(rows) <= 2
    assert abs(rows.mean() - digit.mean()) <= 1.5


def test_text_is_clipped_by_the_canvas_and_not_an_error() -> None:
    write(np.full((5, 5), BACKGROUND, np.uint8), "wide text", left=2, top=2, size=12)


def test_lines_are_broken_between_words() -> None:
    lines = wrapped("one two three four", 12, 60)
    assert " ".join(lines) == "one two three four"
    assert all(text_width(line, 12) <= 60 for line in lines)
    assert len(lines) > 1
