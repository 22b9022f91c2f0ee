"""Finished results that are kept, and work that is done once for many who wait."""

import asyncio
from typing import Any

import numpy as np
import pytest

from app.compute import Result, WorkFailedError
from app.compute.address import address
from app.compute.flights import Flights
from app.compute.store import Store
from app.compute.work import Output, Work
from tests.compute.test_scheduler import scheduled, settle

CERTIFIED: dict[str, Any] = {"certificate": {"warnings": []}}


def work(name: str = "disc", **asked: object) -> Work:
    return Work(
        kind="map", renderer=name, asked=asked, outputs=(Output("image", (4, 4), "float32"),)
    )


def result(size: int = 100, facts: dict[str, Any] = CERTIFIED) -> Result:
    return Result(work=work(), arrays={"image": np.zeros(size, np.uint8)}, facts=facts)


def test_an_address_is_that_of_the_numbers() -> None:
    base = address(work(params={"radius": 0.5}, width=8))
    assert address(work(width=8, params={"radius": 0.5})) == base
    others = [
        work(params={"radius": 0.5000001}, width=8),
        work(params={"radius": 0.5}, width=9),
        work("sphere", params={"radius": 0.5}, width=8),
        Work(kind="image", renderer="disc", asked={"params": {"radius": 0.5}, "width": 8}),
    ]
    assert len({base, *map(address, others)}) == 5


def test_the_longest_unused_result_goes_first() -> None:
    store = Store(250)
    kept = {name: result() for name in "abc"}
    store.put("a", kept["a"])
    store.put("b", kept["b"])
    assert store.get("a") is kept["a"]
    store.put("c", kept["c"])
    assert store.get("b") is None
    assert store.get("a") is kept["a"]
    assert store.get("c") is kept["c"]
    assert store.bytes == 200


def test_a_result_larger_than_all_that_is_kept_drives_none_out() -> None:
    store = Store(250)
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
        {"certificate": None},
        {"certificate": {"warnings": [{"code": "not_deterministic"}]}},
    ],
    ids=["unknown", "uncertified", "random"],
)
def test_what_may_be_another_the_next_time_is_not_kept(facts: dict[str, Any]) -> None:
    store = Store(1000)
    store.put("a", result(facts=facts))
    assert store.get("a") is None
    assert store.bytes == 0


class Computing:
    """Computes when it is told to."""

    def __init__(self) -> None:
        self.begun: list[Work] = []
        self.stopped = 0
        self.outcome: asyncio.Future[Result] | None = None

    async def __call__(self, asked: Work, progress: Any) -> Result:
        self.begun.append(asked)
        self.outcome = asyncio.get_running_loop().create_future()
        progress(1, 2)
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
        waiting = [asyncio.ensure_future(flights.join(work(), lambda *_: None)) for _ in range(500)]
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
            asyncio.ensure_future(flights.join(work(), lambda *_: None)) for _ in range(2)
        )
        await settle()
        first.cancel()
        await asyncio.wait({first})
        assert computing.stopped == 0
        second.cancel()
        await asyncio.wait({second})
        assert computing.stopped == 1
        # Whoever comes now begins anew.
        third = asyncio.ensure_future(flights.join(work(), lambda *_: None))
        await settle()
        assert len(computing.begun) == 2
        computing.finish()
        assert (await third)[1] is False

    asyncio.run(test())


def test_an_error_goes_to_all_and_is_forgotten() -> None:
    async def test() -> None:
        computing = Computing()
        flights = Flights(computing)
        waiting = [asyncio.ensure_future(flights.join(work(), lambda *_: None)) for _ in range(3)]
        await settle()
        assert computing.outcome is not None
        computing.outcome.set_exception(WorkFailedError("no"))
        failed = await asyncio.gather(*waiting, return_exceptions=True)
        assert all(isinstance(each, WorkFailedError) for each in failed)
        again = asyncio.ensure_future(flights.join(work(), lambda *_: None))
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
