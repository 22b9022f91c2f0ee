"""Means of samples that come in groups, and how far they may be off."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Mean and spread of the samples so far, in float64.

    Groups are joined by their means and squares about them, so that nothing cancels (Chan, Golub
    and LeVeque 1983, doi:10.1080/00031305.1983.10483115).

    Attributes:
        count: how many.
        mean: of each entry.
        squares: sum of the squared deviations from it.
    """

    count: int
    mean: Float[Tensor, "*entries"]
    squares: Float[Tensor, "*entries"]

    @classmethod
    def of(cls, samples: Float[Tensor, "k *entries"]) -> "Moments":
        """Those of one group."""
        wide = samples.double()
        mean = wide.mean(0)
        return cls(len(samples), mean, (wide - mean).square().sum(0))

    def __add__(self, other: "Moments") -> "Moments":
        """Those of both groups."""
        count = self.count + other.count
        gap = other.mean - self.mean
        return Moments(
            count,
            self.mean + gap * (other.count / count),
            self.squares + other.squares + gap.square() * (self.count * other.count / count),
        )

    @property
    def error(self) -> Float[Tensor, "*entries"]:
        """Standard error of the mean; infinite for a single sample, which tells nothing of it."""
        if self.count < 2:
            return torch.full_like(self.mean, torch.inf)
        return (self.squares / (self.count - 1) / self.count).sqrt()
