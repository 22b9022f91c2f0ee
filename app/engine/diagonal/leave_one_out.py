"""Trace and diagonal from a sketch each of whose vectors is left out of it in turn.

With `Y = J W` for random vectors `W` and `Q` an orthonormal basis of `Y`, the projection on all
columns of `Y` but the `i`-th is `P_i = Q (1 - s_i s_i^T) Q^T`, where `s_i` is the `i`-th column of
`R^-T` of `Y = Q R`, normalised. What `P_i` holds of the matrix is computed exactly, and the vector
left out, `w_i`, samples the rest: `m` estimates from the same products, of which the mean is taken.

Source: E. N. Epperly, J. A. Tropp and R. J. Webber, "XTrace: making the most of every sample in
stochastic trace estimation", 2024, doi:10.1137/23M1548323.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from app.engine.diagonal.moments import Moments
from app.engine.diagonal.operator import Operator
from app.engine.diagonal.stochastic import Estimate, lost, orthonormal
from app.engine.diagonal.vectors import generator, signs, spheres

Columns = Float[Tensor, "n m"]
Square = Float[Tensor, "m m"]


def xtrace(operator: Operator, passes: int, seed: int) -> Estimate:
    """The trace from `passes / 2` random vectors, and as many products with the basis.

    Each vector left out is scaled to the length that a vector of the remaining space has on
    average. The standard error is that of the `m` estimates, taken as independent, as the source
    does: of a dozen vectors or fewer it was measured to be too small by up to a half. A Jacobian of
    a rank below `m` comes out exactly.
    """
    number = passes // 2
    vectors = spheres(operator, number, generator(seed)).double().T
    sketch = operator.push(vectors.T).double().T
    if not bool(torch.isfinite(sketch).all()):
        return lost(number)
    basis, out = _basis(sketch, operator.precision)
    inside = operator.push(basis.T).double().T
    whole = (basis * inside).sum()
    if out is None:
        return Estimate(trace=float(whole), standard_error=0.0, passes=number + basis.shape[1])
    core = basis.T @ inside
    # What the projection that leaves a vector out holds of that vector, in the basis.
    held = basis.T @ vectors
    held = held - out * (out * held).sum(0)
    left, pushed = vectors - basis @ held, sketch - inside @ held
    scale = (operator.size - number + 1) / left.square().sum(0)
    rest = scale * (left * pushed).sum(0)
    each = Moments.of(whole - (out * (core @ out)).sum(0) + rest)
    return Estimate(trace=float(each.mean), standard_error=float(each.error), passes=2 * number)


def xdiag(operator: Operator, passes: int, seed: int) -> Estimate:
    """The diagonal, and the trace as its sum, from `passes / 2` sign vectors and a basis.

    It needs transposed products. The standard errors of the entries are those of the `m`
    estimates, taken as independent, which entry for entry they nearly are. Their sums are not, so
    that of the trace is by `_jackknife`. A Jacobian of a rank below `m` comes out exactly.

    Raises:
        StrategyError: there are no transposed products.
    """
    number = passes // 2
    vectors = signs(operator, number, generator(seed)).double().T
    sketch = operator.push(vectors.T).double().T
    if not bool(torch.isfinite(sketch).all()):
        return lost(number, like=sketch[:, 0])
    basis, out = _basis(sketch, operator.precision)
    pulled = operator.pull(basis.T).double().T
    whole = (basis * pulled).sum(1)
    if out is None:
        none = torch.zeros_like(whole)
        return Estimate(
            trace=float(whole.sum()), standard_error=0.0, passes=number + basis.shape[1],
            values=whole, errors=none,
        )  # fmt: skip
    size = (out * (basis.T @ sketch)).sum(0)
    # `(1 - P_i) y_i` is what of `y_i` lies along the direction that no other column has.
    samples = whole[:, None] - (basis @ out) * (pulled @ out) + vectors * (basis @ out) * size
    entries = Moments.of(samples.T)
    core, held = out.T @ (pulled.T @ basis) @ out, (basis.T @ vectors).T @ out
    return Estimate(
        trace=float(entries.mean.sum()),
        standard_error=_jackknife(core, held, out.T @ out, size),
        passes=2 * number, values=entries.mean, errors=entries.error,
    )  # fmt: skip


def _jackknife(core: Square, held: Square, cosines: Square, size: Float[Tensor, " m"]) -> float:
    """Standard error of the sum of `xdiag`, from that sum with each of the vectors left out.

    By the inequality of Efron and Stein (1981, doi:10.1214/aos/1176345462) it is on average no
    smaller than that of one vector less: it errs to the safe side (as proposed by Epperly and
    Tropp, "Efficient error and variance estimation for randomized matrix computations", 2024,
    doi:10.1137/23M1558537). Everything happens in the basis: of the projection that leaves out
    vectors `i` and `j`, what is missing is the plane of `s_i` and `s_j`.

    Args:
        core: `s_i^T J s_j`, with `s` carried out of the basis.
        held: `w_i^T s_j`.
        cosines: `s_i^T s_j`.
        size: `s_i^T y_i`.
    """
    number = len(size)
    others = ~torch.eye(number, dtype=torch.bool, device=size.device)
    sines = (1 - cosines.square()).clamp(min=torch.finfo(size.dtype).eps)
    along = core.diagonal()
    # The trace within that plane, and what of vector `i` lies in it, with `j` left out as well.
    missing = along[:, None] + along - cosines * (core + core.T)
    rest = (held.diagonal()[:, None] - cosines * held) * size[:, None]
    without = torch.where(others, (rest - missing) / sines, 0.0).sum(0) / (number - 1)
    variance = (number - 1) / number * (without - without.mean()).square().sum()
    return float(variance.sqrt())


def _basis(
    sketch: Columns, precision: float
) -> tuple[Float[Tensor, "n r"], Float[Tensor, "m m"] | None]:
    """An orthonormal basis of a sketch, and for each column what no other has, in that basis.

    None where the columns are not independent: then each may be left out without a loss, and the
    basis holds the whole range of the matrix.
    """
    basis = orthonormal(sketch, precision)
    if basis.shape[1] < sketch.shape[1]:
        return basis, None
    basis, upper = torch.linalg.qr(sketch)
    one = torch.eye(len(upper), dtype=upper.dtype, device=upper.device)
    out = torch.linalg.solve_triangular(upper.T, one, upper=False)
    return basis, out / out.norm(dim=0)
