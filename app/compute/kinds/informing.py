"""What a frame tells of parameters: Fisher information, bounds, correlations, maps of it."""

import time
from collections.abc import Mapping
from typing import Any

import torch

from app.compute.kinds import maps
from app.compute.kinds._contract import Run
from app.compute.studio import Studio
from app.compute.work import Output, Work
from app.engine import information_of
from app.engine.information import (
    MOST_PARAMETERS,
    Gaussian,
    Maps,
    Noise,
    NoiseError,
    Poisson,
    TooManyParametersError,
    Variance,
)
from renderers import ParameterError, Spec, Subject

KIND = "information"
MODELS = ("sigma", "poisson", "variance")


def work(
    spec: Spec, frame: maps.Frame, subject: Subject, noise: Mapping[str, Any], strategy: str
) -> Work:
    """The work of summing what a frame tells.

    Args:
        spec: the renderer.
        frame: its frame.
        subject: the parameters.
        noise: `{"sigma": 0.01}`, `{"poisson": {"photons": 1000, "background": 0}}`, or
            `{"variance": image}` of shape `(height, width)` or with channels.
        strategy: how the derivatives are taken.

    Raises:
        ParameterError: a parameter, or a value of one, that the renderer does not have.
        NoiseError: the noise model is none of such a frame.
        TooManyParametersError: there are more parameters than a Fisher matrix is made for.
    """
    if subject.direction or subject.scales:
        raise ParameterError(
            "Information is told of parameters: give `wrt`.", code="missing_wrt", field="wrt"
        )
    labels = [label for wrt in subject.wrt for label in wrt.labels()]
    if len(set(labels)) < len(labels):
        raise ParameterError(
            "A number is given twice: by itself, and as an entry of its parameter.",
            code="repeated_wrt",
            field="wrt",
        )
    asked = maps.work(spec, frame, subject, strategy=strategy)
    shape = (frame.height, frame.width, len(spec.channels))
    noise_of(noise).fit(shape)
    if subject.size > MOST_PARAMETERS:
        raise TooManyParametersError(
            f"A Fisher matrix is made for at most {MOST_PARAMETERS} numbers; these are "
            f"{subject.size}. Name fewer."
        )
    return Work(
        kind=KIND,
        renderer=spec.name,
        dtype=frame.dtype,
        asked={**asked.asked, "noise": dict(noise)},
        outputs=(
            Output("information", (*shape[:2], subject.size), "float32"),
            Output("dominant", shape[:2], "int16"),
        ),
    )


def noise_of(asked: Mapping[str, Any]) -> Noise:
    """The noise model that is asked for.

    Raises:
        NoiseError: it is none.
    """
    if len(asked) != 1 or next(iter(asked)) not in MODELS:
        raise NoiseError(f"`noise` is one of {', '.join(MODELS)}, such as {{'sigma': 0.01}}.")
    ((model, value),) = asked.items()
    if model == "sigma":
        return Gaussian(_number(value, "sigma"))
    if model == "poisson":
        given = value if isinstance(value, Mapping) else {"photons": value}
        unknown = set(given) - {"photons", "background"}
        if unknown:
            raise NoiseError("Poisson noise has `photons` and `background`, and nothing else.")
        return Poisson(**{name: _number(each, name) for name, each in given.items()})
    return Variance(_image(value))


def _number(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise NoiseError(f"`{name}` of the noise must be a number.")
    return float(value)


def _image(value: object) -> torch.Tensor:
    try:
        return torch.tensor(value, dtype=torch.float64)
    except (TypeError, ValueError, RuntimeError) as error:
        raise NoiseError(
            "A variance image is nested lists of numbers, all of one length."
        ) from error


def do(studio: Studio, work: Work, run: Run) -> dict[str, Any]:
    """Sum it, and say what follows."""
    loaded = studio.loaded(work.renderer, work.dtype)
    started = time.perf_counter()
    found = information_of(
        loaded,
        maps.task_of(work.asked, loaded.spec),
        noise_of(work.asked["noise"]),
        budget=studio.budget,
        methods=studio.methods(work.renderer, work.dtype),
        maps=Maps(information=run.arrays["information"], dominant=run.arrays["dominant"]),
        progress=run.progress,
        cancelled=run.cancelled,
    )
    seconds = time.perf_counter() - started
    warnings = [
        {**warning, "message": f"({', '.join(names)}) {warning['message']}"}
        for names, certificate in found.certificates
        for warning in certificate.describe()["warnings"]
    ]
    described = found.information.describe()
    return {
        **described,
        "seconds": {"compute": seconds},
        "findings": None,
        "strategy": ",".join(found.strategies),
        "rows": found.rows,
        "relative": max((each.relative for _, each in found.certificates), default=0.0),
        "warnings": [*described["findings"], *warnings],
    }
