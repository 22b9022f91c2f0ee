"""Every entry of the diagonal, exact to rounding: by the colours of a pattern, or one by one."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from app.engine.diagonal.colouring import Colouring, members
from app.engine.diagonal.operator import Operator
from app.engine.diagonal.vectors import generator, normals

# Random vectors that the Jacobian and what the colours say of it must agree on. A dependence beyond
# the window is missed by one only where two normal numbers nearly coincide.
PROBES = 2
# Disagreement that is rounding, in units of the dtype's eps: relative to the sum of sizes that an
# output is made of, for functions that lose two digits to cancellation on the way ...
OWN = 256
# ... and relative to the root of the mean square of all outputs, for convolutions by transforms,
# which spread their rounding over the image.
SPREAD = 4


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Exact:
    """A diagonal, and whether random vectors bear the pattern out that it rests on.

    Attributes:
        values: the diagonal, `(n,)`.
        passes: products that it is made of.
        checks: products that bore it out.
        outside: entries that disagree, so that they depend on more than the pattern says.
        worst: the largest disagreement, over the largest that counts as rounding.
    """

    values: Float[Tensor, " n"]
    passes: int
    checks: int = 0
    outside: int = 0
    worst: float = 0.0


def one_by_one(operator: Operator) -> Exact:
    """The diagonal by a product for each entry: exact whatever the pattern, `n` passes."""
    size, device = operator.size, operator.device
    parts = []
    for group in operator.groups(size):
        at = torch.arange(group.start, group.stop, device=device)
        vectors = torch.zeros(len(group), size, dtype=operator.dtype, device=device)
        vectors[torch.arange(len(group), device=device), at] = 1
        parts.append(operator.push(vectors)[torch.arange(len(group), device=device), at])
    return Exact(values=torch.cat(parts), passes=size)


def by_colours(operator: Operator, colouring: Colouring, seed: int) -> Exact:
    """The diagonal by a product for each colour, and what random vectors say of the pattern.

    The products hold every entry of a Jacobian of the pattern, so that its product with any vector
    follows from them. An output that depends on an input beyond its window mistakes it for one of
    the same colour inside, and its product with a fresh random vector is then another.
    """
    vectors = normals(operator, PROBES, generator(seed))
    wanted = operator.push(vectors)
    colours = colouring.colours(operator.device)
    values = torch.zeros_like(wanted[0])
    found = torch.zeros_like(wanted, dtype=torch.float64)
    sizes = torch.zeros_like(found)
    for group in operator.groups(colouring.count):
        products = operator.push(members(colours, group, operator.dtype))
        for colour, product in zip(group, products, strict=True):
            values = torch.where(colours == colour, product, values)
            for probe, vector in enumerate(vectors):
                term = (product * colouring.seen(vector, colour)).double()
                found[probe] += term
                sizes[probe] += term.abs()
    allowed = _rounding(operator, wanted.double(), sizes)
    gap = (wanted.double() - found).abs()
    # What is NaN or infinite on the diagonal is so for every vector, and says nothing.
    told = torch.isfinite(values)
    outside: Bool[Tensor, " n"] = ~(gap <= allowed).all(0) & told
    worst = torch.where(told & torch.isfinite(gap), gap / allowed, 0.0)
    return Exact(
        values=values,
        passes=colouring.count,
        checks=PROBES,
        outside=int(outside.sum()),
        worst=float(worst.max()),
    )


def _rounding(
    operator: Operator, wanted: Float[Tensor, "k n"], sizes: Float[Tensor, "k n"]
) -> Float[Tensor, "k n"]:
    """How far two ways to one product may be apart."""
    finite = torch.where(torch.isfinite(wanted), wanted, 0.0)
    spread = finite.square().mean(1, keepdim=True).sqrt()
    allowed = operator.precision * (OWN * sizes + SPREAD * spread)
    return allowed + torch.finfo(operator.dtype).tiny
