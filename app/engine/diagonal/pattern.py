"""Which inputs an output may depend on, looked up by moving a few inputs that lie far apart."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from app.engine.diagonal.colouring import Colouring, Window
from app.engine.diagonal.operator import Operator
from app.engine.diagonal.vectors import generator

# Passes in which inputs are moved.
LOOKS = 4
# Places between moved inputs along an axis: what reaches half as far is no stencil.
SPACING = 64
# Colours up to which a stencil is worth its passes.
MOST_COLOURS = 256
# Responses below this many eps of the largest are rounding.
ROUNDING = 64


def pointwise(shape: tuple[int, ...]) -> Window:
    """The window of outputs that depend on their own input alone."""
    return tuple((0, 0) for _ in shape)


def rows(shape: tuple[int, ...]) -> Window:
    """The window of outputs that depend on their own row, which is all axes but the first."""
    return ((0, 0), *((1 - length, length - 1) for length in shape[1:]))


def widened(window: Window) -> Window:
    """A window one place wider to every side."""
    return tuple((low - 1, high + 1) for low, high in window)


def affordable(operator: Operator, window: Window) -> bool:
    """Whether the colours of a window are fewer than passes one by one would be."""
    count = Colouring(operator.shape, window).count
    return count <= MOST_COLOURS and count < operator.size


def find_window(operator: Operator, seed: int) -> Window | None:
    """The smallest window that holds what some inputs all over the grid were seen to move.

    It is a guess, since other inputs may reach further; `by_colours` proves or refutes it. None
    where what moved lies all over the grid. It takes `LOOKS` passes.
    """
    draw = generator(seed)
    spots = [_spots(operator.shape, draw) for _ in range(LOOKS)]
    moved = torch.stack([_vector(operator, offsets) for offsets in spots])
    window = list(pointwise(operator.shape))
    for response, offsets in zip(operator.push(moved), spots, strict=True):
        size = torch.nan_to_num(response, nan=0.0, posinf=0.0, neginf=0.0).abs()
        seen = (size > ROUNDING * operator.precision * size.max()).reshape(operator.shape)
        for axis, offset in enumerate(offsets):
            others = tuple(each for each in range(seen.dim()) if each != axis)
            met = offset[(seen.any(dim=others) if others else seen).cpu()].tolist()
            # An output beyond the moved input depends on an input before itself.
            low, high = window[axis]
            window[axis] = (min([low, *(-o for o in met)]), max([high, *(-o for o in met)]))
    far = SPACING // 2 - 1
    if any(
        max(-low, high) >= far and length > SPACING
        for (low, high), length in zip(window, operator.shape, strict=True)
    ):
        return None
    return tuple(window)


def _spots(shape: tuple[int, ...], draw: torch.Generator) -> list[Int[Tensor, " length"]]:
    """For each axis, how far each place lies beyond the nearest moved one."""
    spots = []
    for length in shape:
        spacing = min(SPACING, length)
        first = int(torch.randint(0, spacing, (1,), generator=draw))
        offset = torch.arange(length) - first
        if length > SPACING:
            half = SPACING // 2
            offset = (offset + half) % SPACING - half
        spots.append(offset)
    return spots


def _vector(operator: Operator, offsets: list[Tensor]) -> Float[Tensor, " n"]:
    """1 at the moved inputs, 0 elsewhere."""
    vector = torch.ones((), dtype=operator.dtype)
    for offset in offsets:
        vector = vector[..., None] * (offset == 0).to(operator.dtype)
    return vector.reshape(-1).to(operator.device)
