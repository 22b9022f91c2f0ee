"""A direction in parameter space, in the parameters' own units."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Parts of a direction that are spelled out.
SPELLED = 6


@dataclass(frozen=True, slots=True)
class Direction:
    """How far each parameter moves when all are moved together.

    Its length is 1 where each parameter is measured in units of its scale.

    Attributes:
        parts: name and amount of every parameter that takes part, the largest (in units of their
            scales) first and positive.
        step: how often it must be taken until the image changes by as much as the noise, so that
            the two images are one standard deviation apart; None where it never does.
    """

    parts: tuple[tuple[str, float], ...]
    step: float | None = None

    @property
    def names(self) -> str:
        """The parameters that take part."""
        return joined([f"`{label}`" for label, _ in self.parts])

    @property
    def words(self) -> str:
        """The combination as a formula."""
        shown = [
            f"{'-' if amount < 0 else '+'} {abs(amount):.3g} `{label}`"
            for label, amount in self.parts[:SPELLED]
        ]
        rest = len(self.parts) - SPELLED
        text = " ".join(shown).removeprefix("+ ")
        return text + (f" and {rest} more" if rest > 0 else "")

    def describe(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {"parts": dict(self.parts), "step": self.step}


def direction(
    labels: Sequence[str],
    scales: NDArray[np.float64],
    amounts: NDArray[np.float64],
    information: float | None = None,
) -> Direction:
    """A direction of length 1.

    Args:
        labels: names of the parameters, `n` of them.
        scales: of each, `(n,)`.
        amounts: how far each moves in units of its scale, of any length, `(n,)`.
        information: what one such step as given tells: `amounts^T F amounts`.
    """
    # Divided by the largest first: squares of the smallest may be nothing.
    largest = np.abs(amounts).max()
    length = float(largest * np.linalg.norm(amounts / largest))
    order = [int(i) for i in np.argsort(-np.abs(amounts), kind="stable") if amounts[i] != 0]
    unit = amounts / (length if amounts[order[0]] > 0 else -length)
    parts = tuple((labels[i], float(unit[i] * scales[i])) for i in order)
    step = None if not information else length / information**0.5
    return Direction(parts, step)


def joined(words: Sequence[str]) -> str:
    """`a`, `b` and `c`: no more than are spelled out."""
    rest = len(words) - SPELLED
    if rest > 0:
        return ", ".join(words[:SPELLED]) + f" and {rest} more"
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
