"""A guard on speed: ratios within one run, the best of several, with room for a noisy machine.

Seconds are never compared with a number: they are another machine's tomorrow.
"""

import time
from collections.abc import Callable

import jaxtyping
import numpy as np
import pytest

from app.engine import allocate
from benchmarks.engine import placed
from benchmarks.peers import equality, func_jvp, limit
from benchmarks.peers.ours import ours
from benchmarks.peers.picture import Picture
from benchmarks.peers.timing import Entry, timed, turn_by_turn

TURNS = 7
ROUNDS = 10
"""A disturbance lasts seconds, the turns of a small picture a tenth of one."""
PAUSE = 1.0


def within(run: Callable[[], object], other: Callable[[], object], times: float) -> bool:
    """Whether `run` costs at most so many times what `other` does, by the least seconds of each.

    Taken turn by turn, and again after a pause where it is more: noise only ever adds, so that
    what is truly slower is more every time.
    """
    least = [np.inf, np.inf]
    for left in reversed(range(ROUNDS)):
        taken = turn_by_turn([Entry("", timed(each)) for each in (run, other)], TURNS)
        least = [min(so_far, *each.seconds) for so_far, each in zip(least, taken, strict=True)]
        if least[0] <= times * least[1]:
            return True
        time.sleep(PAUSE if left else 0)
    return False


@pytest.fixture(autouse=True)
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the suite's checks of every shape: they cost a small map more than itself."""
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)


@pytest.fixture(scope="module")
def sphere() -> Picture:
    return Picture(placed("sphere"), "radius", 512)


def test_a_map_costs_little_more_than_its_image(sphere: Picture) -> None:
    of_map, of_image = ours(sphere)[0], ours(sphere, primal=True)[0]
    assert within(of_map, of_image, 3)  # 1.9 where nobody disturbs


def test_a_small_map_is_ahead_of_forward_mode_by_torch(sphere: Picture) -> None:
    small = sphere.at(128)
    run, out = ours(small)
    whole = func_jvp.whole(small)
    assert within(run, whole, 1 / 2)  # 1 / 3.4 where nobody disturbs
    equality.check("sphere", "`torch.func.jvp`", whole().numpy(), out.maps[0])


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
