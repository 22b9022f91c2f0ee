"""The evidence that a map is right: its comparison with differences where it matters most."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from app.engine.agreement import Agreement, compare
from app.engine.differences import Estimate, central, estimate, kinks, scale_of
from app.engine.findings import Finding
from app.engine.jumps import moving_jumps
from app.engine.ladder import Verdict
from app.engine.loop import Arrays
from app.engine.prepared import Prepared
from app.engine.statistics import Statistics
from app.engine.strategies.edge import edge
from app.engine.strategies.finite_difference import finite_difference
from app.engine.tile import Tile
from app.engine.trial import at_pixels

# Pixels that are looked at before some are chosen, and how many of each kind are.
CANDIDATES = 16384
CHOSEN = 48
# A wrong pixel or two are shown, not a list of thousands.
SHOWN = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """What is known of a map's truth.

    Attributes:
        relative: disagreement with differences that all but stray pixels stay below, over the
            largest derivative; on the finished map where `pixels` were compared, else on the trial.
        pixels: how many pixels of the finished map were compared.
        wrong: how many of them disagree.
        findings: warnings, with what to do.
        refuted: whether the map is certainly wrong.
        blind: whether the map is zero everywhere, though hard edges move.
    """

    relative: float
    pixels: int = 0
    wrong: int = 0
    findings: tuple[Finding, ...] = ()
    refuted: bool = False
    blind: bool = False

    def describe(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "relative": self.relative,
            "pixels": self.pixels,
            "wrong": self.wrong,
            "warnings": [finding.describe() for finding in self.findings],
        }


def certify(tiles: Prepared, out: Arrays, verdict: Verdict, statistics: Statistics) -> Certificate:
    """Compare a finished map with differences on some of its pixels.

    A pixel renderer can be asked for just these; of any other, what the trial found is repeated.
    """
    findings = list(verdict.findings)
    if statistics.size > statistics.finite:
        count = statistics.size - statistics.finite
        findings.append(Finding(code="non_finite", detail=f"{count} of {statistics.size}."))
    # What edges add is no derivative of a pixel's centre, so differences of that say nothing of it.
    averaged = verdict.strategy == edge.name
    if averaged or tiles.whole or tiles.loaded.spec.kind != "pixel" or out.values is None:
        return Certificate(
            relative=verdict.relative, findings=tuple(findings), refuted=verdict.refuted
        )
    rows, columns = chosen(out)
    found = _compared(tiles, out, verdict, rows, columns)
    refuted = not found.right and verdict.strategy != finite_difference.name
    if refuted:
        code = "tangent_lost" if found.agreement.silent else "partly_detached"
        findings.append(Finding(code=code, pixels=shown(found.agreement.wrong, rows, columns)))
    if bool(found.kinked.any()):
        pixels = shown(found.kinked, rows, columns)
        findings.append(Finding(code="non_smooth_point", pixels=pixels))
    if bool(found.jumps.any()):
        detail = f"Seen at {int(found.jumps.sum())} of {len(found.jumps)} pixels looked at."
        pixels = shown(found.jumps, rows, columns)
        findings.append(Finding(code="edges_suspected", detail=detail, pixels=pixels))
    return Certificate(
        relative=found.agreement.relative,
        pixels=int(found.agreement.checked.sum()),
        wrong=int(found.agreement.wrong.sum()),
        findings=tuple({finding.code: finding for finding in findings}.values()),
        refuted=refuted,
        blind=bool(found.jumps.any()) and statistics.low == statistics.high == 0.0,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Some pixels of a map beside differences.

    Attributes:
        agreement: of the map with differences.
        kinked: where it disagrees because the image has a kink in the parameter.
        jumps: where hard edges lie that move.
    """

    agreement: Agreement
    kinked: Tensor
    jumps: Tensor

    @property
    def right(self) -> bool:
        """Whether the map is right at all but kinks and strays."""
        return self.agreement.right_but_for(self.kinked)


