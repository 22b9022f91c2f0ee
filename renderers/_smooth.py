"""Smooth stand-ins for steps, roots and extrema, so that derivatives exist and stay finite."""

import torch
from torch import Tensor


def soft_step(x: Tensor) -> Tensor:
    """Cubic step `3 x^2 - 2 x^3` from 0 at `x <= 0` to 1 at `x >= 1`, continuously differentiable.

    It is exactly 0 and 1 outside, so what it switches off has no derivative there either.
    """
    inside = torch.clamp(x, 0.0, 1.0)
    return inside * inside * (3.0 - 2.0 * inside)


def safe_sqrt(x: Tensor, floor: float = 1e-12) -> Tensor:
    """Square root of `max(x, floor)`: below the floor it is constant, with derivative 0.

    The slope is at most `0.5 / sqrt(floor)`; plain `sqrt` has an infinite one at 0, which turns
    into NaN as soon as it is multiplied by 0.
    """
    return torch.sqrt(torch.clamp(x, min=floor))


def soft_relu(x: Tensor, width: float) -> Tensor:
    """Hyperbola `(x + sqrt(x^2 + width^2)) / 2`: `max(x, 0)` with its corner rounded.

    It exceeds `max(x, 0)` by at most `width / 2`, at the corner.
    """
    return 0.5 * (x + torch.sqrt(x * x + width * width))


def soft_min(a: Tensor, b: Tensor, width: Tensor) -> Tensor:
    """Exponential smooth minimum `-width log(exp(-a / width) + exp(-b / width))`.

    Its gradient is that of `a` and that of `b`, mixed with the weight `sigmoid((a - b) / width)`
    for `b`. It is below `min(a, b)` by at most `width log 2`, so the smooth union of two distance
    fields never overestimates a distance.

    Source: I. Quilez, "Smooth minimum", https://iquilezles.org/articles/smin/.
    """
    return b - width * softplus((b - a) / width)


def softplus(x: Tensor) -> Tensor:
    """`log(1 + exp(x))` for any `x`; torch's own switches to a line at 20, a step of 2e-9."""
    return torch.clamp(x, min=0.0) + torch.log1p(torch.exp(-torch.abs(x)))


def logistic(x: Tensor) -> Tensor:
    """`1 / (1 + exp(-x))`, with the same bits wherever a pixel stands in a tile.

    On CPUs `torch.sigmoid` rounds the last few entries of a float32 tensor by another formula
    than the rest, so that a band would differ from the whole.
    """
    return 0.5 + 0.5 * torch.tanh(0.5 * x)
