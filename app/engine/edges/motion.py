"""How fast crossings move."""

from dataclasses import dataclass, fields, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from app.engine.edges.asking import Asker
from app.engine.edges.bracket import Brackets, reopen, settle
from app.engine.edges.crossing import Crossings
from app.engine.edges.settings import Settings
from app.engine.edges.steps import Steps, ask_after, choose

PARTS = 2
"""Parts of the reach in which a moved crossing is looked for: other edges may be as near as one."""

UNCLEAR = 16
"""A motion of fewer standard errors is not told from none."""
CLOSER = 8


@dataclass(frozen=True, slots=True, eq=False)
class Motion:
    """The motion of crossings along one direction in parameter space.

    Attributes:
        velocity: pixels a unit of the direction, 0 where the crossing was lost.
        error: its standard error from the width of the brackets.
        found: whether the crossing was found again on both sides.
        rungs: the step taken for each, an index into the sizes of the ladder, or -1.
    """

    velocity: Float[Tensor, " n"]
    error: Float[Tensor, " n"]
    found: Bool[Tensor, " n"]
    rungs: Int[Tensor, " n"]


def motion(asker: Asker, steps: Steps, crossings: Crossings, settings: Settings) -> Motion:
    """How fast crossings move: central differences of where they are.

    Each takes the largest step that keeps it within reach: then rounding and the width of the
    brackets count least. A crossing has another edge beside it if it was found only after steps too
    small to tell its motion, or if its edge ends close by, which may move on past the line: then it
    is followed again within a shorter reach.
    """
    crossed = crossings.brackets
    moved = _motion(asker, steps, crossed, settings)
    unclear = (moved.velocity.abs() <= UNCLEAR * moved.error) & (moved.rungs != 0)
    unclear |= crossings.ends
    if not bool(unclear.any()):
        return moved
    again = replace(settings, reach=settings.reach / CLOSER)
    closer = _motion(asker, steps, crossed.pick(unclear), again)
    unclear[unclear.clone()] = closer.found
    for field in fields(moved):
        getattr(moved, field.name)[unclear] = getattr(closer, field.name)[closer.found]
    return moved


def _motion(asker: Asker, steps: Steps, crossed: Brackets, settings: Settings) -> Motion:
    def fits(chosen: Tensor, rungs: Tensor) -> Tensor:
        some = crossed.pick(chosen)
        suits = torch.ones_like(chosen, dtype=torch.bool)
        for sign in (-1.0, 1.0):
            ask = ask_after(asker, steps, rungs[suits], sign)
            again = some.pick(suits)
            _, alike = reopen(again, ask, again.across, settings.reach, PARTS)
            suits[suits.clone()] = alike
        return suits

    rungs = choose(steps, len(crossed), fits, crossed.axis.device)
    found = rungs >= 0
    lengths = torch.tensor([steps.length(size) for size in steps.sizes], dtype=torch.float64)
    lengths = lengths.to(found.device)[rungs[found]]
    low, high = (
        _place(asker, steps, rungs[found], sign, crossed.pick(found), settings)
        for sign in (-1.0, 1.0)
    )
    velocity, error = (torch.zeros_like(crossed.low) for _ in range(2))
    velocity[found] = (high - low) / lengths
    # A bracket of width w leaves an error of variance w^2 / 12 at either end.
    width = 2 * settings.reach / 2**settings.follow
    error[found] = width / 6**0.5 / lengths
    return Motion(velocity, error, found, rungs)


def _place(
    asker: Asker,
    steps: Steps,
    rungs: Int[Tensor, " n"],
    sign: float,
    crossed: Brackets,
    settings: Settings,
) -> Float[Tensor, " n"]:
    """Where crossings are after their steps."""
    ask = ask_after(asker, steps, rungs, sign)
    opened, _ = reopen(crossed, ask, crossed.across, settings.reach, PARTS)
    return settle(opened, ask, settings.follow - 1, crossed.rise).middle
