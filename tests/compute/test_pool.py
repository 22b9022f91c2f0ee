"""Memory that is used again: never by two, never more than is kept."""

import gc

import numpy as np
import pytest

from app.compute.pool import Pool

SIZE = 1 << 16


def test_memory_comes_back_with_the_last_array() -> None:
    pool = Pool()
    number, segment = pool.take(SIZE)
    whole = pool.lend(number, segment)
    part = np.ndarray((4,), np.float32, whole, 64)
    view = part[1:3].data
    del whole, part, segment
    gc.collect()
    other, fresh = pool.take(SIZE)
    assert other != number, "a view of it is still there"
    del view
    gc.collect()
    again, _ = pool.take(SIZE)
    assert again == number
    pool.put(other, fresh)
    assert pool.take(SIZE)[0] == other


def test_two_results_never_share_memory() -> None:
    pool = Pool()
    taken = [pool.take(SIZE) for _ in range(5)]
    assert len({number for number, _ in taken}) == 5
    wholes = [pool.lend(*each) for each in taken]
    for value, whole in enumerate(wholes):
        whole[:] = value
    assert [int(whole[0]) for whole in wholes] == [0, 1, 2, 3, 4]


def test_memory_that_is_much_too_large_is_kept_for_others() -> None:
    pool = Pool()
    pool.put(*pool.take(10 * SIZE))
    number, segment = pool.take(SIZE)
    assert len(segment.memory) == SIZE
    pool.put(number, segment)
    # A little too large is taken.
    assert pool.take(SIZE - 100)[0] == number


@pytest.mark.parametrize("idle", [0, 2 * SIZE])
def test_no_more_is_kept_than_is_allowed(idle: int) -> None:
    pool = Pool(idle)
    taken = [pool.take(SIZE) for _ in range(4)]
    for each in taken:
        pool.put(*each)
    dropped = pool.dropped()
    assert dropped == [number for number, _ in taken][: 4 - idle // SIZE]
    assert pool.dropped() == []
    assert pool.take(SIZE)[0] not in dropped


def test_nothing_is_kept_after_the_end() -> None:
    pool = Pool()
    number, segment = pool.take(SIZE)
    whole = pool.lend(number, segment)
    pool.close()
    del whole
    gc.collect()
    assert pool.dropped() == [number]


def test_no_memory_at_all_is_no_trouble() -> None:
    pool = Pool()
    number, segment = pool.take(0)
    pool.put(number, segment)
    assert pool.take(0)[0] == number
