"""A soft-edged disc: the smallest renderer that means something, and the tutorial."""

import torch
from torch import Tensor

from renderers import Pixels, param, renderer


@renderer(channels="rgb")
def disc(
    pixels: Pixels,
    radius: Tensor = param(0.5, low=0.05, high=1.5, unit="scene unit", help="radius of the disc"),
    centre: Tensor = param((0.0, 0.0), low=-2.0, high=2.0, unit="scene unit", help="x and y"),
    softness: Tensor = param(
        0.05, low=0.001, high=1.0, unit="scene unit", help="width of the edge"
    ),
    colour: Tensor = param((1.0, 0.4, 0.1), low=0.0, high=1.0, help="red, green and blue"),
) -> Tensor:
    """A disc with a soft edge on black.

    With `d` the distance of a pixel from the centre, `r` the radius and `s` the softness::

        coverage = sigmoid((r - d) / s)
        image = coverage * colour

    so that `d(image)/d(radius) = coverage * (1 - coverage) / s * colour` in closed form.

    Not differentiable at the centre of the disc with respect to `centre`: the distance has a kink
    there, and the tangent of a pixel whose centre lies on it is NaN.
    """
    distance = torch.sqrt((pixels.x - centre[0]) ** 2 + (pixels.y - centre[1]) ** 2)
    coverage = torch.sigmoid((radius - distance) / softness)
    return coverage[..., None] * colour
