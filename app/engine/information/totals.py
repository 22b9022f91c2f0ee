"""What is summed on the device while tiles come."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True, eq=False)
class Totals:
    """What is summed, on the device.

    Attributes:
        matrix: the Fisher matrix in units of scales, `(n, n)`.
        hidden: which parameters move some value of weight zero, `(n,)`.
        counts: pixels that were used, left out, and without weight: read once, for reading waits.
    """

    matrix: Tensor
    hidden: Tensor
    counts: Tensor

    @classmethod
    def none(cls, n: int, device: torch.device | str) -> "Totals":
        """The sums over no pixel."""
        return cls(
            torch.zeros(n, n, dtype=torch.float64, device=device),
            torch.zeros(n, dtype=torch.bool, device=device),
            torch.zeros(3, dtype=torch.int64, device=device),
        )

    def take(self, other: "Totals") -> None:
        """Add others in place."""
        self.matrix.add_(other.matrix)
        self.hidden.logical_or_(other.hidden)
        self.counts.add_(other.counts)
