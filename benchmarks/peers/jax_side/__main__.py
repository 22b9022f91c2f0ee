"""The process in which JAX runs: one JSON object a line in, one a line out.

`{"prepare": {"picture", "wrt", "params", "side", "rows", "at_once"}}` compiles, and answers with
the number of what it made; `{"run": number}` with the seconds that one run took; `{"save": number,
"path"}` writes image and map; `{"drop": number}` forgets them. The argument is how many cores it
may use. It runs in an environment of its own and imports nothing of this project.
"""

import json
import os
import sys
import time
from functools import partial

CORES = int(sys.argv[1])
os.environ["JAX_PLATFORMS"] = "cpu"
if CORES == 1:
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

import jax  # noqa: E402 - the flags must stand before
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from sdf_scene import sdf_scene  # noqa: E402
from sphere import sphere  # noqa: E402

PICTURES = {"sphere": sphere, "sdf_scene": sdf_scene}


@partial(jax.jit, static_argnames=("side", "rows"))
def positions(start, side, rows):
    """Centres of the pixels of a band."""
    pitch = 2.0 / side
    x = (jnp.arange(side, dtype=jnp.float32) + (0.5 - side / 2)) * pitch
    y = ((side / 2 - 0.5) - (start + jnp.arange(rows, dtype=jnp.float32))) * pitch
    shape = (rows, side)
    return jnp.broadcast_to(x, shape), jnp.broadcast_to(y[:, None], shape)


class Mapped:
    """A picture and its map by forward mode, the whole at once or in bands of rows.

    `at_once` compiles all of it as one program, `jit(jvp(render))`; without, `jvp` goes through a
    renderer whose parts are compiled one by one.
    """

    def __init__(self, picture, wrt, params, side, rows, at_once):
        self.side, self.rows = side, rows or side
        given = {name: jnp.asarray(value, jnp.float32) for name, value in params.items()}
        self.value = given[wrt]
        render = PICTURES[picture]

        def band(start, value):
            x, y = positions(start, side, self.rows)
            return jax.jvp(
                lambda value: render(x, y, {**given, wrt: value}), (value,), (jnp.ones_like(value),)
            )

        self.band = jax.jit(band) if at_once else band
        self.out = tuple(np.zeros((side, side, 3), np.float32) for _ in range(2))
        self.run()

    def run(self):
        """One map: arrays of JAX's own for the whole, written band by band otherwise."""
        if self.rows == self.side:
            self.out = jax.block_until_ready(self.band(0.0, self.value))
            return
        for start in range(0, self.side, self.rows):
            for whole, part in zip(self.out, self.band(float(start), self.value), strict=True):
                whole[start : start + self.rows] = part


def answer(asked, made):
    """What is said to one line."""
    started = time.perf_counter()
    if "prepare" in asked:
        made.append(Mapped(**asked["prepare"]))
        number = len(made) - 1
    elif "drop" in asked:
        number = asked["drop"]
        made[:] = [None if number in ("all", i) else each for i, each in enumerate(made)]
    elif "run" in asked:
        number = asked["run"]
        made[number].run()
    else:
        number = asked["save"]
        image, tangents = (np.asarray(each) for each in made[number].out)
        np.savez(asked["path"], image=image, map=tangents)
    return {"number": number, "seconds": time.perf_counter() - started}


def main():
    """Answer until the input ends."""
    made = []
    print(json.dumps({"jax": jax.__version__, "cores": CORES}), flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line), made)), flush=True)


main()
