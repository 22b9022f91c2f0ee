"""A guard on speed: ratios within one run, the best of several, with room for a noisy machine.

Seconds are never compared with a number: they are another machine's tomorrow.
"""

from collections.abc import Callable

import numpy as np
import pytest

from app.engine import allocate
from benchmarks.engine import placed
from benchmarks.peers import equality, func_jvp, limit
from benchmarks.peers.ours import ours
from benchmarks.peers.picture import Picture
from benchmarks.peers.timing import Entry, timed, turn_by_turn

TURNS = 7


def best(*runs: Callable[[], object]) -> list[float]:
    """The least seconds of each, taken turn by turn: noise only ever adds."""
    taken = turn_by_turn([Entry("", timed(run)) for run in runs], TURNS)
    return [min(each.seconds) for each in taken]


@pytest.fixture(scope="module")
def sphere() -> Picture:
    return Picture(placed("sphere"), "radius", 512)


def test_a_map_costs_little_more_than_its_image(sphere: Picture) -> None:
    of_map, of_image = best(ours(sphere)[0], ours(sphere, primal=True)[0])
    assert of_map <= 3 * of_image  # 1.9 where nobody disturbs


def test_a_small_map_is_ahead_of_forward_mode_by_torch(sphere: Picture) -> None:
    small = sphere.at(128)
    run, out = ours(small)
    whole = func_jvp.whole(small)
    mine, theirs = best(run, whole)
    equality.check("sphere", "`torch.func.jvp`", whole().numpy(), out.maps[0])
    assert theirs >= 2 * mine  # 3.4 where nobody disturbs


@pytest.mark.skipif(limit.compiler() is None, reason="There is no g++ here.")
@pytest.mark.parametrize(("name", "wrt"), limit.PICTURES.items())
def test_the_kernel_by_hand_is_the_same_map(name: str, wrt: str) -> None:
    # 67 is no multiple of what a register holds.
    picture = Picture(placed(name), wrt, 67)
    out = allocate(picture.loaded, picture.task)
    limit.fill(picture.loaded, out, 2)
    wanted = func_jvp.whole(picture)().numpy()
    equality.check(name, "the map of the kernel", out.maps[0], wanted)
    image = picture.render()(picture.value).numpy()
    equality.check(name, "the image of the kernel", out.image, np.asarray(image))
