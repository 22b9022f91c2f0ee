"""Derivatives by differences at a ladder of steps, with an estimate of their own error.

Central differences are extrapolated (Ridders 1982, doi 10.1016/S0141-1195(82)80057-0): a large step
errs by curvature, a small one by rounding, and where neighbouring extrapolations agree best, both
are small. Parameters of 2e4 and of 1e-6 need no different care.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from app.engine.differences import FIRST, SHRINK, Difference, difference, scale_of
from app.engine.tile import Tile

LEVELS = 8
# Levels before one may stop, and the error, relative to the derivative, that is small enough: far
# below what any comparison asks. A plain difference has the same error some levels further down.
ENOUGH = 4
SURE = 1e-7
FURTHER = 3
# What a kink's gap between the two sides keeps of itself at a sixteenth of the step, and its least
# size beside the largest derivative.
STAYS = 0.5
KINK = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """A derivative by differences.

    Attributes:
        values: the derivative, of the image's shape.
        error: what it may be off by, of the image's shape.
        kinked: where the derivatives from either side differ, as far as the best step sees.
        creased: where they differ at the least step as well: the kink lies at the value itself.
        step: the step whose plain central difference is best over all pixels.
        steps: the steps that were made, falling.
        plain: the plain central differences at these, `(steps, *pixels, channels)`.
        here: the image.
    """

    values: Tensor
    error: Tensor
    kinked: Bool[Tensor, "*pixels"]
    creased: Bool[Tensor, "*pixels"]
    step: float
    steps: tuple[float, ...]
    plain: Float[Tensor, "steps *pixels channels"]
    here: Float[Tensor, "*pixels channels"]

    @property
    def rounding(self) -> Tensor:
        """The derivative of which the largest step shows nothing."""
        return rounding(self.here, self.steps[0])

    @property
    def leap(self) -> Tensor:
        """The smallest change of the image that a step makes, of those that make one, or 0."""
        change = self.plain.abs() * 2 * column(self.steps, self.plain)
        least = torch.where(change > 0, change, torch.inf).amin(dim=0)
        return torch.nan_to_num(least, posinf=0.0)


def estimate(tile: Tile, direction: Tensor, *, deep: bool = False) -> Estimate:
    """The derivative along a direction, extrapolated, each pixel at the steps that suit it.

    Args:
        tile: the renderer at some positions.
        direction: along what.
        deep: whether to go down all the ladder, though every pixel is sure of itself.
    """
    here, scale = tile(tile.value), scale_of(tile, direction)
    steps: list[float] = []
    made: list[Difference] = []
    for level in range(LEVELS):
        steps.append(FIRST * scale / SHRINK**level)
        made.append(difference(tile, direction, steps[-1], here))
        if level + 1 < ENOUGH or (deep and level + 1 < LEVELS):
            continue
        plain = torch.stack([each.values for each in made])
        values, error = _extrapolated(plain)
        if _sure(values, error):
            break
    best = _best_step(plain, values, error)
    kinked = _kinked(made, max(best, 2), values)
    early, least = len(steps) < LEVELS, FIRST * scale / SHRINK ** (LEVELS - 1)
    return Estimate(
        values=values,
        error=error,
        kinked=kinked,
        creased=kinked & _kinked(made, len(made) - 1, values),
        step=max(least, steps[-1] / SHRINK**FURTHER) if early else steps[best],
        steps=tuple(steps),
        plain=plain,
        here=here,
    )


def rounding(here: Tensor, step: float) -> Tensor:
    """The derivative that changes an image by less than its last place over a step."""
    return torch.nan_to_num(here.abs() * torch.finfo(here.dtype).eps / step, posinf=0.0)


def column(steps: tuple[float, ...], plain: Tensor) -> Tensor:
    """Steps beside the differences that were made with them."""
    widths = torch.tensor(steps, dtype=plain.dtype, device=plain.device)
    return widths.reshape(-1, *[1] * (plain.ndim - 1))


def _extrapolated(plain: Tensor) -> tuple[Tensor, Tensor]:
    """The derivative of each pixel at its best level, and what it may be off by."""
    better = (SHRINK**2 * plain[1:] - plain[:-1]) / (SHRINK**2 - 1)
    # An extrapolation is believed as far as its neighbour and its own parts agree with it.
    parts = (better - plain[1:]).abs()
    neighbours = (better[1:] - better[:-1]).abs()
    error = torch.maximum(neighbours, torch.minimum(parts[1:], parts[:-1]))
    error = torch.nan_to_num(error, nan=torch.inf)
    # Rounding agrees with itself here and there by chance: no pixel is surer than most that move.
    error = torch.maximum(error, _typical(error, (plain != 0).any(dim=0)))
    least, level = error.min(dim=0)
    return better[1:].gather(0, level[None])[0], least


def _sure(values: Tensor, error: Tensor) -> bool:
    """Whether the estimate moves somewhere, and is as good as exact wherever it is a number."""
    known = torch.isfinite(values)
    size = torch.where(known, values, 0).abs()
    if not bool(size.any()):
        return False
    return bool((error <= SURE * size.clamp(min=1e-2 * float(size.max())))[known].all())


def _kinked(made: list[Difference], level: int, values: Tensor) -> Bool[Tensor, "*pixels"]:
    """Where the gap between the two sides stays, from a step to a sixteenth of it.

    Of a smooth image it shrinks with the step, of rounding it grows.
    """
    near, far = made[level].gap, made[level - 2].gap
    if near is None or far is None:
        return torch.zeros(values.shape[:-1], dtype=torch.bool, device=values.device)
    near, far = near.abs(), far.abs()
    size = torch.nan_to_num(torch.maximum(values.abs(), near), nan=0.0, posinf=0.0).max()
    stays = (near > STAYS * far) & (STAYS * near < far)
    return (stays & (near > KINK * size)).any(-1)


def _typical(error: Tensor, moving: Tensor) -> Tensor:
    """At each step the median error over the pixels that move at one step or another."""
    known = torch.where(moving & torch.isfinite(error), error, torch.nan)
    median = torch.nan_to_num(known.flatten(1).nanmedian(dim=1).values)
    return median.reshape(-1, *[1] * (error.ndim - 1))


def _best_step(plain: Tensor, values: Tensor, error: Tensor) -> int:
    """The step whose plain difference is nearest to the extrapolated values over all pixels."""
    finite = torch.isfinite(values) & torch.isfinite(error)
    off = torch.where(finite, plain - values, 0).abs().flatten(1)
    off = torch.nan_to_num(off, nan=torch.inf)
    # The largest deviations count, but not those of the few pixels that lie on a kink.
    return int(off.quantile(0.98, dim=1).argmin())
