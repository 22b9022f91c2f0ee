"""The files that a map is written to, and what is said of it."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from app.captions import captioned
from app.cli.terminal import screen
from app.engine import SensitivityMap, Task
from app.imaging import Encoded, Format, Style
from renderers import Spec


def encode(
    result: SensitivityMap,
    spec: Spec,
    task: Task,
    form: Format,
    style: Style,
    request: Mapping[str, Any],
) -> Encoded:
    """A map in a format, with what was asked and how it was got."""
    assert result.values is not None  # noqa: S101 - asked for a map
    assert task.wrt is not None  # noqa: S101
    metadata = {
        "request": request,
        "strategy": result.strategy,
        "tiles": "recorded" if result.recorded else "eager",
        "statistics": result.statistics.describe(),
        "certificate": result.certificate and result.certificate.describe(),
    }
    return form.encode(captioned(result.values, result.image, spec, task.wrt), style, metadata)


def write(path: Path, encoded: Encoded) -> None:
    """Write a file whole or not at all."""
    draft = path.with_name(path.name + ".part")
    with draft.open("wb") as file:
        for chunk in encoded.chunks:
            file.write(chunk)
    draft.replace(path)


def report(result: SensitivityMap, paths: Sequence[Path]) -> None:
    """Say what was computed in a line, and in one each what is doubtful of it."""
    said = result.statistics
    # Adding zero makes 0 of -0.
    low, high = (said.low + 0.0, said.high + 0.0) if said.finite else (math.nan, math.nan)
    screen.print(
        f"{', '.join(map(str, paths))}: {low:.6g} to {high:.6g}, {said.nan} NaN, "
        f"strategy {result.strategy}, {result.seconds['compute']:.2f} s in bands of "
        f"{result.plan.rows} rows",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )
    for finding in result.certificate.findings if result.certificate else ():
        screen.print(
            f"{finding.code}: {finding.message}", highlight=False, markup=False, soft_wrap=True
        )
