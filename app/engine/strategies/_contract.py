"""What a strategy is: one way to get the derivative of a tile."""

from collections.abc import Callable
from dataclasses import dataclass

from app.engine.tile import Directions, Image, Tangents, Tile

Differentiate = Callable[[Tile, Directions], tuple[Image, Tangents]]


@dataclass(frozen=True, slots=True)
class Strategy:
    """One way to get a derivative.

    Attributes:
        name: how it is asked for, and how answers name it.
        help: what it does, in one line.
        differentiate: the computation.
    """

    name: str
    help: str
    differentiate: Differentiate
