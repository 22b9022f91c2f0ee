"""The evidence that a map is right: its comparison with differences where it matters most."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from app.engine.agreement import STRAY
from app.engine.comparison import Comparison
from app.engine.findings import Finding
from app.engine.loop import Arrays
from app.engine.prepared import Prepared
from app.engine.rendering import rendering
from app.engine.sampled import Sampled, on_a_trial, on_pixels, on_rows
from app.engine.statistics import Statistics
from app.engine.strategies.edge import edge
from app.engine.strategies.finite_difference import finite_difference
from app.engine.verdict import Verdict

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
        met: what the strategy counted on its way, by name, where it counts: edges and crossings.
        blind: whether the map is zero everywhere, though hard edges move.
        independent: whether the map is anything else than differences itself.
    """

    relative: float
    pixels: int = 0
    wrong: int = 0
    findings: tuple[Finding, ...] = ()
    doubts: tuple[Finding, ...] = ()
    met: Mapping[str, int] = field(default_factory=dict)
    blind: bool = False
    independent: bool = True

    @property
    def judged(self) -> bool:
        """Whether anything independent was compared with the map: `relative` says something."""
        said = {finding.code for finding in self.findings}
        return self.independent and said.isdisjoint(INCOMPARABLE | {"unverified"})

    @property
    def refuted(self) -> bool:
        """Whether the map is certainly wrong."""
        return bool(self.doubts)

    def describe(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "relative": self.relative,
            "judged": self.judged,
            "pixels": self.pixels,
            "wrong": self.wrong,
            "met": dict(self.met),
            "warnings": [finding.describe() for finding in self.findings],
        }


def certify(tiles: Prepared, out: Arrays, verdict: Verdict, statistics: Statistics) -> Certificate:
    """Compare a finished map with differences on some of its pixels.

    A pixel renderer can be asked for just these, and a frame renderer with a halo for a few rows;
    of one that must be whole, a small trial frame is compared.
    """
    findings = list(verdict.findings)
    if statistics.size > statistics.finite:
        count = statistics.size - statistics.finite
        findings.append(Finding(code="non_finite", detail=f"{count} of {statistics.size}."))
    if verdict.refuted:
        return Certificate(
            relative=verdict.relative, findings=_distinct(findings), doubts=verdict.findings
        )
    independent = verdict.strategy != finite_difference.name
    sampled = None if _idle(verdict) else _sampled(tiles, out, verdict)
    evidence = tiles.strategy.evidence() if tiles.strategy else None
    if evidence:
        # No differences can be compared: the strategy's own standard error stands in their place.
        findings.extend(evidence.findings)
        return Certificate(
            relative=evidence.relative, findings=_distinct(findings), met=evidence.counts
        )
    if sampled is None:
        return Certificate(
            relative=verdict.relative, findings=_distinct(findings), independent=independent
        )
    found = sampled.comparison
    doubts: tuple[Finding, ...] = ()
    if not found.right and independent:
        pixels = _shown(found.wrong, sampled)
        doubts = (Finding(code=found.agreement.code, pixels=pixels),)
    findings.extend((*doubts, *_seen(sampled)))
    if not found.agreement.judged:
        findings.append(Finding(code="unverified"))
    on_map = sampled.rows is not None
    return Certificate(
        relative=found.agreement.relative if on_map else verdict.relative,
        pixels=int(found.agreement.checked.sum()) if on_map else 0,
        wrong=int(found.wrong.sum()) if on_map else 0,
        findings=_distinct(findings),
        doubts=doubts,
        blind=bool(sampled.jumps.any()) and statistics.low == statistics.high == 0.0,
        independent=independent,
    )


def _idle(verdict: Verdict) -> bool:
    """Whether differences have nothing to say.

    What edges add is no derivative of a pixel's centre, so differences of that say nothing of it.
    """
    said = {finding.code for finding in verdict.findings}
    return verdict.strategy == edge.name or not said.isdisjoint(INCOMPARABLE)


def _sampled(tiles: Prepared, out: Arrays, verdict: Verdict) -> Sampled | None:
    with rendering(tiles.loaded):
        if tiles.whole:
            return on_a_trial(tiles, verdict)
        if tiles.loaded.spec.kind == "pixel":
            return on_pixels(tiles, out, verdict)
        return on_rows(tiles, out, verdict)


def _distinct(findings: list[Finding]) -> tuple[Finding, ...]:
    """One finding of a code, the last."""
    return tuple({finding.code: finding for finding in findings}.values())


def _seen(sampled: Sampled) -> Iterator[Finding]:
    """What speaks of the image rather than of the map."""
    found: Comparison = sampled.comparison
    if int(found.imprecise.sum()) > STRAY * int(found.agreement.checked.sum()):
        detail = f"Disagreement: {found.agreement.relative:.1g} of the largest derivative."
        pixels = _shown(found.imprecise, sampled)
        yield Finding(code="precision", detail=detail, pixels=pixels)
    if bool(found.kinked.any()):
        yield Finding(code="non_smooth_point", pixels=_shown(found.kinked, sampled))
    if bool(sampled.jumps.any()):
        count = int(sampled.jumps.sum())
        detail = f"Seen at {count} of {len(sampled.jumps)} pixels looked at."
        pixels = _shown(sampled.jumps, sampled)
        yield Finding(code="edges_suspected", detail=detail, pixels=pixels)


def _shown(mask: Tensor, sampled: Sampled) -> tuple[tuple[int, int], ...]:
    """The first few pixels of a mask, where they stand in the frame of the map."""
    rows, columns = sampled.rows, sampled.columns
    if rows is None or columns is None:
        return ()
    hit = mask.cpu().flatten().nonzero()[:SHOWN, 0]
    return tuple((int(rows[i]), int(columns[i])) for i in hit)


__all__ = ["Certificate", "certify"]
