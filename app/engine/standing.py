"""What is to be said of an image itself, before it is differentiated in any way."""

from dataclasses import replace

import torch
from torch import Tensor

from app.engine.differences import SHRINK
from app.engine.extrapolation import Estimate
from app.engine.findings import Finding
from app.engine.jumps import NOTABLE
from app.engine.leaps import leaps, seen_twice, unexplained
from app.engine.seams import outreached
from app.engine.trial import Trial
from renderers import Loaded

# A few pixels asked alone must be what they are among others, to rounding.
ALONE = 1e-5
# One pixel by itself is its own maximum and mean; a handful is a small tile.
FEW = (slice(0, 1), slice(1, 2), slice(0, 32))
# Of the pixels: quantisation steps nearly everywhere, an edge in a part of the frame.
STEPPED = 0.25
# Of the pixels that move: most rest at a small step, but for those that are about to leap.
RESTING = 0.9
# Of the pixels: those at which a small step meets a leap, and a smaller one meets it again.
MET = 0.02
# Of the image's range: finer levels than these (twelve bits) are not told from rounding.
FINE = 2e-4


def undivided(loaded: Loaded) -> Loaded:
    """The renderer as one that must be evaluated whole."""
    return replace(
        loaded,
        spec=replace(loaded.spec, halo=None),
        load_as=lambda dtype: undivided(loaded.load_as(dtype)),
    )


def standing(trial: Trial) -> tuple[list[Finding], bool]:
    """What is to be said of the image itself, and whether it must be whole.

    A renderer that draws from an unseeded source, or whose pixels depend on each other, is found
    by asking twice, and by asking for a few pixels alone; of a frame renderer, for a few windows.
    """
    tile, spec = trial.tile, trial.tile.loaded.spec
    with torch.no_grad():
        first, second = tile(tile.value), tile(tile.value)
        if not torch.equal(torch.nan_to_num(first), torch.nan_to_num(second)):
            return [Finding(code="not_deterministic")], False
        if spec.halo is None:
            return [], True
        if spec.kind == "frame":
            torn = outreached(trial)
            return [Finding(code="halo_too_small")] if torn else [], torn
        alone = [tile.part(few)(tile.value) - first[few] for few in FEW]
    size = float(torch.nan_to_num(first, posinf=0.0, neginf=0.0).abs().max())
    off = max(float(torch.nan_to_num(difference).abs().max()) for difference in alone)
    if off > ALONE * size:
        return [Finding(code="tile_dependent")], True
    return [], False


def quantised(trial: Trial, reference: Estimate) -> bool:
    """Whether the image moves in small leaps nearly everywhere, and rests or glides between them.

    Leaps that are large beside the image's own range are edges, which `edge` knows how to follow.
    """
    span = span_of(reference.here)
    leap = reference.leap
    leaping = leap > 0
    if float(leaping.to(torch.float32).mean()) < STEPPED:
        return False
    resting = (reference.values == 0)[leaping].to(torch.float32).mean()
    if float(resting) > RESTING:
        return float(leap[leaping].median()) <= NOTABLE * span or span == 0
    return _gliding(trial, reference, span)


def _gliding(trial: Trial, reference: Estimate, span: float) -> bool:
    """Whether small leaps stand beside a smooth part, whose derivative is all that is carried.

    Then a derivative across many leaps differs from that between them, at this step as at that; the
    leaps themselves are met by small steps at few pixels, and are leaps however closely looked at.
    """
    if len(reference.plain) < 3:
        return False
    wide, less = unexplained(reference)[:2]
    # Of what is smooth a quarter of the step leaves a sixty-fourth, of steps a quarter or more.
    across = (wide > FINE * span) & (less > wide / (2 * SHRINK))
    if float(across.to(torch.float32).mean()) < STEPPED:
        return False
    met = seen_twice(reference, FINE * span).amax(0)
    some = met[met > 0]
    if some.numel() < MET * met.numel() or float(some.median()) > NOTABLE * span:
        return False
    direction = trial.mixed.to(trial.exact.value.dtype)
    return leaps(trial.exact, direction, reference, FINE * span)


def span_of(image: Tensor) -> float:
    """The range of an image's finite values."""
    finite = image[torch.isfinite(image)]
    return float(finite.max() - finite.min()) if finite.numel() else 0.0
