"""Every pixel gets its own copy of the parameters, and one backward pass a channel gives them all.

A pixel answers only to its own copy, so the gradient of a channel's sum over all pixels by the
copies is, at each pixel, that pixel's own derivative by every parameter: as many derivatives as
there are parameters for the price of one pass a channel.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.func import vmap

from app.engine.errors import StrategyError
from app.engine.evaluate import flattened
from app.engine.strategies._contract import Strategy
from app.engine.tile import Image, Planes, Tangents, Tile, Vectors
from renderers import Pixels


def gradient(tile: Tile) -> tuple[Image, Planes]:
    """The image, and the derivative of each channel by every entry of what moves.

    Raises:
        StrategyError: the renderer cannot be asked pixel by pixel, or does not connect.
    """
    spec, where = tile.loaded.spec, tile.where
    if not isinstance(where, Pixels) or spec.halo is None or spec.random:
        raise StrategyError("Only a pixel renderer without randomness gives each pixel a copy.")
    flat = flattened(where)
    count, size = where.x.numel(), flat.x.numel()
    with torch.enable_grad():
        copies = {name: _copies(tile.params[name], size) for name in tile.moving}
        each = vmap(_at_one(tile, flat), in_dims=(0, 0, dict.fromkeys(copies, 1)))
        image = each(flat.x, flat.y, copies)
        if not image.requires_grad:
            raise StrategyError("The image does not connect to the parameters in reverse mode.")
        found = [_of_channel(image, channel, copies) for channel in range(image.shape[1])]
    image = image.detach()[:count].reshape(*where.shape, -1)
    planes = (parts[0] if len(parts) == 1 else torch.cat(parts) for parts in found)
    return image, tuple(plane[:, :count].reshape(-1, *where.shape) for plane in planes)


def _copies(value: Tensor, size: int) -> Tensor:
    """A copy of a parameter for each of many pixels, `(entries, pixels)`, that takes no memory."""
    return value.detach().reshape(-1, 1).expand(-1, size).detach().requires_grad_()


def _at_one(tile: Tile, flat: Pixels) -> Callable[[Tensor, Tensor, dict[str, Tensor]], Tensor]:
    """The renderer at a single position, with parameters of its own."""

    def render(x: Tensor, y: Tensor, copies: dict[str, Tensor]) -> Tensor:
        where = Pixels(x[None], y[None], flat.width, flat.height)
        own = {name: copy.view(tile.params[name].shape) for name, copy in copies.items()}
        return tile.loaded(where, {**tile.params, **own}, tile.seed)[0]

    return render


def _of_channel(image: Tensor, channel: int, copies: dict[str, Tensor]) -> tuple[Tensor, ...]:
    """The derivative of a channel by each parameter, `(entries, pixels)` each."""
    last = channel == image.shape[1] - 1
    return torch.autograd.grad(
        image[:, channel].sum(), [*copies.values()], retain_graph=not last, materialize_grads=True
    )


def differentiate(tile: Tile, directions: Vectors) -> tuple[Image, Tangents]:
    """The image and its tangents along any directions."""
    image, planes = gradient(tile)
    return image, torch.tensordot(directions, torch.stack(planes, -1), dims=1)


per_pixel = Strategy(
    "per_pixel",
    "a copy of the parameters for each pixel, and one backward pass a channel for all of them",
    differentiate,
    recordable=True,
    gradient=gradient,
)
