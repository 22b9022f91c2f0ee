"""Finished results that are kept, and work that is done once for many who wait."""

import asyncio
import json
from typing import Any

import numpy as np
import pytest

from app.compute import Catalogue, Result, Watch, WorkFailedError
from app.compute.address import address
from app.compute.flights import Flights
from app.compute.kinds import maps
from app.compute.store import BESIDE, COPIED, MOST_SHARED, Store
from app.compute.work import Output, Work
from renderers import ParameterError
from renderers.disc import disc
from tests.compute.test_scheduler import scheduled, settle

REPEATABLE: dict[str, Any] = {"repeatable": True}
ARRAYS = {"image": np.zeros(4, np.uint8)}


def work(name: str = "disc", **asked: object) -> Work:
    return Work(
        kind="map", renderer=name, asked=asked, outputs=(Output("image", (4, 4), "float32"),)
    )


def result(size: int = 100, facts: dict[str, Any] = REPEATABLE) -> Result:
    return Result(work=work(), arrays={"image": np.zeros(size, np.uint8)}, facts=facts)


def test_an_address_is_that_of_the_numbers() -> None:
    base = address(work(params={"radius": 0.5}, width=8), "1")
    assert address(work(width=8, params={"radius": 0.5}), "1") == base
    assert address(work(width=8, params={"radius": 0.5}), "2") != base
    others = [
        work(params={"radius": 0.5000001}, width=8),
        work(params={"radius": 0.5}, width=9),
        work("sphere", params={"radius": 0.5}, width=8),
        Work(kind="image", renderer="disc", asked={"params": {"radius": 0.5}, "width": 8}),
    ]
    assert len({base, *(address(other, "1") for other in others)}) == 5


@pytest.mark.parametrize(
    "params",
    [{"radius": 0.7}, {"radius": 0.7, "softness": 0.05}, {"softness": 0.05, "radius": 0.7}],
    ids=["alone", "a default given", "in another order"],
)
def test_equal_values_are_written_in_one_way(params: dict[str, Any]) -> None:
    assert maps.given(disc.spec, params) == {"radius": 0.7}
    ones = [maps.given(disc.spec, {"centre": value}) for value in ([1, 0], [1.0, 0.0])]
    assert json.dumps(ones[0]) == json.dumps(ones[1])


def test_parameters_are_checked_when_they_are_written() -> None:
    with pytest.raises(ParameterError, match="radius"):
        maps.given(disc.spec, {"radius": "wide"})


def test_the_longest_unused_result_goes_first() -> None:
    each = BESIDE + 100
    store = Store(2 * each + 50)
    for name in "ab":
        store.put(name, result())
    assert store.get("a")
    store.put("c", result())
    assert store.get("b") is None
    assert store.get("a")
    assert store.get("c")
    assert store.bytes == 2 * each


def test_a_small_result_is_copied_and_cannot_be_written() -> None:
    """Its shared memory, and the descriptors of it, are free again."""
    store, small, large = Store(1 << 30), result(), result(COPIED)
    store.put("small", small)
    store.put("large", large)
    kept = store.get("small")
    assert kept is not None
    assert not np.shares_memory(kept.arrays["image"], small.arrays["image"])
    assert not kept.arrays["image"].flags.writeable
    assert store.get("large") is large


def test_few_results_stay_in_shared_memory() -> None:
    store = Store(1 << 40)
    large = result(COPIED)
    store.put("small", result())
    for number in range(MOST_SHARED + 1):
        store.put(str(number), large)
        assert store.get("0")
    assert store.get("1") is None
    assert store.get("small")
    assert store.get(str(MOST_SHARED))
    assert store.bytes == MOST_SHARED * (COPIED + BESIDE) + BESIDE + 100


def test_the_results_of_a_worker_go_with_it() -> None:
    """The next one may have read other code under the same names."""

    async def test() -> None:
        scheduler, backend = scheduled(store_bytes=1 << 20)
        asked = Work(kind="map", renderer="a")
        for origins in (["computed", "stored"], ["computed", "stored"]):
            found = []
            for _ in origins:
                waiting = asyncio.ensure_future(scheduler.run(asked))
                await settle()
                if not waiting.done():
                    backend.finish("a")
                found.append((await waiting).origin)
            assert found == origins
            backend.catalogue = Catalogue("cpu")

    asyncio.run(test())


