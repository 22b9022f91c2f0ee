"""Edges that come or go within the step, where none is seen."""

import torch
from jaxtyping import Bool
from torch import Tensor

from app.engine.edges.asking import Asker, indices
from app.engine.edges.bracket import KEPT_BY_SIXTEENTH, ROUNDING
from app.engine.edges.steps import RATIO, Steps

SAMPLED = 4
"""Of so many pixels in a row and in a column, one is sampled: things smaller may be missed."""


def appearing(asker: Asker, steps: Steps, rung: int, sees: Bool[Tensor, "rows width"]) -> int:
    """How many sampled pixels away from all edges change by a jump, as the parameter makes a step.

    A change that does not shrink when the step does is no derivative: something appears just at
    the parameter's value. There the derivative does not exist, and nothing is added for it.
    """
    columns, rows = indices(asker.where)
    chosen = ~sees & ((rows % SAMPLED == 0)[:, None] & (columns % SAMPLED == 0)[None, :])
    row, column = chosen.nonzero(as_tuple=True)
    row, column = rows[row], columns[column]
    size = steps.sizes[rung]
    change, around = _change(asker, steps, size, row, column)
    some = change > ROUNDING * torch.finfo(change.dtype).eps * around
    less, _ = _change(asker, steps, size / RATIO, row[some], column[some])
    return int((less > KEPT_BY_SIXTEENTH * change[some]).sum())


def _change(
    asker: Asker, steps: Steps, size: float, row: Tensor, column: Tensor
) -> tuple[Tensor, Tensor]:
    """The change of the image from one side of the step to the other, and its size."""
    low, high = (asker(column, row, steps.moved(sign * size)) for sign in (-1.0, 1.0))
    return (high - low).abs().sum(-1), (high.abs() + low.abs()).sum(-1)
