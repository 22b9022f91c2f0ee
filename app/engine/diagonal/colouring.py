"""Colours of entries: no two inputs that one output may depend on have the same.

All inputs of one colour are then moved in one pass, and each output tells which of them moved it
(Curtis, Powell and Reid, "On the estimation of sparse Jacobian matrices", 1974,
doi:10.1093/imamat/13.1.117).
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

Window = tuple[tuple[int, int], ...]
"""For each axis, how far before and beyond an output the inputs lie that it may depend on."""


@dataclass(frozen=True, slots=True)
class Colouring:
    """The colours of a grid of entries for a window of dependence.

    An axis that the window fills has a colour for each of its places; any other repeats its colours
    after as many places as the window is wide, so that a window holds each just once.

    Attributes:
        shape: shape of the grid, of `n` entries.
        window: what an output may depend on, relative to it; it holds the output's own place.
    """

    shape: tuple[int, ...]
    window: Window

    @property
    def periods(self) -> tuple[int, ...]:
        """Colours along each axis."""
        return tuple(
            min(high - low + 1, length)
            for (low, high), length in zip(self.window, self.shape, strict=True)
        )

    @property
    def count(self) -> int:
        """How many colours there are: the passes that a Jacobian of this pattern needs."""
        return math.prod(self.periods)

    def colours(self, device: torch.device) -> Int[Tensor, " n"]:
        """The colour of each entry."""
        total = torch.zeros((), dtype=torch.int64, device=device)
        for length, period in zip(self.shape, self.periods, strict=True):
            along = torch.arange(length, device=device) % period
            total = total[..., None] * period + along
        return total.reshape(-1)

    def seen(self, vector: Float[Tensor, " n"], colour: int) -> Float[Tensor, " n"]:
        """For each output, the vector's entry at the one input of a colour in its window.

        It is 0 where that input would lie outside the grid.
        """
        grid = vector.reshape(self.shape)
        for axis, place in enumerate(self._places(colour)):
            (low, _), period, length = self.window[axis], self.periods[axis], self.shape[axis]
            # Where the axis is filled, every window is taken to be the whole axis.
            first = torch.arange(length, device=vector.device) + low
            first = first * (period != length)
            at = first + (place - first) % period
            inside = ((at >= 0) & (at < length)).reshape(
                [-1 if each == axis else 1 for each in range(grid.dim())]
            )
            grid = grid.index_select(axis, at.clamp(0, length - 1)) * inside
        return grid.reshape(-1)

    def _places(self, colour: int) -> list[int]:
        """The place of a colour along each axis."""
        places = []
        for period in reversed(self.periods):
            colour, place = divmod(colour, period)
            places.append(place)
        return places[::-1]


def members(
    colours: Int[Tensor, " n"], chosen: Iterable[int], dtype: torch.dtype
) -> Float[Tensor, "k n"]:
    """A vector for each chosen colour: 1 at its entries, 0 elsewhere."""
    wanted = torch.tensor(list(chosen), device=colours.device)
    inside: Bool[Tensor, "k n"] = colours[None] == wanted[:, None]
    return inside.to(dtype)
