"""Whether gradients are right: beside differences along directions that mix all entries."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from app.engine.agreement import SAFETY, TOLERANCE
from app.engine.probing.asked import Values
from app.engine.probing.differences import Estimate

# What rounding may leave of a derivative, in units of the image's last place per unit of the step's
# scale: a float32 renderer of hundreds of operations loses some three digits.
ROUNDINGS = 1000
# Of what moves: float32 may blur a sum where large numbers cancel, but does not lose so much.
GROSS = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """The derivative along one direction by differences.

    Attributes:
        direction: the direction in the entries that are asked for, float64 on the CPU.
        estimate: the derivatives of the functionals.
        scale: how far the parameter is moved to be moved notably.
        laddered: whether many steps were made, rather than one.
    """

    direction: Float[Tensor, " entries"]
    estimate: Estimate
    scale: float
    laddered: bool


@dataclass(frozen=True, slots=True)
class Judgement:
    """What came of a comparison.

    Attributes:
        right: whether the gradients agree wherever differences are sure of themselves.
        judged: whether there was something to judge by.
        relative: the largest disagreement, over what moved.
        kinked: whether the image has a kink here, and one side's derivative was let pass.
        code: what a disagreement is to be called.
        gross: whether it is far more than rounding does.
        silent: whether the gradient is exactly zero.
    """

    right: bool
    judged: bool
    relative: float
    kinked: bool
    code: str
    gross: bool
    silent: bool


def judged(
    gradient: Float[Tensor, "functionals entries"],
    references: Sequence[Reference],
    dtype: torch.dtype,
) -> Judgement:
    """Compare gradients with differences along each direction.

    Args:
        gradient: of each functional, in the entries of a parameter.
        references: the differences.
        dtype: the arithmetic that the gradient was computed in.
    """
    each = [_along(gradient, reference, dtype) for reference in references]
    wrong = [one for one in each if not one.right]
    worst = max(each, key=lambda one: one.relative)
    return Judgement(
        right=not wrong,
        judged=all(one.judged for one in each),
        relative=worst.relative,
        kinked=any(one.kinked for one in each),
        code=wrong[0].code if wrong else "",
        gross=any(one.gross for one in wrong),
        silent=not bool(gradient.any()),
    )


def _along(gradient: Tensor, reference: Reference, dtype: torch.dtype) -> Judgement:
    found = reference.estimate
    along: Values = gradient @ reference.direction
    finite = torch.isfinite(along)
    rounding = ROUNDINGS * torch.finfo(dtype).eps * found.here / reference.scale
    # Where nothing moves there is nothing to be relative to, and nothing may be there.
    allowed = TOLERANCE[dtype] * found.size + SAFETY * found.error + rounding
    off = (along - found.values).abs()
    still = (found.size == 0) & (found.error <= rounding)
    sure = found.sure | still | (torch.isfinite(found.values) & (found.error <= rounding))
    broken = sure & ~finite
    wrong = broken | (sure & (off > allowed))
    # At a kink, the derivative of either side is one.
    kinked = (found.gap > 0) & (off <= 0.51 * found.gap + allowed)
    wrong &= ~kinked
    return Judgement(
        right=not bool(wrong.any()),
        judged=bool(sure.all()),
        relative=_relative(off, found.size, sure & finite & ~kinked & (found.size > rounding)),
        kinked=bool(kinked.any()),
        code=_code(wrong, broken, along),
        gross=bool((broken | (wrong & (off > GROSS * found.size))).any()),
        silent=False,
    )


def _relative(off: Tensor, size: Tensor, some: Bool[Tensor, " functionals"]) -> float:
    some = some & (size > 0)
    return float((off[some] / size[some]).max()) if bool(some.any()) else 0.0


def _code(wrong: Tensor, broken: Tensor, along: Tensor) -> str:
    if not bool(wrong.any()):
        return ""
    if bool(broken.any()):
        return "broken_derivative"
    return "tangent_lost" if not bool(along[wrong].any()) else "partly_detached"
