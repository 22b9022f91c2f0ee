"""Reports on parameters: is each differentiated right."""

from collections.abc import Mapping
from typing import Any

from app.compute.kinds._contract import Run
from app.compute.studio import Studio
from app.compute.work import Work
from app.engine import check
from renderers import Spec, parse_wrt

KIND = "check"


def work(spec: Spec, params: Mapping[str, Any], wrt: str) -> Work:
    """The work of checking a parameter, or all of them.

    Raises:
        ParameterError: a parameter, or a value of one, that the renderer does not have.
    """
    spec.bind(params)
    names = [str(parse_wrt(wrt, spec.params))] if wrt else list(spec.params)
    return Work(kind=KIND, renderer=spec.name, asked={"params": dict(params), "wrt": names})


def do(studio: Studio, work: Work, _: Run) -> dict[str, Any]:
    """A report on each."""
    loaded = studio.loaded(work.renderer, work.dtype)
    params = loaded.spec.bind(work.asked["params"])
    return {"reports": [check(loaded, params, name).describe() for name in work.asked["wrt"]]}
