"""JAX: `jit(jvp)` of the same arithmetic in `jax.numpy`, in a process and environment of its own.

JAX's users write the picture in `jax.numpy` and wrap `jvp` in `jit`. Compiled so in one piece, the
marched scene is several times slower than in parts, and whole images are sometimes slower than
bands: what is fastest is measured, and reported.
"""

import json
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.picture import Picture

HERE = Path(__file__).parent
PYTHON = HERE.parents[1] / ".venv-bench" / "bin" / "python"
BAND = 32  # rows
TRIAL = 128  # side at which one program is compared with parts


def missing() -> str:
    """Why JAX cannot be asked; empty where it can."""
    return "" if PYTHON.exists() else "`make bench` installs JAX; it is not installed here."


@dataclass(frozen=True, slots=True)
class Jax:
    """A running process, asked line by line."""

    cores: int
    version: str
    to: IO[str]
    back: IO[str]

    def ask(self, **what: object) -> dict[str, Any]:
        """Send one line and wait for its answer."""
        self.to.write(json.dumps(what) + "\n")
        self.to.flush()
        line = self.back.readline()
        if not line:
            raise RuntimeError("The process of JAX has ended; its error stands above.")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def run(self, number: int) -> float:
        """Compute once what was prepared; seconds by that process's own clock."""
        return float(self.ask(run=number)["seconds"])

    def prepare(self, picture: Picture, rows: int | None, *, at_once: bool) -> int:
        """Compile; the number by which it is run."""
        params = {name: value.tolist() for name, value in picture.params.items()}
        asked = {
            "picture": picture.name, "wrt": picture.wrt, "params": params,
            "side": picture.side, "rows": rows, "at_once": at_once,
        }  # fmt: skip
        return int(self.ask(prepare=asked)["number"])

    def drop(self, number: int) -> None:
        """Forget what was prepared, and its arrays."""
        self.ask(drop=number)

    def forget(self) -> None:
        """Forget all that was prepared."""
        self.ask(drop="all")

    def best(self, picture: Picture) -> tuple[int, str]:
        """Prepare every form and keep the fastest; its number, and which form it is."""
        small = picture.at(min(TRIAL, picture.side))
        at_once = min((True, False), key=lambda form: self._tried(small, None, form)[0])
        bands = [None, BAND] if picture.side > BAND else [None]
        tried = [(*self._tried(picture, rows, at_once, keep=True), rows) for rows in bands]
        _, number, rows = min(tried, key=lambda each: each[0])
        for _, other, _ in tried:
            if other != number:
                self.drop(other)
        form = "one program" if at_once else "compiled in parts"
        return number, f"{form}, " + (f"bands of {rows} rows" if rows else "whole image")

    def _tried(
        self, picture: Picture, rows: int | None, at_once: bool, keep: bool = False
    ) -> tuple[float, int]:
        number = self.prepare(picture, rows, at_once=at_once)
        seconds = min(self.run(number) for _ in range(2))
        if not keep:
            self.drop(number)
        return seconds, number

    def arrays(self, number: int) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
        """Image and map as they were computed."""
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "arrays.npz")
            self.ask(save=number, path=path)
            with np.load(path) as file:
                return file["image"], file["map"]


@contextmanager
def running(cores: int) -> Iterator[Jax]:
    """A process of JAX on one core, or on all."""
    command = [str(PYTHON), str(HERE / "jax_side"), str(cores)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin and process.stdout
    try:
        said = json.loads(process.stdout.readline())
        yield Jax(cores, said["jax"], process.stdin, process.stdout)
    finally:
        process.stdin.close()
        process.wait(timeout=60)
