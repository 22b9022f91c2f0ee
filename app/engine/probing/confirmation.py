"""The finished gradients beside one difference in which all parameters move: of all the pixels."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from app.engine.agreement import SAFETY, TOLERANCE
from app.engine.differences import FIRST, SHRINK
from app.engine.findings import Finding
from app.engine.probing.asked import Asked
from app.engine.probing.cutting import precise
from app.engine.probing.differences import ONCE
from app.engine.probing.judgement import ROUNDINGS
from app.engine.probing.moves import scale_of
from app.engine.probing.piece import Piece
from app.engine.probing.reverse import Rows
from app.engine.probing.sums import Work, planned, summed

# The larger of the two steps, of each parameter's scale; the other tells what it may be off by.
STEP = FIRST / SHRINK ** (ONCE - 1)

Gradients = Mapping[str, Float[Tensor, "functionals entries"]]
"""The gradients of each parameter in all of its entries, float64."""


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What came of it.

    Attributes:
        refuted: whether the gradients are certainly wrong somewhere.
        finding: what is to be said, where they are, or where differences cannot tell.
    """

    refuted: bool = False
    finding: Finding | None = None


def confirmed(asked: Asked, gradients: Gradients) -> Confirmation:
    """Compare what was added up over all pixels, of which few were looked at one by one."""
    exact = precise(asked)
    paths = {name: _path(exact, name) for name in gradients}
    plan = planned(exact, _slope(paths, STEP))
    near, far = (summed(exact, _slope(paths, step), 3, plan) for step in (STEP / SHRINK, STEP))
    values, size, here = near.unbind(1)
    along = torch.zeros_like(values)
    for name, gradient in gradients.items():
        along += gradient @ paths[name].flatten().to("cpu", torch.float64)
    error = (values - far[:, 0]).abs()
    rounding = ROUNDINGS * torch.finfo(asked.loaded.dtype).eps * here
    sure = torch.isfinite(error) & (error <= 0.1 * size + rounding)
    off = (along - values).abs()
    allowed = TOLERANCE[asked.loaded.dtype] * size + SAFETY * error + rounding
    wrong = sure & ~(off <= allowed)
    if bool(wrong.any()):
        detail = f"Found over all pixels of {int(wrong.sum())} of {len(wrong)} regions."
        return Confirmation(True, Finding(code="partly_detached", detail=detail))
    if not bool(sure[torch.isfinite(values)].all()):
        detail = "Over all pixels, differences are not sure enough of themselves."
        return Confirmation(finding=Finding(code="unverified", detail=detail))
    return Confirmation()


def _path(asked: Asked, name: str) -> Tensor:
    """How a parameter moves: each entry by its scale, this way or that; not one at a bound."""
    value, declared = asked.params[name], asked.loaded.spec.params[name]
    generator = torch.Generator().manual_seed(1 + len(name))
    signs = (2 * torch.randint(2, value.shape, generator=generator) - 1).to(value)
    path = signs * scale_of(value, declared, signs)
    low = -torch.inf if declared.low is None else declared.low
    high = torch.inf if declared.high is None else declared.high
    free = (value + STEP * path.abs() <= high) & (value - STEP * path.abs() >= low)
    return torch.where(free, path, 0.0)


def _slope(paths: Mapping[str, Tensor], step: float) -> Work:
    """The central difference, the size of what moved, and that of the image."""

    @torch.no_grad()
    def work(asked: Asked, piece: Piece, _: int) -> Rows:
        def image(sign: float) -> Tensor:
            moved = {name: asked.params[name] + sign * step * at for name, at in paths.items()}
            return piece.image(asked, {**asked.params, **moved})

        ahead, behind = image(1.0), image(-1.0)
        slope = (ahead - behind) / (2 * step)
        each = (
            piece.sums(asked, slope),
            piece.sums(asked, slope, size=True),
            piece.sums(asked, ahead, size=True),
        )
        return torch.stack(each, dim=1)

    return work
