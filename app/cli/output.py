"""The files that a map is written to, and what is said of it."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from app.cli.terminal import screen
from app.imaging import Encoded


def write(path: Path, encoded: Encoded) -> None:
    """Write a file whole or not at all."""
    draft = path.with_name(path.name + ".part")
    with draft.open("wb") as file:
        for chunk in encoded.chunks:
            file.write(chunk)
    draft.replace(path)


def report(facts: Mapping[str, Any], paths: Sequence[Path]) -> None:
    """Say what was computed in a line, and in one each what is doubtful of it."""
    statistics = facts["statistics"]
    low, high = (
        math.nan if statistics[bound] is None else statistics[bound] + 0.0
        for bound in ("min", "max")  # adding zero makes 0 of -0
    )
    frames = f"{len(facts['frames'])} frames, " if "frames" in facts else ""
    say(
        f"{', '.join(map(str, paths))}: {frames}{low:.6g} to {high:.6g}, {statistics['nan']} NaN, "
        f"strategy {facts['strategy']}, {facts['seconds']['compute']:.2f} s in bands of "
        f"{facts['rows']} rows"
    )
    certificate = facts["certificate"] or {"warnings": ()}
    for warning in certificate["warnings"]:
        say(f"{warning['code']}: {warning['message']}")


def say(text: str) -> None:
    """A line on the terminal, as it is."""
    screen.print(text, highlight=False, markup=False, soft_wrap=True)
