"""What is to be said of an image itself, before it is differentiated in any way."""

from dataclasses import replace

import torch

from app.engine.differences import Estimate
from app.engine.findings import Finding
from app.engine.jumps import NOTABLE
from app.engine.task import Task
from app.engine.trial import Trial, try_out
from renderers import Loaded

# A few pixels asked alone must be what they are among others, to rounding.
ALONE = 1e-5
# One pixel by itself is its own maximum and mean; a handful is a small tile.
FEW = (slice(0, 1), slice(1, 2), slice(2, 3), slice(0, 32))
# Of the pixels: quantisation steps nearly everywhere, an edge in a part of the frame.
STEPPED = 0.25
# Of the pixels that move: most rest at a small step, but for those that are about to leap.
RESTING = 0.9


def undivided(loaded: Loaded) -> Loaded:
    """The renderer as one that must be evaluated whole."""
    return replace(
        loaded,
        spec=replace(loaded.spec, halo=None),
        load_as=lambda dtype: undivided(loaded.load_as(dtype)),
    )


def standing(loaded: Loaded, task: Task) -> tuple[list[Finding], bool]:
    """What is to be said of the image itself, and whether it must be whole.

    A renderer that draws from an unseeded source, or whose pixels depend on each other, is found
    by asking twice, and by asking for a few pixels alone.
    """
    tile = try_out(loaded, task).tile
    findings: list[Finding] = []
    with torch.no_grad():
        first, second = tile(tile.value), tile(tile.value)
        if not torch.equal(torch.nan_to_num(first), torch.nan_to_num(second)):
            return [Finding(code="not_deterministic")], False
        if loaded.spec.kind != "pixel" or loaded.spec.halo is None:
            return findings, loaded.spec.halo is None
        alone = [tile.part(few)(tile.value) - first[few] for few in FEW]
    size = float(torch.nan_to_num(first, posinf=0.0, neginf=0.0).abs().max())
    off = max(float(torch.nan_to_num(difference).abs().max()) for difference in alone)
    if off > ALONE * size:
        return [Finding(code="tile_dependent")], True
    return findings, False


def quantised(trial: Trial, reference: Estimate) -> bool:
    """Whether the image moves in small leaps and rests between them, nearly everywhere.

    Leaps that are large beside the image's own range are edges, which `edge` knows how to follow.
    """
    leaping = reference.leap > 0
    if float(leaping.to(torch.float32).mean()) < STEPPED:
        return False
    with torch.no_grad():
        image = trial.exact(trial.exact.value)
    finite = image[torch.isfinite(image)]
    span = float(finite.max() - finite.min()) if finite.numel() else 0.0
    resting = (reference.values == 0)[leaping].to(torch.float32).mean()
    small = float(reference.leap[leaping].median()) <= NOTABLE * span or span == 0
    return float(resting) > RESTING and small
