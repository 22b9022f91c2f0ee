"""Probes: how chosen regions of an image answer to every parameter at once.

Of a map, one parameter is asked about and every pixel answers; of a probe, one number about some
pixels is asked about and every parameter answers, one that is an image itself included.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from app.engine import plan as planning
from app.engine.findings import Finding
from app.engine.placing import chosen_names, placed
from app.engine.probing import FORWARD, REVERSE, Asked, Choice, answered
from app.engine.regions import Region, weighted
from app.engine.rendering import rendering
from renderers import Loaded

Floats = NDArray[np.float64]

# By which ways the gradient is looked for, in order; differences come last.
RUNGS = (REVERSE, FORWARD)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Probe:
    """What regions of an image answer to each parameter.

    Attributes:
        names: of the regions.
        values: the number that each region is, `(regions,)`; NaN where a pixel of it is none.
        gradients: d(value)/d(parameter) by parameter, `(regions, *parameter.shape)`, in units of
            the image per unit of the parameter.
        choices: the strategy of each parameter, why that one, and how far it agrees with
            differences.
        findings: what else is to be said; each once.
        whole: whether the frame was computed in one piece.
        pixels: how many pixels the regions hold, and how many were compared with differences.
    """

    names: tuple[str, ...]
    values: Floats
    gradients: Mapping[str, Floats]
    choices: Mapping[str, Choice]
    findings: tuple[Finding, ...]
    whole: bool
    pixels: tuple[int, int]

    @property
    def strategies(self) -> dict[str, str]:
        """The strategy of each parameter."""
        return {name: choice.strategy for name, choice in self.choices.items()}


def probe(  # noqa: PLR0913 - a question in its parts, all but three by name
    loaded: Loaded,
    params: Mapping[str, Tensor],
    regions: Sequence[Region],
    *,
    width: int,
    height: int,
    seed: int = 0,
    budget: int = planning.DEFAULT_BUDGET,
    wrt: Sequence[str] | None = None,
    certify: bool = True,
) -> Probe:
    """The gradient of each region's number with respect to every parameter.

    In reverse mode, several regions at once; where it does not agree with differences, in forward
    mode, entry by entry; and by differences where that does not either. A pixel renderer is asked
    for the regions' pixels alone, a frame renderer for their rows.

    Args:
        loaded: the renderer on its device.
        params: every parameter, as `Spec.bind` gives them.
        regions: what is probed.
        width: width of the frame in pixels.
        height: height of the frame in pixels.
        seed: seed of a random renderer.
        budget: bytes of working memory beside the result.
        wrt: the parameters; all of them where not given.
        certify: whether the finished gradients of many pixels are compared once more, and hard
            edges are looked for. The strategies are chosen by comparison either way.

    Raises:
        RegionError: a region is empty, leaves the frame, or has weights that do not match.
        ParameterError: values that are not the declared parameters', or are of mixed dtypes.
        RenderError: the renderer raised.
        RendererError: the renderer answered with no image.
        DeviceMemoryError: the smallest piece does not fit.
        StrategyError: a parameter of too many entries has no reverse mode.
    """
    names = chosen_names(loaded, wrt)
    areas = weighted(regions, loaded.spec, width, height)
    own = placed(loaded, params)
    asked = Asked(loaded, own, areas, width, height, seed, budget)
    columns = {name: range(own[name].numel()) for name in names}
    with rendering(loaded):
        found = answered(asked, columns, RUNGS, certify=certify)
    return Probe(
        names=tuple(area.name for area in areas),
        values=found.values.numpy(),
        gradients={
            name: gradient.reshape(-1, *own[name].shape).numpy()
            for name, gradient in found.gradients.items()
        },
        choices=found.choices,
        findings=found.findings,
        whole=found.whole,
        pixels=found.pixels,
    )