def _compared(
    tiles: Prepared, out: Arrays, verdict: Verdict, rows: Tensor, columns: Tensor
) -> Comparison:
    """The map's own values at some pixels against differences, and where hard edges move."""
    task, loaded = tiles.task, tiles.loaded
    assert task.wrt is not None and out.values is not None  # noqa: S101 - there is a map
    where = at_pixels(rows, columns, task.width, task.height, loaded.device, loaded.dtype)
    tile = Tile(loaded, where, tiles.params, task.wrt.name, task.seed)
    tile = tile.precise() if verdict.exact else tile
    weights = torch.linspace(1.0, 0.5, len(tiles.directions), dtype=tile.value.dtype)
    direction = torch.tensordot(
        weights.to(loaded.device), tiles.directions.to(tile.value.dtype), dims=1
    )
    found = torch.from_numpy(out.values[rows.numpy(), columns.numpy()])
    found = found.reshape(len(rows), len(loaded.spec.channels), -1).to(loaded.device)
    tangent = found.to(tile.value.dtype) @ weights.to(loaded.device)
    with torch.no_grad():
        once = central(tile, tile.value, direction, verdict.step)
        agreement = compare(tangent, Estimate(once, torch.zeros_like(once), 0.0), loaded.dtype)
        kinked = torch.zeros_like(agreement.wrong)
        if not agreement.right:
            # One step may err by itself; a ladder of them knows by how much.
            scale = scale_of(loaded.spec.params[tile.wrt], tile.value, direction)
            sure = estimate(tile, tile.value, direction, scale)
            agreement = compare(tangent, sure, loaded.dtype)
            kinked = agreement.wrong & kinks(tile, tile.value, direction, sure)
        jumps = moving_jumps(tile, direction, verdict.step, span=spanned(out.image))
    return Comparison(agreement, kinked, jumps)


def chosen(out: Arrays) -> tuple[Tensor, Tensor]:
    """Rows and columns of pixels worth a look.

    Some at random, those with the largest derivatives, and those where the image changes most from
    a pixel to the next; of a frame so large that looking at every pixel would cost, from a sample.
    """
    assert out.values is not None  # noqa: S101 - there is a map
    height, width = out.image.shape[:2]
    drawn = np.random.default_rng(0)
    if height * width <= CANDIDATES:
        rows, columns = (axis.ravel() for axis in np.indices((height, width)))
        order = drawn.permutation(len(rows))
        rows, columns = rows[order], columns[order]
    else:
        rows, columns = drawn.integers(0, height, CANDIDATES), drawn.integers(0, width, CANDIDATES)
    here = out.image[rows, columns]
    right = out.image[rows, np.minimum(columns + 1, width - 1)]
    below = out.image[np.minimum(rows + 1, height - 1), columns]
    change = np.maximum(np.abs(right - here), np.abs(below - here)).max(-1)
    size = np.abs(out.values[rows, columns]).reshape(len(rows), -1).max(-1)
    picked = np.unique(np.concatenate([np.arange(CHOSEN), largest(change), largest(size)]))
    picked = picked[picked < len(rows)]
    return torch.from_numpy(rows[picked]), torch.from_numpy(columns[picked])


def largest(values: NDArray[np.floating]) -> NDArray[np.intp]:
    """Where the largest finite values stand."""
    return np.argsort(-np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0), kind="stable")[
        :CHOSEN
    ]


def spanned(image: NDArray[np.floating]) -> float:
    """The range of an image's finite values, from every 16th of its rows."""
    part = image[:: max(1, min(16, len(image) // 64))]
    finite = part[np.isfinite(part)]
    return float(finite.max() - finite.min()) if finite.size else 0.0


def shown(mask: Tensor, rows: Tensor, columns: Tensor) -> tuple[tuple[int, int], ...]:
    """The first few pixels of a mask."""
    hit = mask.cpu().nonzero()[:SHOWN, 0]
    return tuple((int(rows[i]), int(columns[i])) for i in hit)


__all__ = ["Certificate", "certify"]
