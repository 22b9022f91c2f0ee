"""A formula under `vmap`: the same formula for each member of a batch of inputs."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor
from torch.func import vmap

from app.engine.operations._formula import Formula


@dataclass(frozen=True, slots=True)
class Batched(Formula):
    """A formula whose inputs, some or all, have one dimension more.

    torch can write this rule itself (`generate_vmap_rule`), but then runs the tangent's formula
    under `vmap`, where a tangent cannot be taken off a tensor; see `_evaluation.py`.

    Attributes:
        formula: the formula of one member.
        dims: where each input has its batch dimension; None for one that all members share.
    """

    formula: Formula
    dims: tuple[int | None, ...]

    def value(self, *inputs: Tensor) -> Tensor:
        """The values, their batch dimension first."""
        values: Tensor = vmap(self.formula.value, in_dims=self.dims)(*inputs)
        return values

    def tangent(
        self, inputs: Sequence[Tensor], tangents: Sequence[Tensor | None], output: Tensor
    ) -> Tensor:
        """The tangents, their batch dimension first."""
        moving = {at: each for at, each in enumerate(tangents) if each is not None}

        def one(inputs: Sequence[Tensor], moving: dict[int, Tensor], output: Tensor) -> Tensor:
            every = [moving.get(at) for at in range(len(inputs))]
            return self.formula.tangent(inputs, every, output)

        dims = (self.dims, {at: self.dims[at] for at in moving}, 0)
        batch: Tensor = vmap(one, in_dims=dims)(tuple(inputs), moving, output)
        return batch

    def cotangents(
        self, inputs: Sequence[Tensor], cotangent: Tensor, output: Tensor, needed: Sequence[bool]
    ) -> Sequence[Tensor | None]:
        """The cotangent of each input; of a shared one, the sum over the batch."""

        def one(inputs: Sequence[Tensor], cotangent: Tensor, output: Tensor) -> dict[int, Tensor]:
            every = self.formula.cotangents(inputs, cotangent, output, needed)
            return {at: each for at, each in enumerate(every) if each is not None}

        batch = vmap(one, in_dims=(self.dims, 0, 0))(tuple(inputs), cotangent, output)
        return [
            _placed(batch[at], dim) if at in batch else None for at, dim in enumerate(self.dims)
        ]


def _placed(batch: Tensor, dim: int | None) -> Tensor:
    return batch.sum(0) if dim is None else batch.movedim(0, dim)
