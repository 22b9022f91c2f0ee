"""Letters drawn into palette pictures, with the one font that travels with Pillow.

That font knows little beyond ASCII, not even a minus sign. So the signs that numbers need are drawn
here, and a letter that it lacks is spelled out or replaced rather than shown as an empty box.
"""

import unicodedata
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from app.imaging.palette import BACKGROUND, FAINT, INK, SOFT

MINUS = "\u2212"
TIMES = "\u00d7"

_SHADES = np.asarray([BACKGROUND, FAINT, SOFT, INK], np.uint8)
_SHADE_STEPS = 3
_OWN_SIGNS = {MINUS, TIMES}
_KNOWN = {*map(chr, range(32, 127)), "\u00b0", "\u00b1", *_OWN_SIGNS}


def spelled(text: str) -> str:
    """The text in letters that can be drawn: accents dropped, Greek spelled, the rest ``?``."""
    return "".join(char if char in _KNOWN else _stand_in(char) for char in text)


def _stand_in(char: str) -> str:
    plain = "".join(part for part in unicodedata.normalize("NFKD", char) if part in _KNOWN)
    if plain:
        return plain
    words = unicodedata.name(char, "").split()
    greek = words[:1] == ["GREEK"] and "LETTER" in words
    return words[words.index("LETTER") + 1].lower() if greek else "?"


@lru_cache(maxsize=64)
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)


def line_height(size: int) -> int:
    """The distance from one line of this size to the next, in pixels."""
    return size + max(size // 3, 2)


def text_width(text: str, size: int) -> int:
    """The width of one line, in pixels."""
    return int(np.ceil(sum(_advance(run, size) for run in _runs(spelled(text)))))


def wrapped(text: str, size: int, width: int) -> list[str]:
    """The text in lines no wider than `width`, broken between words; a long word stays whole."""
    lines: list[str] = []
    for word in spelled(text).split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, size) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def write(canvas: NDArray[np.uint8], text: str, *, left: int, top: int, size: int) -> None:
    """Draw one line of text onto the background of a palette canvas ``(H, W)``, clipped to it."""
    coverage = _coverage(spelled(text), size)
    room = canvas[top : top + coverage.shape[0], left : left + coverage.shape[1]]
    shade = np.rint(coverage[: room.shape[0], : room.shape[1]] * (_SHADE_STEPS / 255))
    np.copyto(room, _SHADES[shade.astype(np.intp)], where=shade > 0)


def _coverage(text: str, size: int) -> NDArray[np.uint8]:
    picture = Image.new("L", (text_width(text, size) + 1, line_height(size)))
    pen = ImageDraw.Draw(picture)
    x = 0.0
    for run in _runs(text):
        if run in _OWN_SIGNS:
            _draw_sign(pen, run, x, size)
        else:
            pen.text((x, size), run, 255, font=_font(size), anchor="ls")
        x += _advance(run, size)
    return np.asarray(picture)


def _runs(text: str) -> list[str]:
    """The text cut so that each sign of our own stands alone."""
    for sign in _OWN_SIGNS:
        text = text.replace(sign, f"\n{sign}\n")
    return [run for run in text.split("\n") if run]


def _advance(run: str, size: int) -> float:
    return size * 0.6 if run in _OWN_SIGNS else _font(size).getlength(run)


def _draw_sign(pen: ImageDraw.ImageDraw, sign: str, x: float, size: int) -> None:
    thick = max(round(size / 12), 1)
    middle = round(size - 0.36 * size)  # half the height of a digit, above the baseline
    left, right = round(x + 0.08 * size), round(x + 0.52 * size)
    if sign == MINUS:
        pen.rectangle((left, middle - thick // 2, right, middle - thick // 2 + thick - 1), 255)
        return
    arm = round(0.18 * size)
    centre = (left + right) // 2
    for way in (1, -1):
        ends = (centre - arm, middle - way * arm, centre + arm, middle + way * arm)
        pen.line(ends, 255, thick)
