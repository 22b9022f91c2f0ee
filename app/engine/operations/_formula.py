"""What a formula is: an operation with its options fixed, and its derivative both ways."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from torch import Tensor


class Formula(ABC):
    """The value of an operation and its derivative, for given options."""

    @abstractmethod
    def value(self, *inputs: Tensor) -> Tensor:
        """The operation itself, as torch computes it."""

    @abstractmethod
    def tangent(
        self, inputs: Sequence[Tensor], tangents: Sequence[Tensor | None], output: Tensor
    ) -> Tensor:
        """The tangent of the output, of the output's shape.

        Under `vmap` over many tangents only `tangents` are batched: what is computed from `inputs`
        alone is computed once. An input that does not move has None; at least one moves.
        """

    @abstractmethod
    def cotangents(
        self, inputs: Sequence[Tensor], cotangent: Tensor, output: Tensor, needed: Sequence[bool]
    ) -> Sequence[Tensor | None]:
        """The cotangent of each input, None where it is not needed.

        Written in plain operations: torch's transforms cannot be entered from a backward pass.
        """
