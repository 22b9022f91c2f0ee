"""Whether what a Jacobian's products say is what the image does when its parameter is moved."""

import torch
from jaxtyping import Float
from torch import Tensor

from app.engine.diagonal.operator import Operator
from app.engine.diagonal.products import Function
from app.engine.diagonal.vectors import generator, normals
from app.engine.errors import DeviceMemoryError
from app.engine.findings import Finding
from app.engine.memory import out_of_memory

# Part of the differences' size by which products may miss them: differences are good to some
# hundredths where they agree among themselves, and a lost part is rarely below a tenth.
NOTABLE = 0.1
# Part by which differences at two steps, and to two sides, may be apart to be believed.
SURE = 0.02
WIDER = 4.0
# What rounding of the image makes of a difference, in units of its eps.
ROUNDING = 16
UNTOLD = Finding(code="unverified", detail="Differences tell nothing of it.")


def doubts(function: Function, point: Tensor, operator: Operator) -> tuple[Finding, ...]:
    """Findings of a comparison with differences along one random direction.

    They are taken in float64 where the function lets them: their steps are then so small that few
    kinks lie within.
    """
    direction, other = normals(operator, 2, generator(operator.size))
    products = operator.products((other if operator.mode == "reverse" else direction)[None])
    told = products[0].double()
    for dtype in (torch.float64, point.dtype):
        try:
            moved = _moved(function, point.detach().to(dtype), direction.to(dtype))
        except Exception as error:  # a function may refuse float64, or what lies beside its value
            if out_of_memory(error):
                raise DeviceMemoryError("The image does not fit on the device.") from error
            continue
        if operator.mode == "reverse":
            found = _compared(*_projected(told, moved, direction.double(), other.double()))
        else:
            found = _compared(told, *moved)
        if found != (UNTOLD,):
            return found
    return (UNTOLD,)


Moved = tuple[Float[Tensor, " n"], Float[Tensor, " n"], float]
"""Central differences, how far they are to be doubted, and what rounding makes of them."""


def _moved(function: Function, point: Tensor, direction: Tensor) -> Moved:
    """Differences of the image along a direction, by five evaluations."""
    size = float(point.square().mean().sqrt()) or 1.0
    with torch.no_grad():
        here = function(point)
        precision = torch.finfo(here.dtype).eps
        step = size * precision ** (1 / 3)
        change = step * direction.reshape(point.shape)
        behind, ahead, far_behind, far_ahead = (
            function(point + times * change).double().reshape(-1)
            for times in (-1.0, 1.0, -WIDER, WIDER)
        )
    wide = here.double().reshape(-1)
    near, far = (ahead - behind) / (2 * step), (far_ahead - far_behind) / (2 * WIDER * step)
    doubt = torch.maximum((near - far).abs(), (ahead - 2 * wide + behind).abs() / step)
    noise = ROUNDING * precision * float(torch.nan_to_num(wide).abs().max()) / step
    return near, doubt, noise


def _projected(
    pulled: Tensor, moved: Moved, direction: Tensor, other: Tensor
) -> tuple[Tensor, Tensor, Tensor, float]:
    """What can be compared of transposed products: the part of what moves along another vector."""
    near, doubt, noise = moved
    told = (pulled * direction).sum()[None]
    wide = (near * other).sum()[None], (doubt * other.abs()).sum()[None]
    return told, *wide, noise * float(other.norm())


def _compared(told: Tensor, near: Tensor, doubt: Tensor, noise: float) -> tuple[Finding, ...]:
    finite = torch.isfinite(near) & torch.isfinite(doubt) & torch.isfinite(told)
    size = float(near[finite].square().mean().sqrt()) if bool(finite.any()) else 0.0
    sure = finite & (doubt <= SURE * (near.abs() + size) + noise)
    if not bool(sure.any()):
        return (UNTOLD,)
    gap = float((told - near)[sure].square().mean().sqrt())
    if gap <= NOTABLE * float(near[sure].square().mean().sqrt()) + noise:
        return ()
    code = "partly_detached" if bool((told[finite] != 0).any()) else "tangent_lost"
    return (Finding(code=code, detail="Seen when every entry is moved at random."),)
