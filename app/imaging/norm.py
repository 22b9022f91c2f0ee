"""How a value becomes a position between the ends of the range: three norms and their inverses."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import copysign, expm1, log1p
from types import MappingProxyType
from typing import Final

import numpy as np

from app.imaging.errors import UnknownNameError
from app.imaging.mapdata import FloatArray

NORMS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "linear": "signed values, evenly spaced",
        "symlog": "signed values, linear near zero and logarithmic beyond, to show three decades",
        "abs": "magnitudes, evenly spaced from zero",
    }
)

# Three decades between linthresh and the end: what 125 levels a side can still tell apart.
_DECADES = 3


@dataclass(frozen=True, slots=True)
class Norm:
    """One of `NORMS`, with its numbers.

    ``symlog`` is ``sign(v) * log(1 + |v| / linthresh)``: smooth everywhere, nearly linear below
    `linthresh`, and symmetric, so that zero stays in the middle.

    Attributes:
        name: A key of `NORMS`.
        linthresh: For ``symlog``, the magnitude where linear turns into logarithmic; else None.
    """

    name: str
    linthresh: float | None = None

    def position(self, value: float) -> float:
        """Where a value lies, in units that only compare with one another; odd and monotone."""
        if self.linthresh is None:
            return value
        return copysign(log1p(abs(value) / self.linthresh), value)

    def value(self, position: float) -> float:
        """The value at a position: the inverse of `position`."""
        if self.linthresh is None:
            return position
        return copysign(expm1(abs(position)) * self.linthresh, position)

    def apply(self, block: FloatArray) -> None:
        """Replace the values of an array by their positions, in place."""
        if self.linthresh is None:
            return
        magnitude = np.abs(block)
        magnitude /= self.linthresh
        if block.dtype == np.float64:
            np.log1p(magnitude, out=magnitude)
        else:  # log1p of float32 takes five times as long, and 251 levels do not show its digits
            magnitude += 1
            np.log(magnitude, out=magnitude)
        np.copysign(magnitude, block, out=block)


def norm_for(name: str, limit: float) -> Norm:
    """The norm of this name for values whose drawn magnitude ends at `limit`.

    Raises:
        UnknownNameError: There is no such norm (``unknown_norm``).
    """
    check_norm(name)
    # A range at the very bottom of float64 has no room for three more decades below it.
    return Norm(name, max(limit / 10**_DECADES, 5e-324) if name == "symlog" else None)


def check_norm(name: str) -> None:
    """Raise UnknownNameError unless there is a norm of this name."""
    if name not in NORMS:
        raise UnknownNameError("norm", name, NORMS)
