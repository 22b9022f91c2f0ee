"""The maps at each value of one parameter: a request, and what was found out for its first frame.

How a parameter is differentiated, the recording of a tile and what it costs are known after the
first value, and used for all.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from app.compute.kinds import maps
from app.compute.kinds._along import FRAMES, check, swept_by, values_along
from app.compute.kinds._contract import Run
from app.compute.kinds._facts import facts, joined, statistics, strategies
from app.compute.studio import Studio
from app.compute.work import Work
from app.engine import (
    CancelledError,
    EngineError,
    Finding,
    SensitivityMap,
    Task,
    part_of,
)
from renderers import RendererError, Spec, Subject, Wrt, parse_wrt

__all__ = ["FRAMES", "KIND", "do", "values_along", "work"]

KIND = "sweep"

Frames = Sequence[tuple[SensitivityMap, ...]]
"""The maps of each frame: all in one result, or a result for each."""


def work(
    spec: Spec,
    frame: maps.Frame,
    subject: Subject,
    *,
    along: str,
    values: Sequence[float],
    second: str = "",
    strategy: str = "auto",
    certify: bool = True,
) -> Work:
    """The work of maps at each value of a parameter; each array has the frames first.

    Args:
        spec: the renderer.
        frame: its frame; what it says of the parameter is overridden.
        subject: what the maps are of; the parameter itself may be among it.
        along: a scalar parameter or an entry: what runs along the values.
        values: its value in each frame, at least one.
        second: as for maps.
        strategy: how they are taken.
        certify: whether each is compared with differences.

    Raises:
        ParameterError: a parameter, or a value of one, that the renderer does not have.
    """
    swept = swept_by(spec, along)
    for number, value in enumerate(values):
        check(spec, swept, value, field="values", where=f"Frame {number}: ")
    single = maps.work(spec, frame, subject, second=second, strategy=strategy, certify=certify)
    return replace(
        single,
        kind=KIND,
        asked={**single.asked, "along": str(swept), "values": [float(value) for value in values]},
        outputs=tuple(
            replace(output, shape=(len(values), *output.shape)) for output in single.outputs
        ),
    )


def do(studio: Studio, work: Work, run: Run) -> dict[str, Any]:
    """Compute the maps at each value, and say how."""
    spec = studio.loaded(work.renderer, work.dtype).spec
    swept, values = parse_wrt(work.asked["along"], spec.params), work.asked["values"]
    task, frames = maps.task_of(work.asked, spec), []
    for number, value in enumerate(values):
        if run.cancelled():
            raise CancelledError("The sweep was cancelled.")
        part = Run(
            {name: stack[number] for name, stack in run.arrays.items()},
            part_of(run.progress, number, len(values)),
            run.cancelled,
        )
        try:
            frames.append(maps.computed(studio, work, moved(task, swept, value), part))
        except (EngineError, RendererError) as error:
            if not isinstance(error, CancelledError):
                error.args = (f"In frame {number}, where {swept} = {value:.9g}: {error}",)
            raise
    return said(frames)


def moved(task: Task, swept: Wrt, value: float) -> Task:
    """The task at a value of one parameter or entry."""
    whole = task.params[swept.name].clone()
    whole[swept.index] = value
    return replace(task, params={**task.params, swept.name: whole})


def said(frames: Frames) -> dict[str, Any]:
    """What is said of a sweep beside its arrays: of all frames, and of each where it differs."""
    whole = facts([result for results in frames for result in results])
    del whole["each"]
    return whole | {
        "strategy": ";".join(dict.fromkeys(map(strategies, frames))),
        "frames": [
            {"strategy": strategies(results), "each": statistics(results)} for results in frames
        ],
        "certificate": certified(frames),
    }


def certified(frames: Frames) -> dict[str, Any] | None:
    """The certificates of all frames as one, where each finding names its frames."""
    known = [each.certificate for results in frames for each in results if each.certificate]
    if not known:
        return None
    found = _found(frames)
    findings = tuple(_told(of, where, len(frames)) for of, where in found.items())
    described = joined(known, findings).describe()
    for warning, where in zip(described["warnings"], found.values(), strict=True):
        warning["frames"] = sorted(where)
    return described


def _found(frames: Frames) -> dict[tuple[str, str], dict[int, Finding]]:
    """What is found, by its code and its map (where they are told apart), in each frame."""
    found: dict[tuple[str, str], dict[int, Finding]] = {}
    for number, results in enumerate(frames):
        for result in results:
            name = result.task.subject.names[0] if len(results) > 1 else ""
            for finding in result.certificate.findings if result.certificate else ():
                found.setdefault((finding.code, name), {})[number] = finding
    return found


def _told(of: tuple[str, str], where: dict[int, Finding], count: int) -> Finding:
    """A finding of several frames, with what was measured in the first of them."""
    (code, name), numbers = of, sorted(where)
    first = where[numbers[0]]
    words = "frames" if len(numbers) > 1 else "frame"
    frames = "all frames" if len(numbers) == count else f"{words} {', '.join(_runs(numbers))}"
    place = ", ".join(filter(None, (name, frames)))
    detail = first.detail
    if detail and len(numbers) > 1:
        detail = f"In frame {numbers[0]}: {detail}"
    return Finding(code=code, detail=f"({place}) {detail}".strip(), pixels=first.pixels)


def _runs(numbers: Sequence[int]) -> Iterator[str]:
    """Numbers in words, as in `3-7, 9`."""
    for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0]):
        _, (first, *rest) = zip(*run, strict=True)
        yield f"{first}-{rest[-1]}" if rest else str(first)
