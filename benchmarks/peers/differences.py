"""Central differences of the whole image: two renders and no derivative."""

from torch import Tensor

from benchmarks.peers.picture import Picture, Whole

# A hundredth of the narrowest thing in the pictures, a silhouette: larger steps bend the map, and
# much smaller ones drown in the rounding of float32.
STEP = 3e-4


def whole(picture: Picture) -> Whole:
    """Two renders of the frame."""
    image, value = picture.render(), picture.value

    def run() -> Tensor:
        return (image(value + STEP) - image(value - STEP)) / (2 * STEP)

    return run
