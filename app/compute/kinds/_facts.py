"""What is said of finished maps beside their arrays, as plain data."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from app.engine import Certificate, Finding, SensitivityMap, combined, without_paths


def facts(results: Sequence[SensitivityMap]) -> dict[str, Any]:
    """How maps were computed, and their statistics: of all, and of each where it differs."""
    first = results[0]
    seconds: dict[str, float] = {}
    for result in results:
        for stage, took in result.seconds.items():
            seconds[stage] = seconds.get(stage, 0.0) + took
    unrecorded = dict.fromkeys(filter(None, (result.method.unrecorded for result in results)))
    return {
        "strategy": strategies(results),
        "statistics": combined(each for result in results for each in result.each).describe(),
        "each": statistics(results),
        "rows": first.plan.rows,
        "tangents": first.plan.tangents,
        "halvings": sum(result.halvings for result in results),
        "seconds": seconds,
        "peak_bytes": max(result.peak_bytes for result in results),
        "tiles": ",".join(dict.fromkeys(result.tiles for result in results)),
        "unrecorded": without_paths(" ".join(unrecorded)),
        "repeatable": all(result.method.verdict.repeatable for result in results),
    }


def statistics(results: Sequence[SensitivityMap]) -> list[dict[str, Any]]:
    """The statistics of each map."""
    return [each.describe() for result in results for each in result.each]


def strategies(results: Sequence[SensitivityMap]) -> str:
    """The strategy of all maps, or that of each."""
    return ",".join(result.strategy for result in results)


def certified(results: Sequence[SensitivityMap]) -> dict[str, Any] | None:
    """The certificate of maps, or those of each as one, where each finding names its map."""
    known = [(result, result.certificate) for result in results if result.certificate]
    if not known:
        return None
    if len(results) == 1:
        return known[0][1].describe()
    findings = tuple(
        replace(finding, detail=f"({result.task.subject.names[0]}) {finding.detail}".strip())
        for result, each in known
        for finding in each.findings
    )
    return joined([each for _, each in known], findings).describe()


def joined(each: Sequence[Certificate], findings: tuple[Finding, ...]) -> Certificate:
    """Certificates as one that is as good as the worst of them.

    Args:
        each: at least one.
        findings: what is found in all of them.
    """
    met: Counter[str] = Counter()
    for one in each:
        met.update(one.met)
    return Certificate(
        relative=max(one.relative for one in each),
        pixels=min(one.pixels for one in each),
        wrong=sum(one.wrong for one in each),
        findings=findings,
        met=met,
        independent=all(one.independent for one in each),
    )
