"""Pixels of regions that are no number: they are kept, and told of."""

import torch
from torch import Tensor

from app.engine.findings import Finding
from app.engine.probing.asked import Asked
from app.engine.probing.cutting import pieces
from app.engine.probing.differences import Differences

# A hole or two are shown, not a list of thousands.
SHOWN = 8


def holes(asked: Asked, values: Tensor, gradients: list[Tensor]) -> list[Finding]:
    """What is to be said of values and gradients that are no numbers."""
    if not bool(torch.isfinite(values).all()):
        count, pixels = _found(asked)
        detail = f"{count} pixels of the regions are no numbers, and make theirs none."
        return [Finding(code="non_finite", detail=detail, pixels=pixels)]
    wrong = sum(int((~torch.isfinite(each)).sum()) for each in gradients)
    if wrong:
        detail = f"{wrong} of {sum(each.numel() for each in gradients)} derivatives."
        return [Finding(code="non_finite", detail=detail)]
    return []


@torch.no_grad()
def _found(asked: Asked) -> tuple[int, tuple[tuple[int, int], ...]]:
    """How many pixels are no numbers, and the first of them as (row, column)."""
    count = 0
    shown: list[int] = []
    for piece in pieces(asked, Differences.of(asked).plan.rows):
        index, order = torch.unique(piece.weights.index, return_inverse=True)
        image = piece.image(asked, asked.params)[piece.position(asked).to(asked.loaded.device)]
        bad = (~torch.isfinite(image)).any(-1).cpu()
        missing = torch.zeros(len(index), dtype=torch.bool)
        missing[order[bad]] = True
        count += int(missing.sum())
        shown += index[missing][: SHOWN - len(shown)].tolist()
    return count, tuple((at // asked.width, at % asked.width) for at in shown)
