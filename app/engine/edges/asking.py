"""Asking a renderer at positions given in pixels."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from app.engine.tile import Tile
from renderers import Pixels


@dataclass(slots=True, eq=False)
class Asker:
    """A tile's renderer, asked at columns and rows of the frame; counts what it is asked.

    A column is a number such as 2.5, the border between the third and the fourth pixel's centre.
    It is computed in float64 and becomes a position by the formula of the pixel centres, so that
    two pixels that ask for one position ask for the same bits.

    Attributes:
        tile: the renderer and its parameters.
        where: the tile's pixels.
        batch: most positions in one call, which bounds the memory.
        positions: how many positions were asked for so far.
    """

    tile: Tile
    where: Pixels
    batch: int
    positions: int = 0

    def __call__(
        self, columns: Float[Tensor, " n"], rows: Float[Tensor, " n"], value: Tensor
    ) -> Float[Tensor, "n channels"]:
        """The image there, with the differentiated parameter at `value`."""
        where = self.where
        self.positions += len(columns)
        x, y = positions(where, columns, rows, self.tile.loaded.dtype)
        parts = [
            self.tile.at(Pixels(some_x, some_y, where.width, where.height), value)
            for some_x, some_y in zip(
                torch.split(x, self.batch), torch.split(y, self.batch), strict=True
            )
            if len(some_x)
        ]
        return torch.cat(parts) if parts else x.new_zeros((0, len(self.tile.loaded.spec.channels)))


def positions(
    where: Pixels, columns: Float[Tensor, " n"], rows: Float[Tensor, " n"], dtype: torch.dtype
) -> tuple[Float[Tensor, " n"], Float[Tensor, " n"]]:
    """Where columns and rows of the frame lie, by the formula of the pixel centres."""
    x = (columns + (0.5 - where.width / 2)) * where.pitch
    y = ((where.height / 2 - 0.5) - rows) * where.pitch
    return x.to(dtype), y.to(dtype)


def indices(where: Pixels) -> tuple[Float[Tensor, " width"], Float[Tensor, " rows"]]:
    """The columns and the rows, counted from the top left of the frame, of a grid of pixels."""
    columns = where.x[0].double() / where.pitch + (where.width / 2 - 0.5)
    rows = (where.height / 2 - 0.5) - where.y[:, 0].double() / where.pitch
    return columns.round(), rows.round()
