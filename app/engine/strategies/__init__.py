"""The ways to get a derivative: one file each, one contract, one table."""

from collections.abc import Mapping
from types import MappingProxyType

from app.engine.errors import UnknownStrategyError
from app.engine.strategies._contract import Gradient, Strategy
from app.engine.strategies.double_vjp import double_vjp
from app.engine.strategies.dual import dual
from app.engine.strategies.edge import edge
from app.engine.strategies.finite_difference import finite_difference
from app.engine.strategies.forward import forward
from app.engine.strategies.native import native
from app.engine.strategies.per_pixel import per_pixel
from app.engine.strategies.reverse import reverse
from renderers import suggestion

RUNGS = (native, forward, dual, double_vjp, finite_difference)
MANY = (per_pixel, reverse)
STRATEGIES: Mapping[str, Strategy] = MappingProxyType(
    {strategy.name: strategy for strategy in (*RUNGS, *MANY, edge)}
)
AUTO = "auto"
CHOICES = (AUTO, *STRATEGIES)


def check(name: str) -> None:
    """Refuse a name that is no strategy.

    Raises:
        UnknownStrategyError: there is none of that name.
    """
    if name not in CHOICES:
        raise UnknownStrategyError(f"There is no strategy {name!r}." + suggestion(name, CHOICES))


__all__ = ["AUTO", "CHOICES", "STRATEGIES", "Gradient", "Strategy", "check"]
