"""A few of the pixels that functionals look at: enough to tell a right derivative from a wrong."""

from dataclasses import replace

import torch
from jaxtyping import Int
from torch import Tensor

from app.engine.probing.asked import Asked, Weights
from app.engine.probing.cutting import bands_of, weights_in

# Pixels in all, of a renderer that is asked for pixels; rows, of one that is asked for rows.
PIXELS = 1024
ROWS = 8


def sampled(asked: Asked) -> Asked:
    """The same functionals on some of their pixels, some of each; all where there are few.

    Of a renderer that must be whole there is nothing to save.
    """
    if asked.whole:
        return asked
    counts = torch.stack([each.area.rows(asked.height) for each in asked.regions])
    few = PIXELS if asked.scattered else ROWS * asked.width
    if int(counts.sum()) <= few:
        return asked
    if asked.scattered:
        chosen = _pixels(asked, counts, max(1, PIXELS // len(asked.regions)))
    else:
        chosen = _rows(asked, counts, max(1, ROWS // len(asked.regions)))
    some = []
    for band in bands_of(asked, few):
        weights = weights_in(asked, band)
        some.append(weights.where(torch.isin(weights.index, chosen)))
    return replace(
        asked,
        sample=Weights(
            torch.cat([each.index for each in some]),
            torch.cat([each.region for each in some]),
            torch.cat([each.value for each in some]),
        ),
    )


def _pixels(asked: Asked, counts: Tensor, each: int) -> Int[Tensor, " pixels"]:
    """Some pixels of each region, at random: in a regular pattern, a texture could hide."""
    generator = torch.Generator().manual_seed(0)
    chosen = []
    for region, rows in zip(asked.regions, counts, strict=True):
        before = rows.cumsum(0)
        ranks = torch.randint(int(before[-1]), (each,), generator=generator)
        ranks = torch.unique(ranks)
        at = torch.searchsorted(before, ranks, right=True)
        for row in torch.unique(at).tolist():
            index, _ = region.area.within(row, row + 1, asked.width)
            first = int(before[row]) - len(index)
            chosen.append(index[ranks[at == row] - first])
    found: Tensor = torch.unique(torch.cat(chosen))
    return found


def _rows(asked: Asked, counts: Tensor, each: int) -> Int[Tensor, " pixels"]:
    """All pixels of some rows of each region."""
    generator = torch.Generator().manual_seed(0)
    chosen = []
    for rows in counts:
        touched = rows.nonzero()[:, 0]
        chosen.append(touched[torch.randint(len(touched), (each,), generator=generator)])
    picked = torch.unique(torch.cat(chosen))
    pixels: Tensor = picked[:, None] * asked.width + torch.arange(asked.width)
    return pixels.flatten()


def counted(asked: Asked) -> int:
    """How many pixels the functionals look at, those of several counted each time."""
    return int(asked.rows().sum())
