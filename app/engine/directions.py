"""What maps are taken along: directions in the space of the parameters that move."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor


@dataclass(frozen=True, slots=True, eq=False)
class Directions:
    """Directions in a space of `size` entries: scaled unit ones, or any, written out.

    A basis is not written out: that of an image-shaped parameter would be a million squared.

    Attributes:
        size: how many entries the parameters have together.
        entries: which entry each direction moves most, `(n,)`.
        scales: how far, where it moves no other, `(n,)`, float64.
        matrix: the directions written out, `(n, size)`, where they move several entries each.
    """

    size: int
    entries: Int[Tensor, " n"]
    scales: Float[Tensor, " n"]
    matrix: Float[Tensor, "n size"] | None = None

    @classmethod
    def written(cls, matrix: Float[Tensor, "n size"]) -> "Directions":
        """Any directions."""
        ones = torch.ones(len(matrix), dtype=torch.float64)
        return cls(matrix.shape[1], matrix.abs().argmax(dim=1).cpu(), ones, matrix)

    @classmethod
    def basis(cls, size: int) -> "Directions":
        """The unit direction of every entry."""
        return cls(size, torch.arange(size), torch.ones(size, dtype=torch.float64))

    def __len__(self) -> int:
        """How many there are."""
        return len(self.entries)

    def rows(
        self, which: slice, device: torch.device, dtype: torch.dtype
    ) -> Float[Tensor, "k size"]:
        """Some of them, written out."""
        if self.matrix is not None:
            return self.matrix[which].to(device, dtype)
        entries = self.entries[which]
        rows = torch.zeros((len(entries), self.size), dtype=dtype)
        rows[torch.arange(len(entries)), entries] = self.scales[which].to(dtype)
        return rows.to(device)

    def combined(self, weights: Float[Tensor, " n"]) -> Float[Tensor, " size"]:
        """Their sum with weights, float64 on the CPU."""
        if self.matrix is not None:
            return weights.double() @ self.matrix.double().cpu()
        total = torch.zeros(self.size, dtype=torch.float64)
        return total.index_add(0, self.entries, weights.double() * self.scales)

    def applied(
        self, gradient: Float[Tensor, "size *pixels"], which: slice
    ) -> Float[Tensor, "k *pixels"]:
        """The derivative along some of them, out of that by every entry.

        Entry by entry: in a product of matrices, one that is no number would spoil all others.
        """
        if self.matrix is not None:
            rows = self.matrix[which].to(gradient.device, gradient.dtype)
            mixed: Tensor = torch.tensordot(rows, gradient, dims=1)
            return mixed
        entries, scales = self.entries[which], self.scales[which]
        if not torch.equal(entries, torch.arange(self.size)):
            gradient = gradient[entries.to(gradient.device)]
        if bool((scales == 1).all()):
            return gradient
        by = scales.to(gradient.device, gradient.dtype)
        scaled: Tensor = gradient * by.reshape(-1, *[1] * (gradient.ndim - 1))
        return scaled
