"""What moving edges contribute to the derivative of the pixel-averaged image."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from app.engine.edges.appearing import appearing
from app.engine.edges.asking import Asker, indices
from app.engine.edges.contribution import contribution
from app.engine.edges.crossing import Crossings, crossings
from app.engine.edges.errors import PositionsError
from app.engine.edges.motion import Motion, motion
from app.engine.edges.seen import seen
from app.engine.edges.settings import Settings
from app.engine.edges.steps import ask_at, ladder
from app.engine.tile import Tile, Vectors
from renderers import Pixels

CHUNK = 4096
"""Pixels looked at together: their lines are asked for at once, which bounds the memory."""
COST = 64
"""Evaluations that a crossing takes, about: what is left of the budget is divided by it."""


@dataclass(frozen=True, slots=True, eq=False)
class Boundary:
    """What moving edges contribute, and what was met on the way.

    Attributes:
        values: the boundary part along each direction, exactly 0 where no edge moves.
        standard_error: the part of its error that comes from the resolution of the crossings. The
            estimate is not random; the width of its brackets is treated as if it were.
        pixels: pixels that were looked at closely.
        crossings: crossings that were followed, over all directions.
        appeared: sampled pixels away from all edges in which one comes or goes within the step.
        vanished: crossings that were not found again after even the smallest step.
        unfollowed: places that were left out because the budget was spent.
        positions: positions at which the renderer was evaluated.
    """

    values: Float[Tensor, "n rows width channels"]
    standard_error: Float[Tensor, "n rows width channels"]
    pixels: int
    crossings: int
    appeared: int
    vanished: int
    unfollowed: int
    positions: int


def boundary(
    tile: Tile,
    image: Float[Tensor, "rows width channels"],
    directions: Vectors,
    settings: Settings | None = None,
) -> Boundary:
    """The boundary part of the derivative of the image averaged over pixels.

    Let a pixel's average be the integral of `f` over its area A, and let `f` jump along an edge
    that moves with speed `v` along its normal. By Reynolds' transport theorem::

        d/dp (1/A) ∫ f dA  =  (1/A) ∫ df/dp dA  +  (1/A) ∫ (f_behind - f_ahead) v dl

    The first part is the interior, which automatic differentiation sees. The second is taken
    along lines through the pixel: where an edge crosses a line at `c`, `v dl = dc/dp dt` with `t`
    across the line, so each crossing adds `(f_before - f_after) dc/dp` times what it stands for of
    the pixel. Sampling such an integral is the idea of edge sampling (Li, Aittala, Durand and
    Lehtinen, "Differentiable Monte Carlo Ray Tracing through Edge Sampling", 2018,
    doi:10.1145/3272127.3275109); there the renderer names its edges, here they are looked for.

    Args:
        tile: a pixel renderer at a grid of pixels.
        image: its image there.
        directions: directions in parameter space.
        settings: how closely edges are looked at.

    Raises:
        PositionsError: the renderer cannot be asked at positions of our choice.
    """
    settings = settings or Settings()
    where = tile.where
    if not isinstance(where, Pixels):
        raise PositionsError(
            f"Renderer {tile.loaded.spec.name!r} draws whole frames. The `edge` strategy asks for "
            "single positions inside of pixels: it needs a renderer that takes `pixels`."
        )
    if tile.loaded.spec.halo is None:
        raise PositionsError(
            f"The pixels of {tile.loaded.spec.name!r} depend on each other, so that the `edge` "
            "strategy cannot look at some of them alone."
        )
    if len(where.shape) != 2:
        raise PositionsError(f"The `edge` strategy needs a grid; got shape {list(where.shape)}.")
    asker = Asker(tile, where, batch=max(where.x.numel(), CHUNK))
    with torch.no_grad():
        return _boundary(asker, image, directions, settings)


@dataclass(slots=True, eq=False)
class _Sums:
    """What has been added up so far."""

    values: Tensor
    variance: Tensor
    crossings: int = 0
    vanished: int = 0
    unfollowed: int = 0

    def add(self, at: tuple[int, Tensor], crossed: Crossings, moved: Motion) -> None:
        """Add what crossings contribute to the pixels that own them."""
        values, variance = contribution(crossed, moved, len(at[1]))
        self.values[at] = values.to(self.values.dtype)
        self.variance[at] = variance.to(self.variance.dtype)
        self.crossings += len(moved.found)
        self.vanished += int((~moved.found).sum())


def _boundary(asker: Asker, image: Tensor, directions: Tensor, settings: Settings) -> Boundary:
    ask = ask_at(asker, asker.tile.value)
    sees = seen(asker, image, ask)
    budget = max(settings.least, int(settings.budget * sees.numel()))
    ladders = [ladder(asker, direction) for direction in directions]
    columns, rows = indices(asker.where)
    blank = image.new_zeros((len(ladders), sees.numel(), image.shape[-1]))
    sums, smallest = _Sums(blank, blank.clone()), [steps.first for steps in ladders]
    for chunk in torch.split(sees.reshape(-1).nonzero()[:, 0], CHUNK):
        if asker.positions >= budget or not len(chunk):
            sums.unfollowed += len(chunk)
            continue
        pixels = torch.stack([columns[chunk % len(columns)], rows[chunk // len(columns)]], dim=1)
        most = max(1, (budget - asker.positions) // (COST * max(1, len(ladders))))
        crossed, left = crossings(pixels, ask, settings, most)
        sums.unfollowed += left
        for index, steps in enumerate(ladders):
            moved = motion(asker, steps, crossed, settings)
            sums.add((index, chunk), crossed, moved)
            smallest[index] = max([smallest[index], *moved.rungs.tolist()])
    appeared = sum(
        appearing(asker, steps, rung, sees) for steps, rung in zip(ladders, smallest, strict=True)
    )
    shape = (len(ladders), *image.shape)
    return Boundary(
        sums.values.reshape(shape),
        sums.variance.sqrt().reshape(shape),
        pixels=int(sees.sum()),
        crossings=sums.crossings,
        appeared=appeared,
        vanished=sums.vanished,
        unfollowed=sums.unfollowed,
        positions=asker.positions,
    )
