"""The evidence that a map is right: its comparison with differences where it matters most."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from app.engine.agreement import STRAY, Agreement, compare, grossly_off
from app.engine.differences import Estimate, central, estimate, kinks
from app.engine.findings import Finding
from app.engine.jumps import moving_jumps
from app.engine.ladder import Verdict
from app.engine.loop import Arrays
from app.engine.memory import out_of_memory
from app.engine.prepared import Prepared
from app.engine.rendering import rendering
from app.engine.statistics import Statistics
from app.engine.strategies import Strategy
from app.engine.strategies.edge import edge
from app.engine.strategies.finite_difference import finite_difference
from app.engine.tile import Tile
from app.engine.trial import at_pixels, try_out

# Pixels that are looked at before some are chosen, and how many of each kind are.
CANDIDATES = 16384
CHOSEN = 48
# The share of these that may be a little off: among them are those where the map itself jumps, as
# it does at each face of a cell that a volume's ray crosses.
ASTRAY = 0.05
# A wrong pixel or two are shown, not a list of thousands.
SHOWN = 8
# Where differences say nothing: they are as random as the image, or as coarse as its levels.
INCOMPARABLE = {"not_deterministic", "quantised_output"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """What is known of a map's truth.

    Attributes:
        relative: disagreement with differences that all but stray pixels stay below, over the
            largest derivative; on the finished map where `pixels` were compared, else on the trial.
        pixels: how many pixels of the finished map were compared.
        wrong: how many of them disagree.
        findings: warnings, with what to do.
        doubts: those of them by which the map is certainly wrong.
        blind: whether the map is zero everywhere, though hard edges move.
    """

    relative: float
    pixels: int = 0
    wrong: int = 0
    findings: tuple[Finding, ...] = ()
    doubts: tuple[Finding, ...] = ()
    blind: bool = False

    @property
    def refuted(self) -> bool:
        """Whether the map is certainly wrong."""
        return bool(self.doubts)

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

    A pixel renderer can be asked for just these; of any other, a small trial frame is compared.
    """
    findings = list(verdict.findings)
    if statistics.size > statistics.finite:
        count = statistics.size - statistics.finite
        findings.append(Finding(code="non_finite", detail=f"{count} of {statistics.size}."))
    # What edges add is no derivative of a pixel's centre, so differences of that say nothing of it.
    averaged = verdict.strategy == edge.name
    idle = averaged or bool(INCOMPARABLE.intersection(f.code for f in findings))
    sampled = tiles.loaded.spec.kind == "pixel" and not tiles.whole
    doubts = verdict.findings if verdict.refuted else ()
    if not sampled and not (idle or doubts):
        doubts = _doubts_on_a_trial(tiles, verdict)
        findings.extend(doubts)
    if not sampled or idle or doubts:
        return Certificate(relative=verdict.relative, findings=_distinct(findings), doubts=doubts)
    rows, columns = chosen(out)
    with rendering(tiles.loaded):
        found = _on_pixels(tiles, out, verdict, rows, columns)
    if not found.right and verdict.strategy != finite_difference.name:
        pixels = shown(found.wrong, rows, columns)
        doubts = (Finding(code=found.agreement.code, pixels=pixels),)
        findings.extend(doubts)
    findings.extend(_seen(found, rows, columns))
    return Certificate(
        relative=found.agreement.relative,
        pixels=int(found.agreement.checked.sum()),
        wrong=int(found.wrong.sum()),
        findings=_distinct(findings),
        doubts=doubts,
        blind=bool(found.jumps.any()) and statistics.low == statistics.high == 0.0,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Some pixels of a map beside differences.

    Attributes:
        agreement: of the map with differences.
        kinked: where it disagrees because the image has a kink in the parameter.
        imprecise: where it disagrees because of rounding: in float64 it would not.
        jumps: where hard edges lie that move.
        strict: whether a single pixel that is plainly wrong makes the whole so.
    """

    agreement: Agreement
    kinked: Tensor
    imprecise: Tensor
    jumps: Tensor
    strict: bool = False

    @property
    def wrong(self) -> Tensor:
        """Where the map is wrong, and nothing excuses it."""
        return self.agreement.wrong & ~self.kinked & ~self.imprecise

    @property
    def right(self) -> bool:
        """Whether the map is right at all but kinks and strays."""
        if self.strict and bool((self.wrong & self.agreement.plain).any()):
            return False
        return int(self.wrong.sum()) <= ASTRAY * int(self.agreement.checked.sum())


def _distinct(findings: list[Finding]) -> tuple[Finding, ...]:
    """One finding of a code, the last."""
    return tuple({finding.code: finding for finding in findings}.values())


def _seen(found: Comparison, rows: Tensor, columns: Tensor) -> Iterator[Finding]:
    """What speaks of the image rather than of the map."""
    if int(found.imprecise.sum()) > STRAY * int(found.agreement.checked.sum()):
        detail = f"Disagreement: {found.agreement.relative:.1g} of the largest derivative."
        pixels = shown(found.imprecise, rows, columns)
        yield Finding(code="precision", detail=detail, pixels=pixels)
    if bool(found.kinked.any()):
        yield Finding(code="non_smooth_point", pixels=shown(found.kinked, rows, columns))
    if bool(found.jumps.any()):
        detail = f"Seen at {int(found.jumps.sum())} of {len(found.jumps)} pixels looked at."
        pixels = shown(found.jumps, rows, columns)
        yield Finding(code="edges_suspected", detail=detail, pixels=pixels)


def _doubts_on_a_trial(tiles: Prepared, verdict: Verdict) -> tuple[Finding, ...]:
    """The strategy against differences on a small frame, at the task's own values."""
    strategy = tiles.strategy
    if strategy is None or strategy.name == finite_difference.name:
        return ()
    try:
        with rendering(tiles.loaded):
            trial = try_out(tiles.loaded, tiles.task)
            _, tangents = strategy.differentiate(trial.tile, trial.mixed[None])
            found = _compared(
                trial.tile, trial.exact, strategy, trial.mixed, tangents[0], verdict.step
            )
    except Exception as error:
        if not out_of_memory(error):
            raise
        return ()
    return () if found.right else (Finding(code=found.agreement.code),)


def _on_pixels(
    tiles: Prepared, out: Arrays, verdict: Verdict, rows: Tensor, columns: Tensor
) -> Comparison:
    """The map's own values at some pixels against differences, and where hard edges move."""
    task, loaded = tiles.task, tiles.loaded
    assert task.wrt is not None and out.values is not None  # noqa: S101 - there is a map
    assert tiles.strategy is not None  # noqa: S101
    where = at_pixels(rows, columns, task.width, task.height, loaded.device, loaded.dtype)
    tile = Tile(loaded, where, tiles.params, task.wrt.name, task.seed)
    exact = tile.precise() if verdict.exact else tile
    weights = torch.linspace(1.0, 0.5, len(tiles.directions), dtype=exact.value.dtype)
    direction = torch.tensordot(
        weights.to(loaded.device), tiles.directions.to(exact.value.dtype), dims=1
    )
    found = torch.from_numpy(out.values[rows.numpy(), columns.numpy()])
    found = found.reshape(len(rows), len(loaded.spec.channels), -1).to(loaded.device)
    tangent = found.to(exact.value.dtype) @ weights.to(loaded.device)
    compared = _compared(tile, exact, tiles.strategy, direction, tangent, verdict.step)
    with torch.no_grad():
        jumps = moving_jumps(exact, direction, verdict.step, span=spanned(out.image))
    precise = exact.loaded.dtype is torch.float64
    return replace(compared, jumps=jumps, strict=precise)


def _compared(
    tile: Tile, exact: Tile, strategy: Strategy, direction: Tensor, tangent: Tensor, step: float
) -> Comparison:
    direction = direction.to(exact.value.dtype)
    with torch.no_grad():
        once = central(exact, direction, step)
        zero = torch.zeros_like(once)
        agreement = compare(tangent, Estimate(once, zero, zero, step), tile.loaded.dtype)
        none = torch.zeros_like(agreement.wrong)
        if not bool(agreement.wrong.any()):
            return Comparison(agreement, none, none, none)
        # One step may err by itself; a ladder of them knows by how much.
        sure = estimate(exact, direction)
        agreement = compare(tangent, sure, tile.loaded.dtype)
        kinked = agreement.wrong & kinks(exact, direction, sure)
        imprecise = agreement.wrong & ~kinked
        if exact is tile or strategy.name == finite_difference.name:
            return Comparison(agreement, kinked, none, none)
        if bool(imprecise.any()):
            _, tangents = strategy.differentiate(exact, direction[None])
            imprecise &= ~compare(tangents[0], sure, torch.float64).wrong
        if bool(imprecise.any()):
            own = direction.to(tile.value.dtype)
            imprecise &= not grossly_off(tile, own, tangent.to(own.dtype), imprecise)
    return Comparison(agreement, kinked, imprecise, none)


def chosen(out: Arrays) -> tuple[Tensor, Tensor]:
    """Rows and columns of pixels worth a look.

    Some at random, those with the largest derivatives, and those where the image or the map changes
    most from a pixel to the next, as it does around a part that is detached; of a frame so large
    that looking at every pixel would cost, from a sample.
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
    size = np.abs(out.values[rows, columns]).reshape(len(rows), -1).max(-1)
    changes = (largest(changing(array, rows, columns)) for array in (out.image, out.values))
    picked = np.unique(np.concatenate([np.arange(CHOSEN), largest(size), *changes]))
    picked = picked[picked < len(rows)]
    return torch.from_numpy(rows[picked]), torch.from_numpy(columns[picked])


def changing(
    array: NDArray[np.floating], rows: NDArray[np.intp], columns: NDArray[np.intp]
) -> NDArray[np.floating]:
    """How much it changes from some pixels to those on their right and below."""
    height, width = array.shape[:2]
    here = array[rows, columns]
    right = array[rows, np.minimum(columns + 1, width - 1)]
    below = array[np.minimum(rows + 1, height - 1), columns]
    with np.errstate(invalid="ignore"):
        change = np.maximum(np.abs(right - here), np.abs(below - here))
    most: NDArray[np.floating] = change.reshape(len(rows), -1).max(-1)
    return most


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
