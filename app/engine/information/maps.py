"""What each pixel tells of each parameter, and of which it tells most."""

import math
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float
from numpy.typing import NDArray
from torch import Tensor

from app.engine.information.noise import Part

# The label of a pixel that tells of no parameter.
NONE = -1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Maps:
    """Where maps of the information go: host memory, C order; either may be None.

    Attributes:
        information: what each pixel adds to the diagonal of the Fisher matrix, `(height, width,
            n)`, in one over the parameter's unit squared; NaN at pixels that are left out.
        dominant: index of the parameter that a pixel tells most of, each in units of its scale,
            the first of equals, `(height, width)`; -1 where a pixel tells of none, or is left out.
    """

    information: NDArray[np.floating] | None = None
    dominant: NDArray[np.signedinteger] | None = None

    @property
    def wanted(self) -> bool:
        """Whether there is any."""
        return self.information is not None or self.dominant is not None

    def check(self, shape: tuple[int, int], n: int) -> None:
        """Raise ValueError where an array does not fit the frame `(height, width)`."""
        wanted = {"information": (*shape, n), "dominant": shape}
        for name, expected in wanted.items():
            array = getattr(self, name)
            if array is not None and array.shape != expected:
                raise ValueError(f"The map `{name}` must be {expected}; got {array.shape}.")

    def write(
        self,
        where: Part,
        each: Float[Tensor, "n rows columns"],
        kept: Bool[Tensor, "rows columns"],
        scales: Float[Tensor, " n"],
    ) -> None:
        """Write a part of the maps.

        Args:
            where: which part of the frame.
            each: information on each parameter, in units of its scale; none where left out.
            kept: which pixels are not left out.
            scales: of the parameters.
        """
        if self.dominant is not None:
            strongest, label = each.max(dim=0)
            label = torch.where(strongest > 0, label, NONE)
            torch.from_numpy(self.dominant)[where].copy_(label)
        if self.information is not None:
            values = torch.where(kept, each / scales.square()[:, None, None], math.nan)
            torch.from_numpy(self.information)[where].copy_(values.movedim(0, -1))
