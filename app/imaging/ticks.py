"""Round numbers along a colour bar, and how to write them."""

from dataclasses import dataclass
from math import ceil, floor, isfinite, log10

from app.imaging.lettering import MINUS, TIMES
from app.imaging.norm import Norm
from app.imaging.rescale import Rescale

_FEWEST = 3  # one tick is no scale, and two leave open whether the steps are even
_FINER = {1: 5, 2: 1, 5: 2}


@dataclass(frozen=True, slots=True)
class Ticks:
    """Values to mark, what to write beside each, and the power of ten that all are multiplied by.

    Attributes:
        factor: Such as ``×1e−7``, or empty when the labels say everything.
    """

    values: tuple[float, ...]
    labels: tuple[str, ...]
    factor: str = ""


def ticks(rescale: Rescale, norm: Norm, *, most: int) -> Ticks:
    """At most about `most` ticks in a range; always the zero that lies in it.

    Steps are 1, 2 or 5 times a power of ten. Small and large numbers share one power of ten. On a
    ``symlog`` bar the ticks are powers of ten, and zero.
    """
    if norm.linthresh is not None:
        return _decades(rescale, norm.linthresh, most)
    step, exponent = _step(rescale, most)
    multiples = _multiples(rescale, step, exponent)
    if len(multiples) < _FEWEST:
        step, exponent = _FINER[step], exponent - (step == 1)
        multiples = _multiples(rescale, step, exponent)
    values = tuple(multiple * step * 10.0**exponent for multiple in multiples)
    if not multiples or not all(isfinite(value) for value in values):
        return _ends(rescale)
    return _labelled(values, exponent)


def _ends(rescale: Rescale) -> Ticks:
    """The two ends themselves, for a range without round numbers in it."""
    return Ticks((rescale.low, rescale.high), (short(rescale.low), short(rescale.high)))


def short(value: float) -> str:
    """A number in few characters, with a proper minus sign."""
    return f"{value:.3g}".replace("e-0", "e-").replace("e+0", "e").replace("-", MINUS)


def _step(rescale: Rescale, most: int) -> tuple[int, int]:
    """The step as a digit and a power of ten: the finest that gives no more than `most` ticks."""
    target = rescale.high / most - rescale.low / most
    exponent = floor(log10(target)) if target > 0 else -323
    mantissa = target / 10.0**exponent if exponent > -308 else 1.0
    for digit in (1, 2, 5):
        if mantissa <= digit * 1.0000001:
            return digit, exponent
    return 1, exponent + 1


def _multiples(rescale: Rescale, step: int, exponent: int) -> list[int]:
    unit = step * 10.0**exponent
    if unit == 0 or not isfinite(rescale.low / unit) or not isfinite(rescale.high / unit):
        return []
    # The end of a range that is round itself must not be lost to the last bit of a division.
    first, last = ceil(rescale.low / unit - 1e-9), floor(rescale.high / unit + 1e-9)
    # A narrow range far from zero has ticks that float cannot tell apart.
    return list(range(first, last + 1)) if last - first < 100 else []


def _labelled(values: tuple[float, ...], exponent: int) -> Ticks:
    largest = max(abs(value) for value in values)
    power = floor(log10(largest)) if largest else 0
    shared = power if not -3 < power < 5 else 0
    decimals = max(shared - exponent, 0)
    if shared < -300 or decimals > 8:  # 10.0**-400 is zero; nine digits are no label
        return Ticks(values, tuple(short(value) for value in values))
    # Adding zero makes 0 of -0.
    scaled = (value / 10.0**shared + 0.0 for value in values)
    labels = tuple(f"{value:.{decimals}f}".replace("-", MINUS) for value in scaled)
    factor = f"{TIMES}1e{shared}".replace("-", MINUS) if shared else ""
    return Ticks(values, labels, factor)


def _decades(rescale: Rescale, linthresh: float, most: int) -> Ticks:
    top = floor(log10(rescale.limit) + 1e-9)
    bottom = ceil(log10(linthresh) - 1e-9)
    sides = (rescale.low < 0) + (rescale.high > 0)
    stride = max(ceil((top - bottom + 1) * sides / max(most - 1, 1)), 1)
    powers = [10.0**power for power in range(top, bottom - 1, -stride)]
    candidates = sorted({0.0, *powers, *(-power for power in powers)})
    values = tuple(value for value in candidates if rescale.low <= value <= rescale.high)
    if len(values) < 2:
        return _ends(rescale)
    return Ticks(values, tuple(_power(value) for value in values))


def _power(value: float) -> str:
    if value == 0:
        return "0"
    exponent = round(log10(abs(value)))
    plain = short(value) if -3 <= exponent <= 4 else f"1e{exponent}".replace("-", MINUS)
    return plain if value > 0 or plain.startswith(MINUS) else MINUS + plain
