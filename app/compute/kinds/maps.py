"""Sensitivity maps, or the primal image alone."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from app.compute.kinds._contract import Run
from app.compute.kinds._facts import certified, facts
from app.compute.studio import Studio
from app.compute.work import Output, Work
from app.engine import Arrays, SensitivityMap, Task, sensitivity_maps
from renderers import ParameterError, Spec, Subject, Wrt, parse_wrt

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
        stride: every so many rows and columns of it are computed.
    """

    params: Mapping[str, Any] = field(default_factory=dict)
    width: int
    height: int
    seed: int = 0
    dtype: str = "float32"
    stride: int = 1


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
    rows, columns = (-(-side // frame.stride) for side in (frame.height, frame.width))
    shape = (rows, columns, len(spec.channels))
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
            "params": given(spec, frame.params),
            "subject": subject.to_json(),
            "width": frame.width,
            "height": frame.height,
            "seed": frame.seed,
            "stride": frame.stride,
            "second": _second(spec, second),
            "strategy": strategy,
            "certify": certify,
        },
        outputs=tuple(outputs),
    )


def given(spec: Spec, params: Mapping[str, Any]) -> dict[str, Any]:
    """Values of parameters in the one way in which equal values are written.

    `1` and `1.0` are the same, and so are a default that is given and one that is not.

    Raises:
        ParameterError: a parameter, or a value of one, that the renderer does not have.
    """
    bound = spec.bind(params)
    return {
        name: bound[name].tolist()
        for name in sorted(params)
        if not torch.equal(bound[name], spec.params[name].default)
    }


def _second(spec: Spec, second: str) -> str:
    """The number that is differentiated against first, as it is asked for.

    Raises:
        ParameterError: there is none of that name, or it is several.
    """
    if not second:
        return ""
    why = "A second derivative is taken of d(image)/d(one number)"
    return str(number_of(spec, second, field="second", why=why))


def number_of(spec: Spec, text: str, *, field: str, why: str) -> Wrt:
    """A scalar parameter or an entry of one, where nothing else will do.

    Args:
        spec: the renderer.
        text: how it is asked for.
        field: the field of the request that asks.
        why: the beginning of the sentence that refuses several numbers.

    Raises:
        ParameterError: there is none of that name, or it is several numbers.
    """
    wrt = parse_wrt(text, spec.params, field=field)
    if wrt.shape:
        raise ParameterError(
            f"{why}; {text!r} has shape {list(wrt.shape)}. Name one entry of it, such as "
            f"{wrt.labels()[0]}.",
            code="not_a_number",
            field=field,
        )
    return wrt


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
        stride=asked.get("stride", 1),
        strategy=asked["strategy"],
        certify=asked["certify"],
    )


def do(studio: Studio, work: Work, run: Run) -> dict[str, Any]:
    """Compute the maps, and say how."""
    task = task_of(work.asked, studio.loaded(work.renderer, work.dtype).spec)
    results = computed(studio, work, task, run)
    return facts(results) | {"certificate": certified(results)}


def computed(studio: Studio, work: Work, task: Task, run: Run) -> tuple[SensitivityMap, ...]:
    """Fill the arrays of a run with the maps of a task: all in one result, or a result for each."""
    name, second = work.renderer, work.asked["second"]
    loaded = studio.loaded(name, work.dtype)
    image, maps = run.arrays["image"], tuple(run.arrays[each] for each in task.subject.names)
    if second:
        # The maps' own image is the first derivative; what is answered with is the renderer's.
        render(studio, work, task, image)
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
        studio.workshop.order(name, work.dtype, loaded, result.task)
    return results


def render(studio: Studio, work: Work, task: Task, image: NDArray[np.floating]) -> None:
    """The primal image alone."""
    loaded = studio.loaded(work.renderer, work.dtype)
    methods = studio.methods(work.renderer, work.dtype)
    task = replace(task, subject=Subject(), strategy="auto")
    sensitivity_maps(loaded, task, budget=studio.budget, methods=methods, out=Arrays(image=image))