def test_a_result_larger_than_all_that_is_kept_drives_none_out() -> None:
    store = Store(BESIDE + 250)
    store.put("a", result())
    store.put("large", result(251))
    assert store.get("large") is None
    assert store.get("a") is not None
    nothing = Store(0)
    nothing.put("a", result())
    assert nothing.get("a") is None


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"repeatable": False},
    ],
    ids=["unknown", "random"],
)
def test_what_may_be_another_the_next_time_is_not_kept(facts: dict[str, Any]) -> None:
    store = Store(1 << 20)
    store.put("a", result(facts=facts))
    assert store.get("a") is None
    assert store.bytes == 0


class Computing:
    """Computes when it is told to."""

    def __init__(self) -> None:
        self.begun: list[Work] = []
        self.stopped = 0
        self.outcome: asyncio.Future[Result] | None = None

    async def __call__(self, _: str, asked: Work, watch: Watch) -> Result:
        self.begun.append(asked)
        self.outcome = asyncio.get_running_loop().create_future()
        watch.begun(ARRAYS)
        watch.advanced(1, 2)
        try:
            return await self.outcome
        except asyncio.CancelledError:
            self.stopped += 1
            raise

    def finish(self) -> None:
        assert self.outcome is not None
        self.outcome.set_result(result())


def test_five_hundred_equal_requests_are_computed_once() -> None:
    async def once() -> None:
        computing = Computing()
        flights = Flights(computing)
        waiting = [asyncio.ensure_future(flights.join("a", work(), Watch())) for _ in range(500)]
        await settle()
        computing.finish()
        found = await asyncio.gather(*waiting)
        assert len(computing.begun) == 1
        assert len({id(each) for each, _ in found}) == 1
        assert sorted(shared for _, shared in found) == [False] + [True] * 499

    asyncio.run(once())


def test_work_goes_on_until_its_last_waiter_leaves() -> None:
    async def test() -> None:
        computing = Computing()
        flights = Flights(computing)
        first, second = (
            asyncio.ensure_future(flights.join("a", work(), Watch())) for _ in range(2)
        )
        await settle()
        first.cancel()
        await asyncio.wait({first})
        assert computing.stopped == 0
        second.cancel()
        await asyncio.wait({second})
        assert computing.stopped == 1
        # Whoever comes now begins anew.
        third = asyncio.ensure_future(flights.join("a", work(), Watch()))
        await settle()
        assert len(computing.begun) == 2
        computing.finish()
        assert (await third)[1] is False

    asyncio.run(test())


def test_who_joins_late_is_told_how_far_it_is() -> None:
    async def test() -> None:
        computing = Computing()
        flights = Flights(computing)
        first = asyncio.ensure_future(flights.join("a", work(), Watch()))
        await settle()
        told: list[object] = []
        watch = Watch(told.append, lambda *done: told.append(done))
        second = asyncio.ensure_future(flights.join("a", work(), watch))
        await settle()
        assert told == [ARRAYS, (1, 2)]
        computing.finish()
        await asyncio.gather(first, second)

    asyncio.run(test())


def test_an_error_goes_to_all_and_is_forgotten() -> None:
    async def test() -> None:
        computing = Computing()
        flights = Flights(computing)
        waiting = [asyncio.ensure_future(flights.join("a", work(), Watch())) for _ in range(3)]
        await settle()
        assert computing.outcome is not None
        computing.outcome.set_exception(WorkFailedError("no"))
        failed = await asyncio.gather(*waiting, return_exceptions=True)
        assert all(isinstance(each, WorkFailedError) for each in failed)
        again = asyncio.ensure_future(flights.join("a", work(), Watch()))
        await settle()
        assert len(computing.begun) == 2
        computing.finish()
        await again

    asyncio.run(test())


def test_a_full_queue_still_lets_in_who_asks_for_the_same() -> None:
    async def test() -> None:
        scheduler, backend = scheduled(queue=0)
        first = asyncio.ensure_future(scheduler.run(Work(kind="map", renderer="a")))
        await settle()
        second = asyncio.ensure_future(scheduler.run(Work(kind="map", renderer="a")))
        await settle()
        backend.finish("a")
        assert [(await each).origin for each in (first, second)] == ["computed", "shared"]
        assert backend.started == ["a"]

    asyncio.run(test())
