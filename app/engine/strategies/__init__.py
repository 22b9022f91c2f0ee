"""The ways to get a derivative: one file each, one contract, one table."""

from collections.abc import Mapping
from types import MappingProxyType

from app.engine.errors import UnknownStrategyError
from app.engine.strategies._contract import Strategy, Tile
from app.engine.strategies.forward import forward
from renderers import suggestion

STRATEGIES: Mapping[str, Strategy] = MappingProxyType({s.name: s for s in (forward,)})
AUTO = "auto"
CHOICES = (AUTO, *STRATEGIES)


def choose(name: str) -> Strategy:
    """The strategy of that name; `auto` takes the first that fits.

    Raises:
        UnknownStrategyError: there is none of that name.
    """
    if name == AUTO:
        return forward
    if name not in STRATEGIES:
        raise UnknownStrategyError(f"There is no strategy {name!r}." + suggestion(name, CHOICES))
    return STRATEGIES[name]


__all__ = ["AUTO", "CHOICES", "STRATEGIES", "Strategy", "Tile", "choose"]
