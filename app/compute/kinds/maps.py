"""Sensitivity maps, or the primal image alone."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.compute.kinds._contract import Run
from app.compute.studio import Studio
from app.compute.work import Output, Work
from app.engine import (
    Arrays,
    Certificate,
    SensitivityMap,
    Task,
    combined,
    sensitivity_maps,
    without_paths,
)
from renderers import Loaded, ParameterError, Spec, Subject, parse_wrt

KIND = "map"


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A renderer's frame at some values: what every map is asked of.

    Attributes:
        params: values of parameters that are not at their defaults: numbers or nested lists.
        width: width of the frame in pixels.
        height: height of the frame in pixels.
        seed: seed of a random renderer.
        dtype: `float32` or `float64`.
    """

    params: Mapping[str, Any] = field(default_factory=dict)
    width: int
    height: int
    seed: int = 0
    dtype: str = "float32"


def work(
    spec: Spec,
    frame: Frame,
    subject: Subject,
    *,
    second: str = "",
    strategy: str = "auto",
    certify: bool = True,
) -> Work:
    """The work of maps; of the image alone, where the subject is empty.

    Args:
        spec: the renderer.
        frame: its frame.
        subject: what the maps are of.
        second: a scalar parameter or an entry: then they are those of d(image)/d(second).
        strategy: how they are taken.
        certify: whether they are compared with differences.

    Raises:
        ParameterError: a parameter, or a value of one, that the renderer does not have.
    """
    spec.bind(frame.params)
    shape = (frame.height, frame.width, len(spec.channels))
    outputs = [Output("image", shape, frame.dtype)]
    outputs += [
        Output(name, shape + behind, frame.dtype)
        for name, behind in zip(subject.names, subject.shapes, strict=True)
    ]
    return Work(
        kind=KIND,
        renderer=spec.name,
        dtype=frame.dtype,
        asked={
            "params": dict(frame.params),
            "subject": subject.to_json(),
            "width": frame.width,
            "height": frame.height,
            "seed": frame.seed,
            "second": _entry(spec, second),
            "strategy": strategy,
            "certify": certify,
        },
        outputs=tuple(outputs),
    )


def _entry(spec: Spec, second: str) -> str:
    """The number that is differentiated against first, as it is asked for.

    Raises:
        ParameterError: there is none of that name, or it is several.
    """
    if not second:
        return ""
    wrt = parse_wrt(second, spec.params, field="second")
    if wrt.shape:
        raise ParameterError(
            f"A second derivative is taken of d(image)/d(one number); {second!r} has shape "
            f"{list(wrt.shape)}. Name one entry of it, such as {wrt.labels()[0]}.",
            code="not_a_number",
            field="second",
        )
    return str(wrt)


def subject_of(work: Work, spec: Spec) -> Subject:
    """What the maps of some work are of."""
    return Subject.from_json(work.asked["subject"], spec.params)


def task_of(asked: Mapping[str, Any], spec: Spec) -> Task:
    """The task that work asks of a renderer."""
    return Task(
        params=spec.bind(asked["params"]),
        subject=Subject.from_json(asked["subject"], spec.params),
        width=asked["width"],
        height=asked["height"],
        seed=asked["seed"],
        strategy=asked["strategy"],
        certify=asked["certify"],
    )


def do(studio: Studio, work: Work, run: Run) -> dict[str, Any]:
    """Compute the maps, and say how."""
    name, second = work.renderer, work.asked["second"]
    loaded = studio.loaded(name, work.dtype)
    task = task_of(work.asked, loaded.spec)
    image, maps = run.arrays["image"], tuple(run.arrays[each] for each in task.subject.names)
    if second:
        # The maps' own image is the first derivative; what is answered with is the renderer's.
        render(studio, loaded, work, image)
        loaded, name = studio.first_derivative(name, work.dtype, task, second)
        image = np.empty_like(image)
    results = sensitivity_maps(
        loaded,
        task,
        budget=studio.budget,
        methods=studio.methods(name, work.dtype),
        out=Arrays(image=image, maps=maps),
        progress=run.progress,
        cancelled=run.cancelled,
    )
    for result in results:
        if result.method.postponed:
            studio.postpone(name, work.dtype, loaded, result.task)
    return facts(results)


def render(studio: Studio, loaded: Loaded, work: Work, image: NDArray[np.floating]) -> None:
    """The primal image alone."""
    task = replace(task_of(work.asked, loaded.spec), subject=Subject(), strategy="auto")
    methods = studio.methods(work.renderer, work.dtype)
    sensitivity_maps(loaded, task, budget=studio.budget, methods=methods, out=Arrays(image=image))


def facts(results: tuple[SensitivityMap, ...]) -> dict[str, Any]:
    """What is said of finished maps beside their arrays: of all, and of each where it differs."""
    first, several = results[0], len(results) > 1
    each = [statistics for result in results for statistics in result.each]
    said = [result.certificate for result in results if result.certificate]
    seconds: dict[str, float] = {}
    for result in results:
        for stage, took in result.seconds.items():
            seconds[stage] = seconds.get(stage, 0.0) + took
    unrecorded = dict.fromkeys(filter(None, (result.method.unrecorded for result in results)))
    return {
        "strategy": ",".join(result.strategy for result in results),
        "statistics": combined(each).describe(),
        "each": [statistics.describe() for statistics in each],
        "rows": first.plan.rows,
        "tangents": first.plan.tangents,
        "halvings": sum(result.halvings for result in results),
        "seconds": seconds,
        "peak_bytes": max(result.peak_bytes for result in results),
        "tiles": "recorded" if all(result.recorded for result in results) else "eager",
        "unrecorded": without_paths(" ".join(unrecorded)),
        "certificate": (joined(results) if several else said[0]).describe() if said else None,
    }


def joined(results: tuple[SensitivityMap, ...]) -> Certificate:
    """The certificates of several maps as one; each finding names its map."""
    said = [(result.task.subject.names[0], result.certificate) for result in results]
    known = [(name, each) for name, each in said if each]
    findings = tuple(
        replace(finding, detail=f"({name}) {finding.detail}".strip())
        for name, each in known
        for finding in each.findings
    )
    return Certificate(
        relative=max(each.relative for _, each in known),
        pixels=min(each.pixels for _, each in known),
        wrong=sum(each.wrong for _, each in known),
        findings=findings,
        independent=all(each.independent for _, each in known),
    )
