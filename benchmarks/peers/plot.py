"""A plot of growth as SVG, written by hand: two logarithmic axes, a line for each peer."""

import math
from collections.abc import Sequence
from html import escape

from benchmarks.peers.growth import Curve

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 440, 80, 190, 40, 50
COLOURS = ("#0b6e99", "#c2410c", "#4d7c0f", "#7e22ce", "#525252")


def svg(title: str, across: str, curves: Sequence[Curve]) -> str:
    """The picture of some curves: seconds upwards, sizes across."""
    points = [point for curve in curves for point in curve.points]
    sizes, seconds = sorted({size for size, _ in points}), [taken for _, taken in points]
    low, high = math.floor(math.log10(min(seconds))), math.ceil(math.log10(max(seconds)))

    def x(size: int) -> float:
        part = math.log(size / sizes[0]) / math.log(sizes[-1] / sizes[0])
        return LEFT + part * (WIDTH - LEFT - RIGHT)

    def y(taken: float) -> float:
        return HEIGHT - BOTTOM - (math.log10(taken) - low) / (high - low) * (HEIGHT - TOP - BOTTOM)

    parts = [_text(LEFT, TOP - 16, title, size=15)]
    for power in range(low, high + 1):
        parts.append(_line(LEFT, y(10.0**power), WIDTH - RIGHT, y(10.0**power)))
        label = f"{10.0**power:g} s" if power >= 0 else f"{10.0 ** (power + 3):g} ms"
        parts.append(_text(LEFT - 8, y(10.0**power) + 4, label, anchor="end"))
    below = HEIGHT - BOTTOM + 18
    parts += [_text(x(size), below, str(size), anchor="middle") for size in sizes]
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(_text(middle, HEIGHT - 10, across, anchor="middle"))
    for row, (curve, colour) in enumerate(zip(curves, COLOURS, strict=False)):
        path = " ".join(f"{x(size):.1f},{y(taken):.1f}" for size, taken in curve.points)
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2.5"/>'
        )
        at = TOP + 10 + 20 * row
        who = curve.who.replace("`", "")
        parts.append(_text(WIDTH - RIGHT + 12, at, who, colour=colour))
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif">\n<rect width="100%" height="100%" fill="white"/>\n'
        f"{body}\n</svg>\n"
    )


def _line(x0: float, y0: float, x1: float, y1: float) -> str:
    return f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" stroke="#ddd"/>'


def _text(
    x: float, y: float, text: str, *, anchor: str = "start", size: int = 12, colour: str = "#222"
) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"'
    return f'<text {place} fill="{colour}">{escape(text)}</text>'
