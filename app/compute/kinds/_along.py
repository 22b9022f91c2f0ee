"""What a sweep runs along: one number of a renderer, and its value in each frame."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from app.compute.kinds.maps import number_of
from renderers import ParameterError, Spec, Wrt

# Frames of a range where nobody says how many.
FRAMES = 24


def swept_by(spec: Spec, along: str) -> Wrt:
    """The parameter or entry that a sweep runs along.

    Raises:
        ParameterError: there is none of that name, or it is several numbers.
    """
    return number_of(spec, along, field="along", why="A sweep runs along one number")


def values_along(
    spec: Spec,
    along: str,
    *,
    values: Sequence[float] | None = None,
    low: float | None = None,
    high: float | None = None,
    frames: int | None = None,
) -> list[float]:
    """The value of a parameter in each frame: as they are given, or evenly along a range.

    Args:
        spec: the renderer.
        along: a scalar parameter or an entry.
        values: the values, in any order; or none, and the rest:
        low: value in the first frame; the parameter's lowest by default.
        high: value in the last frame, which may be below that in the first; by default, the
            highest.
        frames: how many there are.

    Raises:
        ParameterError: a parameter that there is not, values beside a range, or a range that is
            none, leaves the parameter's, or that neither the request nor the parameter has.
    """
    swept = swept_by(spec, along)
    if values is not None:
        if (low, high, frames) != (None, None, None):
            raise ParameterError(
                "Give the values, or a range and how many frames it has, not both.",
                code="values_and_range",
                field="values",
            )
        return list(values)
    declared, count = spec.params[swept.name], FRAMES if frames is None else frames
    first = _end(spec, swept, low, declared.low, "low")
    last = _end(spec, swept, high, declared.high, "high")
    if first == last and count > 1:
        raise ParameterError(
            f"A range has two ends, and both of this one are {first:.9g}.",
            code="empty_range",
            field="high",
        )
    return [float(value) for value in np.linspace(first, last, count)]


def _end(spec: Spec, swept: Wrt, given: float | None, declared: float | None, field: str) -> float:
    if given is not None:
        check(spec, swept, given, field=field)
        return given
    if declared is not None:
        return declared
    raise ParameterError(
        f"Parameter {swept.name!r} has no range of its own: it is "
        f"{spec.params[swept.name].range_text()}. Give both ends, or the values.",
        code="no_range",
        field=field,
    )


def check(spec: Spec, swept: Wrt, value: float, *, field: str, where: str = "") -> None:
    """Refuse a value that the parameter may not have."""
    declared = spec.params[swept.name]
    entry = replace(declared, default=declared.default[swept.index])
    try:
        entry.check(str(swept), value)
    except ParameterError as error:
        raise ParameterError(f"{where}{error}", code=error.code, field=field) from error
