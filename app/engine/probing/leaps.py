"""Hard edges: values that leap while the parameters move, which no derivative sees."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from app.engine.differences import FIRST
from app.engine.jumps import NOTABLE
from app.engine.probing.asked import Asked
from app.engine.probing.cutting import pieces
from app.engine.probing.moves import scale_of
from app.engine.probing.piece import Piece

# Parts of the way that values are moved over: nearly all of a leap is in one of them, and in one of
# its parts, and so on; the flank of what is smooth spreads.
PARTS = (8, 16, 8)
KEPT = 0.7
# Parts that are looked into further: where there are edges, one is found.
FOLLOWED = 2
# Parts of the way in which steps are looked for.
MANY = 64


@torch.no_grad()
def leaping(asked: Asked, names: Sequence[str], size: int) -> bool:
    """Whether some values leap as parameters move together.

    Args:
        asked: the functionals, on few pixels.
        names: the parameters.
        size: how many pixels may be asked for at once.
    """
    end = {name: _end(asked, name, 1.0) for name in names}
    return any(_leaps(_along(asked, piece, end)) for piece in pieces(asked, size))


@torch.no_grad()
def stepping(asked: Asked, name: str, size: int) -> float:
    """The share of values that move in steps alone as a parameter moves: they rest in between."""
    found, seen = 0, 0
    for piece in pieces(asked, size):
        stepped: Tensor | None = None
        for sign in (-1.0, 1.0):
            image = _along(asked, piece, {name: _end(asked, name, sign)})
            some = _steps(torch.stack([image(part / MANY) for part in range(MANY + 1)]))
            stepped = some if stepped is None else stepped | some
        assert stepped is not None  # noqa: S101 - there are two sides
        found, seen = found + int(stepped.sum()), seen + stepped.numel()
    return found / max(1, seen)


def _steps(images: Tensor) -> Tensor:
    """Which values change in a single part of the way, or rest between two changes."""
    changed = images.diff(dim=0) != 0
    count = changed.cumsum(0)
    resting = (~changed & (count > 0) & (count < count[-1])).any(0)
    return resting | (count[-1] == 1)


def _end(asked: Asked, name: str, sign: float) -> Tensor:
    """Where a parameter is moved to; an entry that is stopped by its bound goes the other way."""
    value, declared = asked.params[name], asked.loaded.spec.params[name]
    step = sign * FIRST * scale_of(value, declared, torch.ones_like(value))
    if declared.low is None and declared.high is None:
        return value + step
    ahead, behind = (
        each.clamp(declared.low, declared.high) for each in (value + step, value - step)
    )
    return torch.where((ahead - value).abs() >= (behind - value).abs(), ahead, behind)


def _along(asked: Asked, piece: Piece, end: dict[str, Tensor]) -> Callable[[float], Tensor]:
    """The values that count, at a share of the way to the end."""
    position = torch.unique(piece.position(asked)).to(asked.loaded.device)

    def image(share: float) -> Tensor:
        there = {name: torch.lerp(asked.params[name], at, share) for name, at in end.items()}
        return torch.nan_to_num(piece.image(asked, {**asked.params, **there})[position])

    return image


def _leaps(image: Callable[[float], Tensor]) -> bool:
    """Whether a value makes nearly all of its way in one part of one part of one part of it."""
    here = image(0.0)
    notable = NOTABLE * (float(here.max() - here.min()) or float(here.abs().max()))
    suspect = (image(1.0) - here).abs() > notable
    start, width = torch.zeros_like(here), 1.0
    for parts in PARTS:
        kept = torch.zeros_like(suspect)
        for at in torch.unique(start[suspect]).tolist()[:FOLLOWED]:
            shares = [at + width * part / parts for part in range(parts + 1)]
            steps = torch.stack([image(share) for share in shares]).diff(dim=0).abs()
            most, where = steps.max(dim=0)
            mine = suspect & (start == at) & (most > notable) & (most > KEPT * steps.sum(0))
            start = torch.where(mine, at + width * where / parts, start)
            kept |= mine
        suspect, width = kept, width / parts
        if not bool(suspect.any()):
            return False
    return True
