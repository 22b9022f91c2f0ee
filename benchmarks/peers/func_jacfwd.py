"""`torch.func.jacfwd` of the whole image: every direction at once, through `vmap`."""

import torch
from torch import Tensor

from benchmarks.peers.picture import Picture, Whole


def whole(picture: Picture) -> Whole:
    """One call for the frame."""
    jacobian, value = torch.func.jacfwd(picture.render()), picture.value

    def run() -> Tensor:
        return jacobian(value)

    return run
