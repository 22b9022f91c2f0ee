"""Hard edges of a frame that cannot be looked at between its pixels, found by moving the parameter.

No derivative sees them, and of small differences few do. A pixel renderer is asked for positions
beside its pixels; a frame renderer, or one that must be whole, is asked for other parameters.
"""

from dataclasses import dataclass

import torch

from app.engine.differences import FIRST, scale_of
from app.engine.extrapolation import Estimate
from app.engine.findings import Finding
from app.engine.jumps import NOTABLE
from app.engine.leaps import across, first_leap, is_leap, leaps
from app.engine.standing import span_of
from app.engine.trial import Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class Blindness:
    """What derivatives do not see.

    Attributes:
        findings: what is to be said of it.
        coarse: where a map would be zero everywhere though the image moves: the step of differences
            that see it move, in units of their ladder's first; else 0.
    """

    findings: tuple[Finding, ...] = ()
    coarse: float = 0.0


def blindness(trial: Trial, reference: Estimate) -> Blindness:
    """Whether the image has hard edges that move, and whether that is all that moves."""
    exact, direction = trial.exact, trial.mixed.to(trial.exact.value.dtype)
    if bool((torch.nan_to_num(reference.values) != 0).any()):
        found = leaps(exact, direction, reference, NOTABLE * span_of(reference.here))
        return Blindness(findings=(EDGES,) if found else ())
    coarse = _coarse(trial, reference)
    return Blindness(findings=(EDGES,), coarse=coarse) if coarse else Blindness()


def _coarse(trial: Trial, reference: Estimate) -> float:
    """The step, in units of the first, at which a resting image leaps; 0 where it does not."""
    exact, direction = trial.exact, trial.mixed.to(trial.exact.value.dtype)
    moved = torch.nan_to_num(reference.plain).abs().amax(-1).flatten(1)
    levels = moved.any(dim=1).nonzero()
    if len(levels):
        level = int(levels[-1])
        way = across(exact, direction, reference.steps[level])
        return 1.0 if is_leap(exact, way, int(moved[level].argmax())) else 0.0
    step = first_leap(exact, direction, reference.here)
    return step / (FIRST * scale_of(exact, direction)) if step else 0.0


EDGES = Finding(code="edges_suspected", detail="Seen when the parameter is moved.")
