"""Everybody beside everybody else, turn by turn: one table for a picture and a number of cores."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from app.engine import Arrays
from benchmarks.peers import (
    backward_loop,
    differences,
    equality,
    func_jacfwd,
    func_jvp,
    functional_jacobian,
    jax_jvp,
    limit,
)
from benchmarks.peers.jax_jvp import Jax
from benchmarks.peers.ours import ours
from benchmarks.peers.picture import Picture, Whole
from benchmarks.peers.timing import Entry, shown, timed, times_ours, turn_by_turn

HEAD = "| who | time | ours is 1 | |\n|---|---|---|---|"
OTHERS: dict[str, Callable[[Picture], Whole]] = {
    "`torch.func.jvp`, whole image": func_jvp.whole,
    "`torch.func.jacfwd`, whole image": func_jacfwd.whole,
    "`autograd.functional.jacobian`, vectorised forward": functional_jacobian.forward,
}


def of_torch(picture: Picture, wanted: NDArray[np.floating]) -> Iterator[Entry]:
    """The peers in torch that need nothing but the renderer."""
    for who, make in OTHERS.items():
        run = make(picture)
        equality.check(picture.name, who, _numpy(run()), wanted)
        yield Entry(who, timed(run))
    central = differences.whole(picture)
    off = np.abs(_numpy(central()) - wanted).max() / np.abs(wanted).max()
    yield Entry("central differences", timed(central), note=f"off by {off:.1%} of the largest")


def extrapolated(picture: Picture) -> Iterator[Entry]:
    """The peers in torch of which a part is timed."""
    small = functional_jacobian.SMALL
    yield Entry(
        "`autograd.functional.jacobian`, vectorised reverse",
        timed(functional_jacobian.reverse(picture)),
        functional_jacobian.times_small(picture),
        f"extrapolated from {small}x{small} by the square of the number of pixels",
    )
    places = backward_loop.places(picture.side)
    pixel = backward_loop.pixels_alone(picture)
    yield Entry(
        "a backward pass a value, each pixel rendered alone",
        timed(lambda: [pixel(*place) for place in places]),
        picture.side**2 / len(places),
        f"extrapolated from {len(places)} pixels",
    )
    yield Entry(
        "a backward pass a value, through one graph of the image",
        timed(backward_loop.one_value(picture)),
        3 * picture.side**2,
        "extrapolated from one value",
    )


def of_jax(picture: Picture, jax: Jax, out: Arrays) -> Entry:
    """JAX in its fastest form."""
    number, form = jax.best(picture)
    image, values = jax.arrays(number)
    equality.check(picture.name, "the image of JAX", image, out.image)
    equality.check(picture.name, "the map of JAX", values, out.maps[0])
    return Entry(f"JAX {jax.version} `jit(jvp)`", lambda: jax.run(number), note=form)


def of_limit(picture: Picture, cores: int, out: Arrays) -> Iterator[Entry]:
    """The kernel written by hand, and the bound below it."""
    mine = Arrays(
        image=np.zeros_like(out.image), maps=tuple(np.zeros_like(each) for each in out.maps)
    )
    limit.fill(picture.loaded, mine, cores)
    equality.check(picture.name, "the image of the limit", mine.image, out.image)
    equality.check(picture.name, "the map of the limit", mine.maps[0], out.maps[0])
    yield Entry("the limit: C++ by hand", timed(lambda: limit.fill(picture.loaded, mine, cores)))
    yield Entry("writing as many bytes", timed(lambda: limit.write(mine, cores)))


def entries(picture: Picture, cores: int, jax: Jax | None, how: str) -> Iterator[Entry]:
    """Every line of a picture; ours first."""
    run, out = ours(picture, how)
    primal, _ = ours(picture, how, primal=True)
    run()
    yield Entry(f"ours, {how}", timed(run))
    yield Entry("ours, the primal image alone", timed(primal))
    yield from of_torch(picture, out.maps[0])
    yield from extrapolated(picture)
    if picture.loaded.device.type == "cpu" and picture.name in limit.PICTURES:
        if jax:
            yield of_jax(picture, jax, out)
        if limit.compiler():
            yield from of_limit(picture, cores, out)


def beside(picture: Picture, cores: int, repeats: int, how: str = "compiled") -> Iterator[str]:
    """The table of one picture on so many cores, line by line."""
    with on_cores(cores, jax=picture.loaded.device.type == "cpu") as jax:
        lines = list(entries(picture, cores, jax, how))
        taken = turn_by_turn(lines, repeats)
    yield HEAD
    for line, each in zip(lines, taken, strict=True):
        yield f"| {line.who} | {shown(each)} | {times_ours(each, taken[0])} | {line.note} |"


@contextmanager
def on_cores(cores: int, *, jax: bool = True) -> Iterator[Jax | None]:
    """So many threads for torch, and JAX on as many cores where it is installed."""
    with_jax = jax and not jax_jvp.missing()
    with threads(cores), jax_jvp.running(cores) if with_jax else nullcontext() as process:
        yield process


@contextmanager
def threads(number: int) -> Iterator[None]:
    """So many threads for torch."""
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _numpy(tensor: Tensor) -> NDArray[np.floating]:
    return tensor.detach().cpu().numpy()
