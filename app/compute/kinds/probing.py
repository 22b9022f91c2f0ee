"""What regions of a frame answer to every parameter."""

import time
from collections.abc import Sequence
from typing import Any

from app.compute.kinds import maps
from app.compute.kinds._choices import told
from app.compute.kinds._contract import Run
from app.compute.kinds._regions import regions_of
from app.compute.studio import Studio
from app.compute.work import Output, Work
from app.engine.probe import probe
from app.engine.regions import weighted
from renderers import ParameterError, Spec, Subject

KIND = "probe"
VALUES = "values"


def gradient_of(name: str) -> str:
    """What the array of a parameter's gradients is called."""
    return f"gradients/{name}"


def work(
    spec: Spec, frame: maps.Frame, subject: Subject, regions: Sequence[Any], *, certify: bool = True
) -> Work:
    """The work of probing regions.

    Args:
        spec: the renderer.
        frame: its frame.
        subject: the parameters, each whole.
        regions: as plain data; see `_regions`.
        certify: whether the gradients of many pixels are compared once more.

    Raises:
        ParameterError: a parameter, or a value of one, that the renderer does not have, or an
            entry of one.
        RegionError: a region is empty, leaves the frame, or is none.
    """
    entry = next((wrt for wrt in subject.wrt if wrt.index), None)
    if entry is not None or not subject.wrt or subject.scales:
        raise ParameterError(
            f"A probe answers to whole parameters{f', such as {entry.name}' if entry else ''}; "
            "`entries` takes single ones.",
            code="whole_parameters_only",
            field="wrt",
        )
    areas = weighted(regions_of(regions), spec, frame.width, frame.height)
    asked = maps.work(spec, frame, subject, certify=certify)
    outputs = [Output(VALUES, (len(areas),), "float64")]
    outputs += [
        Output(gradient_of(wrt.name), (len(areas), *wrt.shape), "float64") for wrt in subject.wrt
    ]
    return Work(
        kind=KIND,
        renderer=spec.name,
        dtype=frame.dtype,
        asked={**asked.asked, "regions": list(regions)},
        outputs=tuple(outputs),
    )


def do(studio: Studio, work: Work, run: Run) -> dict[str, Any]:
    """Probe them, and say how."""
    asked, loaded = work.asked, studio.loaded(work.renderer, work.dtype)
    started = time.perf_counter()
    found = probe(
        loaded,
        loaded.spec.bind(asked["params"]),
        regions_of(asked["regions"]),
        width=asked["width"],
        height=asked["height"],
        seed=asked["seed"],
        budget=studio.budget,
        wrt=maps.subject_of(work, loaded.spec).names,
        certify=asked["certify"],
    )
    run.arrays[VALUES][...] = found.values
    for name, gradient in found.gradients.items():
        run.arrays[gradient_of(name)][...] = gradient
    return {
        "names": list(found.names),
        "seconds": {"compute": time.perf_counter() - started},
        "whole": found.whole,
        "pixels": {"held": found.pixels[0], "compared": found.pixels[1]},
        **told(found.choices, found.findings),
    }
