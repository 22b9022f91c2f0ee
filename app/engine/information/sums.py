"""What is summed over the pixels of a frame: it can be summed in parts, and elsewhere."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sums:
    """The Fisher matrix of some pixels, and what was met on the way.

    Attributes:
        labels: names of the parameters, in order.
        scales: the amount of each that counts as 1 in `matrix`.
        matrix: sum over the pixels of `J^T W J`, each parameter in units of its scale, `(n, n)`.
        hidden: which parameters move some value of weight zero, `(n,)`.
        noise: the noise model, as it describes itself.
        finding: code of what is found where values of weight zero move; may be empty.
        accuracy: relative error of the derivatives, by rounding alone where nothing more is known.
        pixels: how many pixels the matrix holds.
        left_out: how many are not in it, for their derivatives or their image are no numbers.
        unweighted: how many move in a value of weight zero.
    """

    labels: tuple[str, ...]
    scales: tuple[float, ...]
    matrix: NDArray[np.float64]
    hidden: NDArray[np.bool_]
    noise: dict[str, Any]
    finding: str
    accuracy: float
    pixels: int
    left_out: int
    unweighted: int

    def __add__(self, other: "Sums") -> "Sums":
        """The sums over both sets of pixels together.

        Raises:
            ValueError: they are of different parameters, scales or noise.
        """
        for name in ("labels", "scales", "noise"):
            ours, theirs = getattr(self, name), getattr(other, name)
            if ours != theirs:
                raise ValueError(f"Sums of different {name} cannot be added: {ours}, {theirs}.")
        return replace(
            self,
            matrix=self.matrix + other.matrix,
            hidden=self.hidden | other.hidden,
            accuracy=max(self.accuracy, other.accuracy),
            pixels=self.pixels + other.pixels,
            left_out=self.left_out + other.left_out,
            unweighted=self.unweighted + other.unweighted,
        )
