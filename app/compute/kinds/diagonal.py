"""The diagonal and the trace of a Jacobian by a parameter that is an image."""

import time
from collections.abc import Mapping
from typing import Any

from app.compute.kinds._contract import Run
from app.compute.studio import Studio
from app.compute.work import Output, Work
from app.engine.diagonal import METHODS, UnknownMethodError, diagonal_of_frame, frame_size
from renderers import ParameterError, Spec, parse_wrt, suggestion

KIND = "diagonal"
TRACE_ALONE = frozenset({"hutch++", "xtrace"})


def work(
    spec: Spec,
    params: Mapping[str, Any],
    wrt: str,
    *,
    dtype: str = "float32",
    seed: int = 0,
    method: str = "auto",
    passes: int = 64,
    draw: int = 0,
) -> Work:
    """The work of finding a diagonal.

    Args:
        spec: the renderer.
        params: values of parameters that are not at their defaults.
        wrt: the parameter, an image of the frame's shape.
        dtype: `float32` or `float64`.
        seed: of a random renderer.
        method: one of `METHODS`.
        passes: products that an estimate may take.
        draw: seed of an estimate's random vectors.

    Raises:
        ParameterError: a parameter, or a value of one, that the renderer does not have.
        NotSquareError: the parameter is no image.
        UnknownMethodError: no method of that name.
    """
    spec.bind(params)
    named = parse_wrt(wrt, spec.params)
    if named.index:
        raise ParameterError(
            "A diagonal is of a whole parameter; give no entry.", code="unknown_entry", field="wrt"
        )
    if method not in METHODS:
        raise UnknownMethodError(f"There is no method {method!r}." + suggestion(method, METHODS))
    width, height = frame_size(spec, named.name)
    return Work(
        kind=KIND,
        renderer=spec.name,
        dtype=dtype,
        asked={
            "params": dict(params), "wrt": named.name, "seed": seed, "method": method,
            "passes": passes, "draw": draw, "width": width, "height": height,
        },
        outputs=(Output("diagonal", named.shape, dtype),),
    )  # fmt: skip


def do(studio: Studio, work: Work, run: Run) -> dict[str, Any]:
    """Find it, and say how. Of a method that gives the trace alone, there are no values."""
    asked = work.asked
    loaded = studio.loaded(work.renderer, work.dtype)
    started = time.perf_counter()
    found = diagonal_of_frame(
        loaded,
        loaded.spec.bind(asked["params"]),
        asked["wrt"],
        seed=asked["seed"],
        method=asked["method"],
        passes=asked["passes"],
        draw=asked["draw"],
        budget=studio.budget,
    )
    run.progress(1, 1)
    if found.values is not None:
        run.arrays["diagonal"][...] = found.values.cpu().numpy()
    return {
        **found.describe(),
        "values": found.values is not None,
        "seconds": {"compute": time.perf_counter() - started},
    }
