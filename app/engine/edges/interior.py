"""What is smooth in pixels that an edge crosses: averaged over them, on either side of the edge."""

from collections.abc import Callable
from functools import reduce

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from app.engine.edges.asking import indices, positions
from app.engine.tile import Tangents
from renderers import Pixels

# Fibonacci numbers: with them no two points of the lattice below share a row or a column.
POINTS, TURN = 13, 8
ERRS = 0.08
"""The error of the mean, in parts of how much the points differ (standard deviations).

Measured on half-planes in all directions: of halves the lattice counts 4 % too much or too little
(RMS) where its points differ by one half; along rows and columns it errs by 2 %, where a square
grid of 16 points errs by up to 12 %.
"""

At = Callable[[Pixels], Float[Tensor, "n positions channels"]]
"""The tangents along all directions at any positions `(positions,)`."""


def lattice(like: Tensor) -> tuple[Float[Tensor, " points"], Float[Tensor, " points"]]:
    """Points of a pixel, from its centre, in pixels: a Fibonacci lattice, whose mean is 0.

    Sloan and Joe, "Lattice Methods for Multiple Integration", 1994: of all rules with so many
    points it is the best in two dimensions, up to a constant.
    """
    number = torch.arange(POINTS, dtype=like.dtype, device=like.device)
    half = 0.5 / POINTS - 0.5
    return number / POINTS + half, (number * TURN % POINTS) / POINTS + half


def averaged(
    where: Pixels,
    tangents: Tangents,
    moves: Bool[Tensor, "n rows width"],
    at: At,
    batch: int,
) -> tuple[Tangents, Tangents]:
    """The tangents of the interior, averaged over the area of the pixels in which an edge moves.

    On its two sides an edge leaves parts of a pixel, each with a derivative of its own, of
    which the centre knows one.

    Args:
        where: the grid of pixels.
        tangents: at the centres of the pixels, `(n, rows, width, channels)`.
        moves: for each direction the pixels that are averaged; the others keep their bits.
        at: the tangents at other positions.
        batch: most positions asked for at once.

    Returns:
        The tangents, and their standard error from the finite number of points.
    """
    error = torch.zeros_like(tangents)
    row, column = moves.any(dim=0).nonzero(as_tuple=True)
    if not len(row):
        return tangents, error
    columns, rows = indices(where)
    right, down = lattice(columns)
    x, y = positions(
        where,
        (columns[column, None] + right).reshape(-1),
        (rows[row, None] + down).reshape(-1),
        tangents.dtype,
    )
    parts = [
        at(Pixels(some_x, some_y, where.width, where.height))
        for some_x, some_y in zip(torch.split(x, batch), torch.split(y, batch), strict=True)
    ]
    together = torch.cat(parts, dim=1)
    every = together.reshape(len(together), len(row), POINTS, -1).unbind(2)
    # One after another: in an order that does not depend on how many pixels there are.
    mean = reduce(torch.add, every) / POINTS
    spread = (reduce(torch.add, ((one - mean) ** 2 for one in every)) / POINTS).sqrt()
    # An edge may be singular itself, as a root is at the rim of what it is the height of.
    chosen = moves[:, row, column, None] & torch.isfinite(mean)
    result = tangents.clone()
    result[:, row, column] = torch.where(chosen, mean, tangents[:, row, column])
    error[:, row, column] = torch.where(chosen, ERRS * spread, 0)
    return result, error
