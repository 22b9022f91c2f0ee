"""Forward mode: a tangent for each entry of a parameter is pushed to the functionals."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor
from torch.func import jvp, vmap

from app.engine.errors import StrategyError
from app.engine.memory import out_of_memory
from app.engine.operations import ForwardFormulas
from app.engine.probing.asked import Asked
from app.engine.probing.moves import positions
from app.engine.probing.piece import Piece
from app.engine.probing.reverse import Rows
from app.engine.probing.sums import planned, summed
from renderers import Pixels

# Most directions that are carried at once; beyond it nothing is shared that is worth the memory.
TOGETHER = 64


def pushed(asked: Asked, name: str, entries: Sequence[int], *, native: bool = False) -> Rows:
    """Values, and derivatives in some entries of a parameter.

    Args:
        asked: the functionals.
        name: the parameter.
        entries: positions of its entries, in C order.
        native: whether the renderer's own derivative is used.
    """

    def work(part: Asked, piece: Piece, together: int) -> Rows:
        return _push(part, piece, name, entries, together, native=native)

    def trial(part: Asked, piece: Piece, together: int) -> Rows:
        return _push(part, piece, name, entries[:together], together, native=native)

    plan = planned(asked, trial, min(TOGETHER, len(entries)), asked.params[name].nbytes)
    return summed(asked, work, 1 + len(entries), plan)


def _push(
    asked: Asked, piece: Piece, name: str, entries: Sequence[int], together: int, *, native: bool
) -> Rows:
    found: list[Tensor] = []
    for first in range(0, len(entries), together):
        directions = _units(asked.params[name], entries[first : first + together])
        with torch.no_grad():
            image, tangents = (_native if native else _tangents)(asked, piece, name, directions)
        if not found:
            found.append(piece.sums(asked, image)[None])
        found.append(piece.sums(asked, tangents))
    return torch.cat(found).T


def _units(value: Tensor, entries: Sequence[int]) -> Float[Tensor, "n *entries"]:
    """Unit directions along some entries."""
    units = value.new_zeros(len(entries), value.numel())
    units[torch.arange(len(entries)), positions(entries)] = 1.0
    return units.reshape(len(entries), *value.shape)


def _tangents(
    asked: Asked, piece: Piece, name: str, directions: Tensor
) -> tuple[Tensor, Float[Tensor, "n pixels channels"]]:
    """The piece of the image, and its tangents; one after another where `vmap` refuses."""

    def push(direction: Tensor) -> tuple[Tensor, Tensor]:
        def render(value: Tensor) -> Tensor:
            return piece.image(asked, {**asked.params, name: value})

        image, tangent = jvp(render, (asked.params[name],), (direction,))  # type: ignore[misc]
        return image, tangent

    with ForwardFormulas():
        if len(directions) > 1:
            try:
                many = vmap(push, out_dims=(None, 0), randomness="same")  # type: ignore[arg-type]
                image, tangents = many(directions)
                return image, tangents
            except Exception as error:
                if out_of_memory(error):
                    raise
        pairs = [push(direction) for direction in directions]
    return pairs[0][0], torch.stack([tangent for _, tangent in pairs])


def _native(
    asked: Asked, piece: Piece, name: str, directions: Tensor
) -> tuple[Tensor, Float[Tensor, "n pixels channels"]]:
    """The piece of the image, and its tangents by the renderer's own `jvp`."""
    if asked.loaded.jvp is None:
        raise StrategyError(f"Renderer {asked.loaded.spec.name!r} has no `jvp` of its own.")
    where, keep = piece.asked_for(asked)
    pairs = [asked.loaded.jvp(where, dict(asked.params), {name: d}) for d in directions]
    channels = len(asked.loaded.spec.channels)
    shape = where.shape if isinstance(where, Pixels) else (where.stop - where.start, where.width)
    if any(tuple(each.shape) != (*shape, channels) for pair in pairs for each in pair):
        raise StrategyError(
            f"`jvp` must return an image and a tangent of shape {[*shape, channels]}."
        )
    image, tangents = pairs[0][0], torch.stack([tangent for _, tangent in pairs])
    if piece.pixels is None:
        image, tangents = image[keep].flatten(0, 1), tangents[:, keep].flatten(1, 2)
    return image, tangents
