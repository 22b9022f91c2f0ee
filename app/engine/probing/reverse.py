"""Reverse mode: cotangents, one a functional, are pulled back to the parameters."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from app.engine.memory import out_of_memory
from app.engine.probing.asked import Asked
from app.engine.probing.piece import Piece
from app.engine.probing.sums import planned, summed

# Functionals whose pixels are asked for together. Each is pulled through all of these, its own and
# the others': a few share what they share, many that share nothing would waste the rest.
TOGETHER = 16

Rows = Float[Tensor, "functionals columns"]
"""The value of each functional, and its derivative in every entry of the parameters, float64."""


def pulled(asked: Asked, names: Sequence[str]) -> Rows:
    """Values, and gradients in all entries of some parameters, one after another in C order."""
    entries = sum(asked.params[name].numel() for name in names)

    def work(part: Asked, piece: Piece, together: int) -> Rows:
        return _pull(part, piece, names, together)

    bytes_held = entries * asked.loaded.dtype.itemsize
    count = min(TOGETHER, len(asked.regions))
    plan = planned(asked.only(0, count), work, count, bytes_held)
    return torch.cat(
        [
            summed(asked.only(first, count), work, 1 + entries, plan)
            for first in range(0, len(asked.regions), count)
        ]
    )


def _pull(asked: Asked, piece: Piece, names: Sequence[str], together: int) -> Rows:
    """A piece's part of the values and gradients."""
    with torch.enable_grad():
        # Each its own, so that a setter that compares with the value it holds sees a new one.
        leaves = {name: asked.params[name].detach().clone().requires_grad_() for name in names}
        image = piece.image(asked, {**asked.params, **leaves})
    values = piece.sums(asked, image.detach())
    entries = sum(leaf.numel() for leaf in leaves.values())
    found = values.new_zeros(len(asked.regions), 1 + entries)
    found[:, 0] = values
    if not image.requires_grad:
        return found
    present = torch.unique(piece.weights.region)
    cotangents = piece.cotangents(asked, image.detach())[present.to(image.device)]
    pulls = _pulls(image, list(leaves.values()), cotangents, together)
    if asked.scattered and len(present) > 1:
        # A pixel without a derivative makes none of those of others: nought times NaN is NaN.
        for row in (~torch.isfinite(pulls).all(dim=1)).nonzero()[:, 0].tolist():
            pulls[row] = _alone(asked, piece, int(present[row]), names)
    found[present.to(found.device), 1:] = pulls
    return found


def _alone(asked: Asked, piece: Piece, region: int, names: Sequence[str]) -> Tensor:
    """The gradient of one functional, with only its own pixels asked for."""
    weights = piece.weights.where(piece.weights.region == region)
    own = Piece(weights, piece.band, torch.unique(weights.index))
    return _pull(asked, own, names, 1)[region, 1:]


def _pulls(
    image: Tensor, leaves: Sequence[Tensor], cotangents: Tensor, together: int
) -> Float[Tensor, "cotangents entries"]:
    """The gradients of some cotangents, several at once where that is possible."""
    if len(cotangents) > 1 and together > 1:
        try:
            parts = [
                _joined(_gradients(image, leaves, few, batched=True), leaves, len(few))
                for few in torch.split(cotangents, together)
            ]
            return torch.cat(parts)
        except Exception as error:
            if out_of_memory(error):
                raise
            # A backward formula that cannot be batched: one after another.
    each = [_joined(_gradients(image, leaves, one, batched=False), leaves, 1) for one in cotangents]
    return torch.cat(each)


def _gradients(
    image: Tensor, leaves: Sequence[Tensor], cotangent: Tensor, *, batched: bool
) -> tuple[Tensor | None, ...]:
    found: tuple[Tensor | None, ...] = torch.autograd.grad(
        image,
        leaves,
        cotangent,
        retain_graph=True,
        allow_unused=True,
        is_grads_batched=batched,
    )
    return found


def _joined(found: Sequence[Tensor | None], leaves: Sequence[Tensor], count: int) -> Tensor:
    """Gradients side by side; zero for a parameter that the image does not see."""
    parts = [
        leaf.new_zeros(count, leaf.numel()) if part is None else part.reshape(count, -1)
        for part, leaf in zip(found, leaves, strict=True)
    ]
    return torch.cat(parts, dim=1).to(torch.float64)
