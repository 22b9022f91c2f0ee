"""Chosen entries of the Jacobian of a frame."""

import time
from collections.abc import Sequence
from typing import Any

from app.compute.kinds import maps
from app.compute.kinds._choices import told
from app.compute.kinds._contract import Run
from app.compute.studio import Studio
from app.compute.work import Output, Work
from app.engine import entries as engine
from app.engine.errors import RegionError
from app.engine.regions import weighted
from renderers import Spec, Subject, parse_wrt, suggestion

KIND = "entries"
# Of a block: beyond it, whole maps and whole gradients cost less.
MOST_NUMBERS = 1 << 18


def work(spec: Spec, frame: maps.Frame, outputs: Sequence[Any], entries: Sequence[str]) -> Work:
    """The work of some entries.

    Args:
        spec: the renderer.
        frame: its frame.
        outputs: which rows, each `[x, y, channel]` with the channel's index or name.
        entries: which columns: `radius`, `light[2]`, or `light` for all of a parameter's.

    Raises:
        ParameterError: an entry that is not there, or a value that is not the parameter's.
        RegionError: an output that is not there, none, no entry, or too many of them.
    """
    rows = [_output(each, spec) for each in outputs]
    try:
        weighted(engine.regions_of(rows), spec, frame.width, frame.height)
    except RegionError as error:
        code = "empty_outputs" if error.code == "empty_region" else error.code
        raise RegionError(str(error), code=code, field="outputs") from None
    found = tuple(parse_wrt(each, spec.params, field="entries") for each in entries)
    columns = sum(wrt.size for wrt in found)
    if not columns:
        raise RegionError("No entry is named.", code="empty_entries", field="entries")
    if len(rows) * columns > MOST_NUMBERS:
        raise RegionError(
            f"A block has at most {MOST_NUMBERS} numbers; {len(rows)} outputs by {columns} entries "
            "are more. Ask for a probe, or for maps.",
            code="too_many_entries",
            field="entries",
        )
    asked = maps.work(spec, frame, Subject()).asked
    frame_alone = {key: value for key, value in asked.items() if key != "subject"}
    return Work(
        kind=KIND,
        renderer=spec.name,
        dtype=frame.dtype,
        asked={**frame_alone, "outputs": [list(row) for row in rows], "entries": list(entries)},
        outputs=(
            Output("entries", (len(rows), columns), "float64"),
            Output("values", (len(rows),), "float64"),
        ),
    )


def _output(asked: Any, spec: Spec) -> engine.Output:
    if not isinstance(asked, list | tuple) or len(asked) != 3:
        raise RegionError("An output is [x, y, channel].", code="invalid_output", field="outputs")
    x, y, channel = asked
    if isinstance(channel, str):
        if channel not in spec.channels:
            raise RegionError(
                "There is no such channel." + suggestion(channel[:64], spec.channels),
                code="unknown_channel",
                field="outputs",
            )
        channel = spec.channels.index(channel)
    for each in (x, y, channel):
        if isinstance(each, bool) or not isinstance(each, int) or abs(each) > 1 << 40:
            raise RegionError(
                "An output is [x, y, channel]: whole numbers, or the channel's name.",
                code="invalid_output",
                field="outputs",
            )
    return x, y, channel


def do(studio: Studio, work: Work, run: Run) -> dict[str, Any]:
    """Compute them, and say how."""
    asked, loaded = work.asked, studio.loaded(work.renderer, work.dtype)
    started = time.perf_counter()
    found = engine.block(
        loaded,
        loaded.spec.bind(asked["params"]),
        [tuple(row) for row in asked["outputs"]],
        asked["entries"],
        width=asked["width"],
        height=asked["height"],
        seed=asked["seed"],
        budget=studio.budget,
    )
    run.arrays["entries"][...] = found.values
    run.arrays["values"][...] = found.outputs
    return {
        "labels": list(found.labels),
        "seconds": {"compute": time.perf_counter() - started},
        **told(found.choices, found.findings),
    }
