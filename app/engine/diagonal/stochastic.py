"""Trace and diagonal from products with independent random vectors.

Sources: M. F. Hutchinson, "A stochastic estimator of the trace of the influence matrix", 1989,
doi:10.1080/03610918908812806; C. Bekas, E. Kokiopoulou and Y. Saad, "An estimator for the diagonal
of a matrix", 2007, doi:10.1016/j.apnum.2007.01.003; R. A. Meyer, C. Musco, C. Musco and
D. P. Woodruff, "Hutch++: optimal stochastic trace estimation", 2021,
doi:10.1137/1.9781611976496.16.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

import torch
from jaxtyping import Float
from torch import Tensor

from app.engine.diagonal.moments import Moments
from app.engine.diagonal.operator import Operator
from app.engine.diagonal.vectors import generator, signs


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Estimate:
    """An estimate, and how far it may be off.

    Attributes:
        trace: of the whole matrix.
        standard_error: of the trace.
        passes: products that it is made of.
        values: the diagonal `(n,)`; None where the method gives the trace alone.
        errors: standard error of each of them.
        sums: the diagonal's sum over each row of the grid, `(rows,)`, where it was asked for.
        sum_errors: standard error of each of those.
    """

    trace: float
    standard_error: float
    passes: int
    values: Float[Tensor, " n"] | None = None
    errors: Float[Tensor, " n"] | None = None
    sums: Float[Tensor, " rows"] | None = None
    sum_errors: Float[Tensor, " rows"] | None = None


def hutchinson(
    operator: Operator, groups: Iterable[Float[Tensor, "k n"]], rows: int = 1
) -> Estimate:
    """The mean of `v * J v` over sign vectors `v`: the diagonal, without bias.

    The variance of an entry is the sum of the squares beside the diagonal in its row (where signs
    are independent), so a Jacobian that is nearly diagonal needs few vectors.

    Args:
        operator: the Jacobian.
        groups: sign vectors, `(k, n)` at a time.
        rows: equal parts of the entries whose sums are wanted with their own errors.
    """
    parts = (_moments(operator, group, rows) for group in groups)
    entries, sums, trace = reduce(_joined, parts)
    return Estimate(
        trace=float(trace.mean),
        standard_error=float(trace.error),
        passes=entries.count,
        values=entries.mean,
        errors=entries.error,
        sums=sums.mean,
        sum_errors=sums.error,
    )


Sampled = tuple[Moments, Moments, Moments]
"""Of the entries, of the sums over rows, and of the trace."""


def _moments(operator: Operator, vectors: Float[Tensor, "k n"], rows: int) -> Sampled:
    samples = vectors * operator.push(vectors)
    sums = samples.reshape(len(samples), rows, -1).double().sum(2)
    return Moments.of(samples), Moments.of(sums), Moments.of(sums.sum(1))


def _joined(first: Sampled, second: Sampled) -> Sampled:
    entries, sums, trace = (a + b for a, b in zip(first, second, strict=True))
    return entries, sums, trace


def hutch_plus_plus(operator: Operator, passes: int, seed: int) -> Estimate:
    """The trace: exact on the range of a sketch, by sign vectors on what is orthogonal to it.

    A third of the passes each for the sketch `Q`, for `J Q`, and for the rest. Given the sketch,
    the samples of the rest are independent, so that their spread is an honest standard error. A
    Jacobian of rank up to `passes / 3` comes out exactly.
    """
    draw, third = generator(seed), passes // 3
    sketch = operator.push(signs(operator, third, draw)).double().T
    if not bool(torch.isfinite(sketch).all()):
        return lost(third)
    basis = orthonormal(sketch, operator.precision)
    inside = operator.push(basis.T).double().T
    probes = signs(operator, passes - third - basis.shape[1], draw).double().T
    probes = probes - basis @ (basis.T @ probes)
    pushed = operator.push(probes.T).double().T
    rest = Moments.of((probes * pushed).sum(0))
    return Estimate(
        trace=float((basis * inside).sum() + rest.mean),
        standard_error=float(rest.error),
        passes=passes,
    )


def lost(passes: int, like: Tensor | None = None) -> Estimate:
    """What a sketch with NaN or infinite entries tells: nothing, since it mixes all of them."""
    values = None if like is None else torch.full_like(like, torch.nan)
    return Estimate(
        trace=math.nan, standard_error=math.nan, passes=passes, values=values, errors=values
    )


def orthonormal(columns: Float[Tensor, "n m"], precision: float) -> Float[Tensor, "n r"]:
    """A basis of what columns span beyond rounding, by as many vectors as they have directions."""
    left, sizes, _ = torch.linalg.svd(columns, full_matrices=False)
    if not bool((sizes > 0).any()):
        return columns[:, :0]
    basis: Tensor = left[:, sizes > len(sizes) * precision * sizes[0]]
    return basis
