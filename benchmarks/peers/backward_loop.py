"""A backward pass for every value of the image, in a loop: the first thing that comes to mind.

Nobody would wait for a frame of it. It is timed on a part and extrapolated: a value takes as long
as the next.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from benchmarks.peers.picture import Picture
from renderers import Pixels


def places(side: int) -> list[tuple[int, int]]:
    """The pixels, by row and column, that stand for all of them."""
    return [(side // 2 + 3, side // 3), (side // 3, side // 2), (side // 2, side // 2)]


def pixels_alone(picture: Picture) -> Callable[[int, int], Tensor]:
    """Each pixel rendered by itself, and a backward pass for each of its channels."""
    whole, params, side = picture.pixels(), picture.params, picture.side
    value = picture.value.clone().requires_grad_()

    def pixel(row: int, column: int) -> Tensor:
        where = Pixels(whole.x[row, column, None], whole.y[row, column, None], side, side)
        image = picture.loaded(where, {**params, picture.wrt: value})[0]
        each = [torch.autograd.grad(v, value, retain_graph=True)[0] for v in image]
        return torch.stack(each)

    return pixel


def one_value(picture: Picture) -> Callable[[], Tensor]:
    """The whole image rendered once, and a backward pass through all of it for one value."""
    value = picture.value.clone().requires_grad_()
    image = picture.render()(value)
    row, column = places(picture.side)[0]

    def run() -> Tensor:
        return torch.autograd.grad(image[row, column, 0], value, retain_graph=True)[0]

    return run
