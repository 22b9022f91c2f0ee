"""What moving crossings add to the pixels that own them."""

import torch
from jaxtyping import Float
from torch import Tensor

from app.engine.edges.crossing import Crossings
from app.engine.edges.motion import Motion


def contribution(
    crossed: Crossings, moved: Motion, pixels: int
) -> tuple[Float[Tensor, "pixels channels"], Float[Tensor, "pixels channels"]]:
    """The boundary part of each pixel along one direction, and the variance of its error.

    A crossing that moves on along its line by `dc` gives the image before it room that it takes
    from the image after it: `(f_before - f_after) dc`, times its share of the pixel.
    """
    weight = -crossed.brackets.rise.double() * crossed.share[:, None]
    values = _sum(weight * moved.velocity[:, None], crossed.owner, pixels)
    return values, _sum((weight * moved.error[:, None]) ** 2, crossed.owner, pixels)


def _sum(
    parts: Float[Tensor, "n channels"], owner: Tensor, pixels: int
) -> Float[Tensor, "pixels channels"]:
    """The sum of the parts of each owner; owners are in order.

    The first parts of all owners are added, then the second ones, and so on: in an order
    that does not depend on the device or on what other pixels there are.
    """
    total = parts.new_zeros((pixels, parts.shape[1]))
    place = torch.arange(len(owner), device=owner.device) - torch.searchsorted(owner, owner)
    for turn in range(int(place.max()) + 1 if len(place) else 0):
        now = place == turn
        total[owner[now]] += parts[now]
    return total
