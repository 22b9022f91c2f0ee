"""`cdist`: the distances between all points of two sets.

With `u = x1[i] - x2[j]` and `d[i, j]` its p-norm,

    dd = sum_m w(u[m]) du[m],   w(u) = sign(u) (|u| / d)^(p - 1),

which is `u / d` for the Euclidean norm, `sign(u)` for p = 1, and `sign(u)` at the largest component
alone for p = inf. torch has neither forward mode for it nor a second pass through its reverse mode.
https://docs.pytorch.org/docs/stable/generated/torch.cdist.html

Not differentiable where points coincide, where a component of `u` vanishes (p <= 1) or two are
largest (p = inf); the derivative there is that of torch's reverse mode, zero where points coincide.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType

import torch
from jaxtyping import Float
from torch import Tensor

from app.engine.operations._contract import Formula, Operation, evaluate

COMPUTE_MODE = "use_mm_for_euclid_dist_if_necessary"  # torch's default


@dataclass(frozen=True, slots=True)
class Cdist(Formula):
    """Distances in the p-norm."""

    p: float
    compute_mode: str

    def value(self, *inputs: Tensor) -> Tensor:
        """The distances `(*batch, points, others)`."""
        points, others = inputs
        distances: Tensor = torch.cdist(points, others, self.p, self.compute_mode)
        return distances

    def tangent(
        self, inputs: Sequence[Tensor], tangents: Sequence[Tensor | None], output: Tensor
    ) -> Tensor:
        """How the distances change; component by component, never all differences at once."""
        total = torch.zeros_like(output)
        for m in range(inputs[0].shape[-1]):
            total = total + self._slope(_apart(inputs, m), output) * _change(tangents, m)
        return total

    def cotangents(
        self, inputs: Sequence[Tensor], cotangent: Tensor, output: Tensor, needed: Sequence[bool]
    ) -> Sequence[Tensor | None]:
        """The transpose, in operations that have both modes, so that it passes reverse twice."""
        del needed
        pulled = [
            cotangent * self._slope(_apart(inputs, m), output) for m in range(inputs[0].shape[-1])
        ]
        points = torch.stack([each.sum(-1) for each in pulled], -1)
        others = torch.stack([-each.sum(-2) for each in pulled], -1)
        return points.sum_to_size(inputs[0].shape), others.sum_to_size(inputs[1].shape)

    def _slope(
        self,
        apart: Float[Tensor, "*batch points others"],
        distance: Float[Tensor, "*batch points others"],
    ) -> Float[Tensor, "*batch points others"]:
        if self.p == 0.0:
            return torch.zeros_like(apart)
        if self.p == 1.0:
            return apart.sign()
        if self.p == math.inf:
            return apart.sign() * (apart.abs() == distance)
        # Over infinity where points coincide: zero, and no NaN in a derivative of this.
        unit = apart / distance.where(distance > 0.0, math.inf)
        if self.p == 2.0:
            return unit
        slope = unit.sign() * unit.abs() ** (self.p - 1.0)
        return slope.where(unit != 0.0, 0.0)


def _apart(inputs: Sequence[Tensor], m: int) -> Tensor:
    """Component `m` of all differences, `(*batch, points, others)`."""
    points, others = inputs
    return points[..., :, None, m] - others[..., None, :, m]


def _change(tangents: Sequence[Tensor | None], m: int) -> Tensor | float:
    """Its tangent, broadcastable: what does not move costs nothing."""
    points, others = tangents
    first = 0.0 if points is None else points[..., :, None, m]
    return first if others is None else first - others[..., None, :, m]


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = COMPUTE_MODE) -> Tensor:
    """Stands in for `torch.cdist`."""
    return evaluate(Cdist(p, compute_mode), x1, x2)


OPERATION = Operation("cdist", MappingProxyType({torch.cdist: cdist}))
