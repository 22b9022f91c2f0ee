"""Maps in closed form, in float64: what answers are compared with, and no code of ours is in it."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
COLOUR = (1.0, 0.4, 0.1)
SOFTNESS = 0.05


def positions(width: int, height: int) -> tuple[Array, Array]:
    """Centres of pixels; the shorter side of the frame spans [-1, 1], y points up."""
    pitch = 2.0 / min(width, height)
    x = (np.arange(width) - (width - 1) / 2) * pitch
    y = ((height - 1) / 2 - np.arange(height)) * pitch
    return np.meshgrid(x, y)


def disc_coverage(width: int, height: int, radius: float) -> Array:
    """How much of a pixel the soft disc covers."""
    x, y = positions(width, height)
    return 1 / (1 + np.exp(-(radius - np.hypot(x, y)) / SOFTNESS))


def disc_image(width: int, height: int, radius: float) -> Array:
    """The disc's image."""
    return disc_coverage(width, height, radius)[..., None] * np.array(COLOUR)


def disc_map(width: int, height: int, radius: float, wrt: str = "radius") -> Array:
    """d(image)/d(wrt) of the disc, centred, for its radius, its colour or its centre."""
    x, y = positions(width, height)
    coverage = disc_coverage(width, height, radius)
    if wrt == "colour":
        return coverage[..., None, None] * np.eye(3)
    slope = (coverage * (1 - coverage) / SOFTNESS)[..., None] * np.array(COLOUR)
    if wrt == "radius":
        return slope
    outwards = np.stack([x, y], axis=-1) / np.hypot(x, y)[..., None]
    return slope[..., None] * outwards[:, :, None, :]
