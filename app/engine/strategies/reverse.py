"""Reverse mode, output by output: for images of fewer numbers than there are parameters.

Of a frame that depends on itself in ways of its own, with an image for a parameter, forward mode
needs a pass for every entry of the parameter; this needs one for every number of the image.
"""

import torch
from torch import Tensor

from app.engine.errors import StrategyError
from app.engine.strategies._contract import Strategy
from app.engine.tile import Image, Planes, Tangents, Tile, Vectors

# Bytes of gradients that are carried at once.
CHUNK_BYTES = 16 << 20


def gradient(tile: Tile) -> tuple[Image, Planes]:
    """The image, and the derivative of each channel by every entry of what moves.

    Raises:
        StrategyError: the image does not connect to the parameters.
    """
    with torch.enable_grad():
        value = tile.value.detach().clone().requires_grad_()
        image = tile(value)
        if not image.requires_grad:
            raise StrategyError("The image does not connect to the parameters in reverse mode.")
        found = _rows(image.reshape(-1), value)
    return image.detach(), found.T.reshape(-1, *image.shape).unbind(-1)


def _rows(outputs: Tensor, value: Tensor) -> Tensor:
    """The Jacobian `(outputs, size)`, some rows at once where the operations can be batched."""
    together = max(1, CHUNK_BYTES // (value.numel() * value.element_size()))
    rows = torch.empty((len(outputs), value.numel()), dtype=outputs.dtype, device=outputs.device)
    start = 0
    while start < len(outputs):
        stop = min(start + together, len(outputs))
        picked = torch.zeros((stop - start, len(outputs)), dtype=rows.dtype, device=rows.device)
        picked[:, start:stop].fill_diagonal_(1.0)
        try:
            rows[start:stop] = _pulled(outputs, value, picked, batched=together > 1)
        except RuntimeError:
            if together == 1:
                raise
            together = 1
            continue
        start = stop
    return rows


def _pulled(outputs: Tensor, value: Tensor, picked: Tensor, *, batched: bool) -> Tensor:
    (found,) = torch.autograd.grad(
        outputs,
        value,
        picked if batched else picked[0],
        retain_graph=True,
        is_grads_batched=batched,
        materialize_grads=True,
    )
    return found


def differentiate(tile: Tile, directions: Vectors) -> tuple[Image, Tangents]:
    """The image and its tangents along any directions."""
    image, planes = gradient(tile)
    return image, torch.tensordot(directions, torch.stack(planes, -1), dims=1)


reverse = Strategy(
    "reverse",
    "reverse mode, output by output, for images of fewer numbers than there are parameters",
    differentiate,
    gradient=gradient,
)
