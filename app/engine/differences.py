"""Derivatives by differences, with an estimate of their own error.

Central differences at a ladder of steps are extrapolated (Ridders 1982, doi 10.1016/S0141-1195(82)
80057-0): a large step errs by curvature, a small one by rounding, and where neighbouring
extrapolations agree best, both are small. Parameters of 2e4 and of 1e-6 need no different care.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from renderers import Param

Image = Callable[[Tensor], Float[Tensor, "..."]]
"""An image as a function of the parameter."""

SHRINK = 4.0
LEVELS = 8
# The first step, in units of the parameter's scale.
FIRST = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """A derivative by differences.

    Attributes:
        values: the derivative, of the image's shape.
        error: what it may be off by, of the image's shape.
        step: the step whose plain central difference is best over all pixels.
    """

    values: Tensor
    error: Tensor
    step: float


def scale_of(declared: Param, value: Tensor, direction: Tensor) -> float:
    """How far a parameter may be moved along a direction to be moved notably.

    The size of the entries that the direction moves; where they are near 0, the declared range;
    where there is none, 1.
    """
    moved = direction != 0
    size = float(value[moved].abs().max()) if bool(moved.any()) else 0.0
    if declared.low is not None and declared.high is not None:
        size = max(size, 0.01 * (declared.high - declared.low))
    return (size or 1.0) / max(float(direction.abs().max()), 1e-300)


def central(image: Image, value: Tensor, direction: Tensor, step: float) -> Tensor:
    """The central difference along a direction."""
    ahead, behind = value + step * direction, value - step * direction
    return (image(ahead) - image(behind)) / (2 * step)


def estimate(image: Image, value: Tensor, direction: Tensor, scale: float) -> Estimate:
    """The derivative along a direction, extrapolated, each pixel at the steps that suit it."""
    steps = [FIRST * scale / SHRINK**level for level in range(LEVELS)]
    plain = torch.stack([central(image, value, direction, step) for step in steps])
    better = (SHRINK**2 * plain[1:] - plain[:-1]) / (SHRINK**2 - 1)
    # An extrapolation is believed as far as its neighbour and its own parts agree with it.
    parts = (better - plain[1:]).abs()
    neighbours = (better[1:] - better[:-1]).abs()
    error = torch.maximum(neighbours, torch.minimum(parts[1:], parts[:-1]))
    error = torch.nan_to_num(error, nan=torch.inf)
    least, level = error.min(dim=0)
    values = better[1:].gather(0, level[None])[0]
    return Estimate(values, least, steps[_best_step(plain, values, least)])


def kinks(
    image: Image, value: Tensor, direction: Tensor, reference: Estimate
) -> Bool[Tensor, "*pixels"]:
    """Where the derivatives from either side differ, whatever the step: a kink in the parameter."""
    here = image(value)
    size = torch.nan_to_num(reference.values).abs().max()
    far, near = (
        (image(value + step * direction) - 2 * here + image(value - step * direction)).abs() / step
        for step in (SHRINK**2 * reference.step, reference.step)
    )
    # Of a smooth image the gap shrinks with the step; of a kink it stays.
    return ((near > 0.5 * far) & (near > 0.01 * size)).any(-1)


def _best_step(plain: Tensor, values: Tensor, error: Tensor) -> int:
    """The step whose plain difference is nearest to the extrapolated values over all pixels."""
    finite = torch.isfinite(values) & torch.isfinite(error)
    off = torch.where(finite, plain - values, 0).abs().flatten(1)
    off = torch.nan_to_num(off, nan=torch.inf)
    # The largest deviations count, but not those of the few pixels that lie on a kink.
    return int(off.quantile(0.98, dim=1).argmin())
