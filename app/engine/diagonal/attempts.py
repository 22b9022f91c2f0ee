"""The exact methods that rest on a pattern, each tried and borne out by random vectors."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from app.engine.diagonal.colouring import Colouring, Window
from app.engine.diagonal.exact import PROBES, Exact, by_colours
from app.engine.diagonal.operator import Operator
from app.engine.diagonal.pattern import affordable, find_window, pointwise, rows, widened


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Attempt:
    """A diagonal that a pattern gives, or why it gives none.

    Attributes:
        found: the diagonal, where the pattern holds.
        words: what was proven; or what speaks against the pattern.
    """

    found: Exact | None = None
    words: str


def _tried(operator: Operator, window: Window, seed: int, meaning: str) -> Attempt:
    """The diagonal by the colours of a window, if random vectors bear the window out."""
    found = by_colours(operator, Colouring(operator.shape, window), seed)
    if found.outside:
        return Attempt(
            words=f"Not every output depends on {meaning}: {found.outside} of {operator.size} "
            f"disagree with a random product, by up to {found.worst:.2g} times what rounding may."
        )
    return Attempt(
        found=found,
        words=f"Every output depends on {meaning}: {PROBES} random products agree with what "
        f"follows from {found.passes} of the pattern's, to {found.worst:.1g} of what rounding may "
        "make. A dependence below rounding would not be seen, and would change the values by no "
        "more.",
    )


def try_pointwise(operator: Operator, seed: int) -> Attempt:
    """Outputs that depend on their own input alone: one pass."""
    return _tried(operator, pointwise(operator.shape), seed, "its own input alone")


def try_rows(operator: Operator, seed: int) -> Attempt:
    """Rows (all axes but the first) that depend on themselves alone: a pass for each entry of one.

    Other limits than those of a stencil do not hold: whoever has a batch of points wants just this.
    """
    return _tried(operator, rows(operator.shape), seed, "its own row alone")


def try_stencil(operator: Operator, seed: int) -> Attempt:
    """Outputs that depend on inputs nearby: a pass for each colour of a window.

    The window is looked up. A stencil that differs from place to place may be wider than where it
    was looked at, so a wider window is tried once.
    """
    window = find_window(operator, seed)
    if window is None:
        return Attempt(words="What some inputs move lies all over the image: it is no stencil.")
    attempt = Attempt(words="")
    for each in (window, widened(window)):
        if not affordable(operator, each):
            count = Colouring(operator.shape, each).count
            why = f"A stencil of {count} entries takes more passes than it is worth."
            return replace(attempt, words=" ".join(filter(None, (attempt.words, why))))
        attempt = _tried(operator, each, seed, f"inputs {_reach(each)} away")
        if attempt.found is not None:
            break
    return attempt


def _reach(window: Window) -> str:
    """A window in words: how far before and beyond an output, for each axis."""
    return " by ".join(f"{low} to {high}" for low, high in window)


ATTEMPTS: Mapping[str, Callable[[Operator, int], Attempt]] = MappingProxyType(
    {"pointwise": try_pointwise, "stencil": try_stencil, "rows": try_rows}
)
