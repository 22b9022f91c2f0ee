"""Which neighbouring samples of an image differ by more than smooth variation allows."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from app.engine.edges.bracket import ROUNDING

# A difference that departs from the mean of its neighbours by less than this part of the larger of
# them is smooth variation. Where the image varies within fewer than some 15 samples, smooth pairs
# are suspected too; looking at them costs an evaluation or two each.
SMOOTH = 0.1


def suspects(values: Float[Tensor, "*lines points channels"]) -> Bool[Tensor, "*lines pairs"]:
    """The pairs of neighbours on lines that may have a jump between them. Asks for nothing."""
    change = values.diff(dim=-2)
    # At the ends of a line the difference is compared with the only one beside it.
    before = torch.cat([change[..., 1:2, :], change[..., :-1, :]], dim=-2)
    after = torch.cat([change[..., 1:, :], change[..., -2:-1, :]], dim=-2)
    odd = (change - (before + after) / 2).abs().sum(-1)
    beside = torch.maximum(before.abs().sum(-1), after.abs().sum(-1))
    size = values.abs().sum(-1)
    rounding = ROUNDING * torch.finfo(values.dtype).eps * (size[..., 1:] + size[..., :-1])
    return odd > SMOOTH * beside + rounding
