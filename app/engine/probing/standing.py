"""What is to be said of the image itself, before its functionals are differentiated."""

import torch
from torch import Tensor

from app.engine.findings import Finding
from app.engine.frame import Band
from app.engine.probing.asked import Asked, Weights
from app.engine.probing.cutting import pieces
from app.engine.probing.piece import Piece

# To rounding: what is asked for with fewer others must be the same.
ALONE = 1e-5
# Pixels of a frame in which a window is compared with all of it.
MOST = 1 << 20


@torch.no_grad()
def standing(asked: Asked) -> tuple[list[Finding], bool]:
    """What is to be said, and whether the frame must be whole.

    A renderer that draws from an unseeded source, or whose pixels depend on what else they are
    asked with, is found by asking twice, and by asking for a part.
    """
    if asked.whole:
        piece = next(pieces(asked, 1))
    else:
        piece = next(pieces(asked, 256 if asked.scattered else 4 * asked.width))
    first, second = (piece.image(asked, asked.params) for _ in range(2))
    if not torch.equal(torch.nan_to_num(first), torch.nan_to_num(second)):
        return [Finding(code="not_deterministic")], False
    if asked.whole:
        return [], False
    if not asked.scattered:
        torn = _torn(asked, piece, first)
        return [Finding(code="halo_too_small")] if torn else [], torn
    for pixels in (_few(piece, 1), _around(asked, piece)):
        if _differ(pixels.image(asked, asked.params), first, pixels, piece):
            return [Finding(code="tile_dependent")], True
    return [], False


def _few(piece: Piece, count: int) -> Piece:
    """The first of a piece's pixels alone."""
    assert piece.pixels is not None  # noqa: S101 - it is asked for pixels
    return Piece(piece.weights, piece.band, piece.pixels[:count])


def _around(asked: Asked, piece: Piece) -> Piece:
    """A piece's pixels among others of the frame: a probe of one pixel has no others of its own."""
    assert piece.pixels is not None  # noqa: S101 - it is asked for pixels
    generator = torch.Generator().manual_seed(0)
    others = torch.randint(asked.width * asked.height, (256,), generator=generator)
    return Piece(piece.weights, piece.band, torch.unique(torch.cat([piece.pixels, others])))


def _differ(image: Tensor, other: Tensor, mine: Piece, theirs: Piece) -> bool:
    """Whether pixels that are in both differ by more than rounding."""
    assert mine.pixels is not None and theirs.pixels is not None  # noqa: S101
    both = torch.isin(mine.pixels, theirs.pixels)
    at = torch.searchsorted(theirs.pixels, mine.pixels[both])
    return _apart(image[both.to(image.device)], other[at.to(other.device)])


def _torn(asked: Asked, piece: Piece, image: Tensor) -> bool:
    """Whether rows differ from those of the whole frame, where that is not too large."""
    if asked.width * asked.height > MOST:
        return False
    none = torch.zeros(0, dtype=torch.int64)
    weights = Weights(none, none, none.to(torch.float64))
    whole = Piece(weights, Band(0, asked.height), None).image(asked, asked.params)
    rows = slice(piece.band.start * asked.width, piece.band.stop * asked.width)
    return _apart(image, whole[rows])


def _apart(image: Tensor, other: Tensor) -> bool:
    first, second = (torch.nan_to_num(each, posinf=0.0, neginf=0.0) for each in (image, other))
    size = max(float(first.abs().max()), float(second.abs().max()))
    return float((first - second).abs().max()) > ALONE * size
