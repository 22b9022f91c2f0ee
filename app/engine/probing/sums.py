"""Sums over the pieces of an image, each as large as the memory allows."""

from collections.abc import Callable
from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from app.engine import plan as planning
from app.engine.errors import DeviceMemoryError
from app.engine.evaluate import lanes
from app.engine.memory import out_of_memory, peak_bytes
from app.engine.plan import Cost, Plan
from app.engine.probing.asked import Asked
from app.engine.probing.cutting import pieces
from app.engine.probing.piece import Piece

# Rows of the two trial pieces of a frame renderer, whose halo makes the first one dear.
ROWS = (1, 5)
# Bytes that a pixel of an unknown renderer is taken to need for each vector, where there are few.
ASSUMED = 16 << 10

Work = Callable[[Asked, Piece, int], Float[Tensor, "functionals columns"]]
"""What is computed of a piece, at most so many vectors at once: the piece's part of each sum."""


def summed(
    asked: Asked, work: Work, columns: int, plan: Plan
) -> Float[Tensor, "functionals columns"]:
    """The sums of what `work` says of each piece, in float64.

    Where the device runs out of memory, the piece is cut in two, and then the vectors are fewer.

    Raises:
        DeviceMemoryError: the smallest piece does not fit.
    """
    total = torch.zeros(len(asked.regions), columns, dtype=torch.float64)
    for piece in pieces(asked, plan.rows):
        left, together = [piece], plan.tangents
        while left:
            now = left.pop()
            part = _tried(asked, work, now, together)
            if part is not None:
                total += part.cpu()
                continue
            halves = now.halves(asked)
            if halves is not None:
                left += reversed(halves)
            elif together > 1:
                left, together = [*left, now], together // 2
            else:
                raise DeviceMemoryError(
                    f"{now.count(asked)} pixels do not fit in the memory of "
                    f"{asked.loaded.device}. Ask for a smaller frame."
                )
    return total


def _tried(asked: Asked, work: Work, piece: Piece, together: int) -> Tensor | None:
    """A piece's part, or None where memory was refused; the error lets go of its tensors."""
    try:
        return work(asked, piece, together)
    except Exception as error:
        if not out_of_memory(error):
            raise
    if asked.loaded.device.type == "cuda":
        torch.cuda.empty_cache()
    return None


def planned(asked: Asked, work: Work, vectors: int = 1, held: int = 0) -> Plan:
    """How many pixels and vectors at once the budget holds, by what small pieces were seen to need.

    Args:
        asked: the functionals.
        work: what will be done with each piece.
        vectors: how many vectors there are.
        held: bytes that each vector needs whatever the pixels, such as a gradient's.
    """
    together = _fitting(vectors, held, asked.budget)
    if asked.scattered:
        count = int(asked.rows().sum()) if asked.sample is None else len(asked.sample.index)
        # To see what is needed takes longer than to compute a few pixels.
        few = count * (1 + together) * ASSUMED <= planning.PLANNED * asked.budget
        if few or count <= 2 * lanes():
            return Plan(max(count, lanes()), together, 0)
    chosen = planning.choose(
        _cost(asked, work, together),
        width=1 if asked.scattered else asked.width,
        height=count if asked.scattered else asked.height,
        tangents=together,
        budget=asked.budget,
        device=asked.loaded.device,
        whole=asked.whole,
    )
    return chosen if asked.scattered else replace(chosen, rows=chosen.rows * asked.width)


def _fitting(vectors: int, held: int, budget: int) -> int:
    """As many vectors as the budget holds whatever the pixels: theirs and their sums'."""
    return max(1, min(vectors, int(planning.PLANNED * budget / max(1, 2 * held))))


def _cost(asked: Asked, work: Work, vectors: int) -> Cost:
    """The cost model of a piece: what is fixed, what a pixel adds, and what a vector adds to it."""
    sizes = (lanes(), 2 * lanes())
    if not asked.scattered:
        sizes = (ROWS[0] * asked.width, ROWS[1] * asked.width)
    small, large = (next(pieces(asked, size)) for size in sizes)

    def peak(piece: Piece, together: int) -> int:
        return peak_bytes(lambda: work(asked, piece, together), asked.loaded.device)

    few, many = small.count(asked), large.count(asked)
    one = peak(large, 1)
    # Of a frame that must be whole, nothing tells what is fixed.
    alone = peak(small, 1) if many > few else 0
    pixel = max(1.0, (one - alone) / (many - few if many > few else many))
    fixed = max(0.0, one - pixel * many)
    if vectors < 2:
        return Cost(fixed, pixel, 0.0)
    each = max(1.0, (peak(large, 2) - one) / many)
    return Cost(fixed, max(1.0, pixel - each), each)
