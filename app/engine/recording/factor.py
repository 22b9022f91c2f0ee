"""A factor that many products have in common, as derivatives of a sum by its coefficients do."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from app.engine.recording.graph import Argument, Output, Reference, Step

aten = torch.ops.aten
View = tuple[Callable[..., Any], tuple[Argument, ...]]
"""An operation that gives the same numbers in another shape, and its further arguments."""
VIEWS = frozenset({aten.view.default, aten.unsqueeze.default})
# So many products, before it is worth it.
FEWEST = 4


@dataclass(frozen=True, slots=True)
class Shared:
    """Products `factor * other`, each seen through the same views.

    Attributes:
        factor: what all have in common.
        others: what each has of its own.
        views: through which the products are seen, the innermost first.
    """

    factor: Reference
    others: tuple[Reference, ...]
    views: tuple[View, ...]


@dataclass(frozen=True, slots=True)
class _Product:
    first: Reference
    second: Reference
    views: tuple[View, ...]


def common_factor(steps: Sequence[Step], parts: Sequence[Reference]) -> Shared | None:
    """What some tensors have in common, if all are products of one shape by one factor."""
    if len(parts) < FEWEST:
        return None
    products = [_product(steps, part) for part in parts]
    first = products[0]
    if first is None:
        return None
    for factor in (first.first, first.second):
        others = [_other(product, factor, first.views) for product in products]
        if all(other is not None for other in others):
            known = tuple(other for other in others if other is not None)
            return Shared(factor, known, first.views)
    return None


def _product(steps: Sequence[Step], part: Reference) -> _Product | None:
    views: list[View] = []
    while isinstance(part, Output) and part.part is None:
        step = steps[part.step]
        if step.op is aten.mul.Tensor and not step.kwargs:
            first, second = step.args
            alike = all(_shape(steps, each) == step.shape for each in (first, second))
            return _Product(first, second, tuple(reversed(views))) if alike else None
        if step.op not in VIEWS:
            return None
        views.append((step.op, step.args[1:]))
        part = step.args[0]
    return None


def _shape(steps: Sequence[Step], argument: Argument) -> tuple[Argument, ...] | None:
    plain = isinstance(argument, Output) and argument.part is None
    return steps[argument.step].shape if plain else None


def _other(
    product: _Product | None, factor: Reference, views: tuple[View, ...]
) -> Reference | None:
    """What a product has beside a factor, if it has that, and is seen in the same way."""
    if product is None or product.views != views:
        return None
    if product.first == factor:
        return product.second
    return product.first if product.second == factor else None
