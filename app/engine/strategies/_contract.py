"""What a strategy is: one way to get the derivative of a tile."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from app.engine.findings import Finding
from app.engine.tile import Image, Planes, Tangents, Tile, Vectors

Gradient = Callable[[Tile], tuple[Image, Planes]]
Differentiate = Callable[[Tile, Vectors], tuple[Image, Tangents]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What a strategy knows of a map that it has computed, beside the map.

    Attributes:
        relative: the standard error (RMS over the values that have one), over the largest value.
        counts: what was met, by name.
        findings: what is missing from the map.
    """

    relative: float = 0.0
    counts: Mapping[str, int] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()


def _nothing() -> None:
    return None


@dataclass(frozen=True, slots=True)
class Strategy:
    """One way to get a derivative.

    Attributes:
        name: how it is asked for, and how answers name it.
        help: what it does, in one line.
        differentiate: the computation.
        begin: makes the strategy anew for each map, where it gathers evidence over the map's tiles.
        evidence: what has been gathered.
        recordable: whether all it does is operations of torch on the tile, and nothing between.
        gradient: the derivative of each channel by every entry of the parameters that move, where
            that costs no more than by some of them; directions are then applied to it.
    """

    name: str
    help: str
    differentiate: Differentiate
    begin: Callable[[], "Strategy"] | None = None
    evidence: Callable[[], Evidence | None] = _nothing
    recordable: bool = False
    gradient: Gradient | None = None

    def begun(self) -> "Strategy":
        """The strategy for one map."""
        return self if self.begin is None else self.begin()
