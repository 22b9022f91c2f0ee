"""Which pixels see an edge, judged from the centres of the pixels."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import max_pool2d, pad

from app.engine.edges.asking import Asker, indices
from app.engine.edges.bracket import Ask, Brackets, jumps
from app.engine.edges.suspects import suspects

RIM = 3
"""Pixels around a tile: the next one lends its edge, it has a neighbour, that one a comparison."""
HALVINGS = 5


def seen(
    asker: Asker, image: Float[Tensor, "rows width channels"], ask: Ask
) -> Bool[Tensor, "rows width"]:
    """The pixels that see an edge, and their neighbours.

    An edge that separates no two centres nearby (a dot or a thread between them) is not seen.
    """
    columns, rows = (_rimmed(line) for line in indices(asker.where))
    window = _window(asker, image, columns, rows)
    marked = torch.zeros(window.shape[:2], dtype=torch.bool, device=window.device)
    for axis in (0, 1):
        # Arrays are looked at with the lines' direction last.
        values, mark = (window, marked) if axis == 0 else (window.transpose(0, 1), marked.T)
        along, across = (columns, rows) if axis == 0 else (rows, columns)
        line, at = _near(suspects(values)).nonzero(as_tuple=True)
        pairs = Brackets(
            torch.full_like(line, axis),
            across[line],
            along[at],
            along[at + 1],
            values[line, at],
            values[line, at + 1],
        )
        _, kept = jumps(pairs, ask, HALVINGS)
        mark[line[kept], at[kept]] = True
        mark[line[kept], at[kept] + 1] = True
    near = max_pool2d(marked[None].float(), 3, stride=1, padding=1)[0] > 0
    return near[RIM:-RIM, RIM:-RIM]


def _rimmed(line: Float[Tensor, " n"]) -> Float[Tensor, " rimmed"]:
    before = torch.arange(-RIM, 0, device=line.device, dtype=line.dtype)
    after = torch.arange(1, RIM + 1, device=line.device, dtype=line.dtype)
    return torch.cat([line[0] + before, line, line[-1] + after])


def _window(
    asker: Asker, image: Tensor, columns: Tensor, rows: Tensor
) -> Float[Tensor, "rimmed_rows rimmed_width channels"]:
    """The image and a rim around it. The renderer is asked for the rim alone."""
    rim = torch.ones((len(rows), len(columns)), dtype=torch.bool, device=image.device)
    rim[RIM:-RIM, RIM:-RIM] = False
    row, column = rim.nonzero(as_tuple=True)
    window = image.new_empty((*rim.shape, image.shape[-1]))
    window[RIM:-RIM, RIM:-RIM] = image
    window[rim] = asker(columns[column], rows[row], asker.tile.value)
    return window


def _near(pairs: Bool[Tensor, "lines pairs"]) -> Bool[Tensor, "lines pairs"]:
    """Those on the tile's lines and the next ones, that touch such a pixel: what lends an edge."""
    return pad(pairs[RIM - 1 : 1 - RIM, RIM - 2 : 2 - RIM], (1, 1, RIM - 1, RIM - 1))
