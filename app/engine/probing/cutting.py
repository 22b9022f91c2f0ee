"""Cutting what is asked into pieces, in order from the top."""

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from app.engine.frame import Band
from app.engine.probing.asked import Asked, Weights
from app.engine.probing.piece import Piece
from app.engine.trial import SAME

# Weights that are gathered at once, before they are cut into pieces.
GATHERED = 1 << 18


def pieces(asked: Asked, size: int) -> Iterator[Piece]:
    """All that must be asked for, in order from the top, at most `size` pixels at once.

    A piece of a frame renderer has full rows, one at least; one that must be whole has all.
    """
    for band in bands_of(asked, size):
        weights = weights_in(asked, band)
        if not len(weights.index):
            continue
        if not asked.scattered:
            yield Piece(weights, band, None)
            continue
        pixels = torch.unique(weights.index)
        for start in range(0, len(pixels), size):
            few = pixels[start : start + size]
            some = (few[0] <= weights.index) & (weights.index <= few[-1])
            yield Piece(weights.where(some), band, few)


def precise(asked: Asked) -> Asked:
    """The same in float64, where the renderer can be evaluated so; itself otherwise."""
    if asked.loaded.dtype is torch.float64:
        return asked
    try:
        loaded = asked.loaded.load_as(torch.float64)
        params = {name: value.to(torch.float64) for name, value in asked.params.items()}
        exact = replace(asked, loaded=loaded, params=params)
        piece = next(pieces(exact, 1))
        with torch.no_grad():
            image = piece.image(exact, params)
            if loaded.spec.random and not _close(image, piece.image(asked, asked.params)):
                # Other numbers are drawn in another dtype: that is another image.
                return asked
    except Exception:  # noqa: BLE001 - a renderer may insist on float32 in its depths
        return asked
    return exact


def bands_of(asked: Asked, size: int) -> Iterator[Band]:
    """Rows whose weights are gathered together."""
    if asked.whole:
        yield Band(0, asked.height)
        return
    counts = asked.rows().tolist()
    # Of what lies in rows, each row costs its width, and a row without weights ends the piece.
    most = GATHERED if asked.scattered else max(1, size // asked.width)
    start, held = 0, 0
    for row, count in enumerate(counts):
        cost = count if asked.scattered else 1
        ends = not asked.scattered and not count
        if held and (ends or held + cost > most):
            yield Band(start, row)
            held = 0
        if not held:
            start = row
        held += cost if count else 0
    if held:
        yield Band(start, asked.height if counts[-1] else _last(counts) + 1)


def weights_in(asked: Asked, band: Band) -> Weights:
    """The weights of all functionals in some rows."""
    if asked.sample is not None:
        first, last = band.start * asked.width, band.stop * asked.width
        return asked.sample.where((first <= asked.sample.index) & (asked.sample.index < last))
    parts = [each.area.within(band.start, band.stop, asked.width) for each in asked.regions]
    region = torch.repeat_interleave(
        torch.arange(len(parts)), torch.tensor([len(index) for index, _ in parts])
    )
    value = [weight * each.factor for (_, weight), each in zip(parts, asked.regions, strict=True)]
    return Weights(torch.cat([index for index, _ in parts]), region, torch.cat(value))


def _last(counts: list[int]) -> int:
    return max(row for row, count in enumerate(counts) if count)


def _close(image: Tensor, other: Tensor) -> bool:
    size = float(torch.nan_to_num(image).abs().max())
    return float(torch.nan_to_num(image - other).abs().max()) <= SAME * size
