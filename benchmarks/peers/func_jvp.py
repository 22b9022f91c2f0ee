"""`torch.func.jvp` of the whole image: what the documentation of torch shows for one direction."""

import torch
from torch import Tensor

from benchmarks.peers.picture import Picture, Whole


def whole(picture: Picture) -> Whole:
    """One call for the frame."""
    image, value = picture.render(), picture.value

    def run() -> Tensor:
        return torch.func.jvp(image, (value,), (torch.ones_like(value),))[1]

    return run
