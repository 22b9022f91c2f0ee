"""How times grow with the side of the image, and with the number of parameters."""

import os
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from app.engine import allocate
from benchmarks.engine import touch
from benchmarks.many import fringes
from benchmarks.peers import equality, func_jacfwd, func_jvp, functional_jacobian, limit
from benchmarks.peers.jax_jvp import Jax
from benchmarks.peers.ours import ours
from benchmarks.peers.picture import Picture
from benchmarks.peers.table import on_cores, threads
from benchmarks.peers.timing import Entry, milliseconds, timed, turn_by_turn

SIDES = (64, 128, 256, 512, 1024, 2048, 4096, 8192)
PARAMETERS = (1, 2, 4, 8, 16, 32, 64)
# A whole image by torch.func.jvp holds some twenty arrays of the image's size: 17 GiB at 8192.
WIDEST_WHOLE = 2048
FEW_REPEATS = 2048  # the side from which three turns must do
PARAMETERS_SIDE = 256  # jacfwd of 64 parameters holds each of its arrays 64 times


@dataclass(frozen=True, slots=True)
class Curve:
    """Seconds of one peer by the size of what it was asked."""

    who: str
    points: tuple[tuple[int, float], ...]


def with_side(picture: Picture, largest: int, repeats: int, how: str) -> list[Curve]:
    """One core; every peer for every side that it can do."""
    found: dict[str, list[tuple[int, float]]] = {}
    with on_cores(1) as jax:
        for side in (each for each in SIDES if each <= largest):
            entries = list(_of_side(picture.at(side), jax, how))
            turns = repeats if side < FEW_REPEATS else min(3, repeats)
            for entry, taken in zip(entries, turn_by_turn(entries, turns), strict=True):
                found.setdefault(entry.who, []).append((side, taken.median))
            if jax:
                jax.forget()
    return [Curve(who, tuple(points)) for who, points in found.items()]


def _of_side(picture: Picture, jax: Jax | None, how: str) -> Iterator[Entry]:
    run, _ = ours(picture, how)
    yield Entry("ours", timed(run))
    if picture.side <= WIDEST_WHOLE:
        yield Entry("`torch.func.jvp`", timed(func_jvp.whole(picture)))
    if jax:
        number, _ = jax.best(picture)
        yield Entry("JAX `jit(jvp)`", lambda: jax.run(number))
    if limit.compiler():
        out = allocate(picture.loaded, picture.task)
        touch(out)
        yield Entry("the limit", timed(lambda: limit.fill(picture.loaded, out, 1)))


def with_parameters(repeats: int, how: str, device: str = "cpu") -> list[Curve]:
    """All cores; a picture of 64 parameters, of which more and more are asked about."""
    found: dict[str, list[tuple[int, float]]] = {}
    with threads(os.cpu_count() or 1):
        for count in PARAMETERS:
            entries = list(_of_count(count, how, device))
            for entry, taken in zip(entries, turn_by_turn(entries, repeats), strict=True):
                found.setdefault(entry.who, []).append((count, taken.median))
    return [Curve(who, tuple(points)) for who, points in found.items()]


def _of_count(count: int, how: str, device: str) -> Iterator[Entry]:
    loaded = fringes.load(device, torch.float32)
    picture = Picture(loaded, "wavefront", PARAMETERS_SIDE, first=count)
    run, out = ours(picture, how)
    run()
    wanted = np.stack(out.maps, -1)
    yield Entry("ours", timed(run))
    for who, make in (
        ("`torch.func.jacfwd`", func_jacfwd.whole),
        ("`autograd.functional.jacobian`, vectorised forward", functional_jacobian.forward),
    ):
        whole = make(picture)
        equality.check("fringes", who, whole().detach().cpu().numpy(), wanted)
        yield Entry(who, timed(whole))


def lines(what: str, curves: list[Curve]) -> Iterator[str]:
    """A Markdown table: a row for each size, a column for each peer."""
    yield f"| {what} | " + " | ".join(curve.who for curve in curves) + " |"
    yield "|---" * (1 + len(curves)) + "|"
    for size, _ in curves[0].points:
        cells = []
        for curve in curves:
            seconds = dict(curve.points).get(size)
            cells.append("" if seconds is None else f"{milliseconds(seconds)} ms")
        yield f"| {size} | " + " | ".join(cells) + " |"
