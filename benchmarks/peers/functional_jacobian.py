"""`torch.autograd.functional.jacobian` with `vectorize=True`, forward and reverse.

Reverse mode pushes a vector back for every value of the image, all through one `vmap`: work and
memory grow with the square of the number of pixels, so that no frame of a usual size fits. It is
timed on a small one, and extrapolated with that square.
"""

from torch import Tensor
from torch.autograd.functional import jacobian

from benchmarks.peers.picture import Picture, Whole

SMALL = 16  # rows and columns for reverse mode: 768 vectors


def forward(picture: Picture) -> Whole:
    """`strategy="forward-mode"`, one call for the frame."""
    image, value = picture.render(), picture.value

    def run() -> Tensor:
        return jacobian(image, value, vectorize=True, strategy="forward-mode")

    return run


def reverse(picture: Picture) -> Whole:
    """The default strategy, on a small frame."""
    small = picture.at(SMALL)
    image, value = small.render(), small.value.clone()

    def run() -> Tensor:
        return jacobian(image, value, vectorize=True)

    return run


def times_small(picture: Picture) -> float:
    """How many times the small frame's work the picture's own is."""
    return float((picture.side / SMALL) ** 4)
