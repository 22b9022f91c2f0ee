"""Chosen rows and entries of a renderer's Jacobian, without the rest.

A row is what one output, a channel of a pixel, answers to all parameters. A column is what all
outputs answer to one entry of a parameter: that is a map, and `sensitivity_map` computes it; some
of its rows alone are a block.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from app.engine import plan as planning
from app.engine.errors import RegionError
from app.engine.findings import Finding
from app.engine.placing import placed
from app.engine.probe import Probe, probe
from app.engine.probing import FORWARD, REVERSE, Asked, Choice, answered
from app.engine.regions import SUM, Points, Region, weighted
from app.engine.rendering import rendering
from renderers import Loaded, parse_wrt

Output = tuple[int, int, int]
"""One number of an image: `(x, y, channel)`, x to the right and y from the top."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Block:
    """Some entries of a Jacobian.

    Attributes:
        values: d(output)/d(entry), `(outputs, entries)`.
        outputs: the values of the outputs themselves.
        labels: of the entries.
        choices: the strategy of each parameter, and why that one.
        findings: what else is to be said.
    """

    values: NDArray[np.float64]
    outputs: NDArray[np.float64]
    labels: tuple[str, ...]
    choices: Mapping[str, Choice]
    findings: tuple[Finding, ...]


def rows(
    loaded: Loaded,
    params: Mapping[str, Tensor],
    outputs: Sequence[Output],
    *,
    width: int,
    height: int,
    seed: int = 0,
    budget: int = planning.DEFAULT_BUDGET,
    wrt: Sequence[str] | None = None,
) -> Probe:
    """Whole rows: what some outputs answer to all parameters, or to those of `wrt`.

    Args:
        loaded: the renderer on its device.
        params: every parameter.
        outputs: which rows.
        width: width of the frame in pixels.
        height: height of the frame in pixels.
        seed: seed of a random renderer.
        budget: bytes of working memory beside the result.
        wrt: the parameters; all of them where not given.

    Raises:
        RegionError: an output that is not there, or none.
        EngineError: as for `probe`.
    """
    return probe(
        loaded, params, regions_of(outputs), width=width, height=height, seed=seed, budget=budget,
        wrt=wrt,
    )  # fmt: skip


def block(
    loaded: Loaded,
    params: Mapping[str, Tensor],
    outputs: Sequence[Output],
    entries: Sequence[str],
    *,
    width: int,
    height: int,
    seed: int = 0,
    budget: int = planning.DEFAULT_BUDGET,
) -> Block:
    """Single entries: what some outputs answer to some entries of parameters.

    A tangent is pushed for each entry where there are no more of them than outputs, and otherwise
    a cotangent is pulled for each output; the other way stands by, and differences do.

    Args:
        loaded: the renderer on its device.
        params: every parameter.
        outputs: which rows.
        entries: which columns: `radius`, `light[2]`, or `light` for all of a parameter's.
        width: width of the frame in pixels.
        height: height of the frame in pixels.
        seed: seed of a random renderer.
        budget: bytes of working memory beside the result.

    Raises:
        RegionError: an output that is not there, or none.
        ParameterError: an entry that is not there, or values that are not the parameters'.
        EngineError: as for `probe`.
    """
    columns, labels = _columns(loaded, entries)
    spec = loaded.spec
    areas = weighted(regions_of(outputs), spec, width, height)
    asked = Asked(loaded, placed(loaded, params), areas, width, height, seed, budget)
    count = len(labels)
    order = (FORWARD, REVERSE) if count <= len(outputs) else (REVERSE, FORWARD)
    distinct = {name: sorted({entry for entry, _ in each}) for name, each in columns.items()}
    with rendering(loaded):
        found = answered(asked, distinct, order, certify=False)
    values = np.empty((len(outputs), count))
    for name, each in columns.items():
        places = {entry: place for place, entry in enumerate(distinct[name])}
        gradient = found.gradients[name].numpy()
        for entry, column in each:
            values[:, column] = gradient[:, places[entry]]
    return Block(
        values=values,
        outputs=found.values.numpy(),
        labels=labels,
        choices=found.choices,
        findings=found.findings,
    )


def _columns(
    loaded: Loaded, entries: Sequence[str]
) -> tuple[dict[str, list[tuple[int, int]]], tuple[str, ...]]:
    """The positions asked for in each parameter, each with its column; and the columns' labels."""
    if not entries:
        raise RegionError("No entry is named.", code="empty_entries", field="entries")
    columns: dict[str, list[tuple[int, int]]] = {}
    labels: list[str] = []
    for text in entries:
        wrt = parse_wrt(text, loaded.spec.params)
        shape = loaded.spec.params[wrt.name].shape
        positions = np.arange(int(np.prod(shape))).reshape(shape)[wrt.index].reshape(-1)
        for position in positions.tolist():
            columns.setdefault(wrt.name, []).append((position, len(labels)))
            labels.append("")
        labels[-len(positions) :] = wrt.labels()
    return columns, tuple(labels)


def regions_of(outputs: Sequence[Output]) -> list[Region]:
    """Each output as a region of one pixel and one channel."""
    return [
        Region(
            area=Points(((x, y),)), name=f"({x}, {y}, {channel}) #{number}",
            channel=channel, reduce=SUM,
        )
        for number, (x, y, channel) in enumerate(outputs)
    ]  # fmt: skip
