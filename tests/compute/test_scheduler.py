"""The scheduler over a backend whose every step the test decides."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from app.compute import (
    BusyError,
    Catalogue,
    Limits,
    NotReadyError,
    Result,
    Scheduler,
    TimedOutError,
    Work,
    WorkerDiedError,
    WorkFailedError,
)
from app.compute import scheduler as scheduling


class FakeBackend:
    """Computes when it is told to, and keeps a record."""

    def __init__(self) -> None:
        self.catalogue: Catalogue | None = Catalogue("cpu")
        self.trouble = "The fake is down."
        self.started: list[str] = []
        self.replaced = 0
        self.cancels: list[str] = []
        self.outcomes: dict[str, asyncio.Future[None]] = {}
        self.prompt = True
        """Whether work stops as soon as it is cancelled."""

    async def start(self) -> None:
        pass

    async def stop(self) -> None:
        pass

    async def submit(self, work: Work, watch: Any) -> Result:  # noqa: ARG002
        if self.catalogue is None:
            raise NotReadyError(self.trouble)
        self.started.append(work.renderer)
        outcome = self.outcomes[work.renderer] = asyncio.get_running_loop().create_future()
        try:
            await asyncio.shield(outcome)
        except asyncio.CancelledError:
            self.cancels.append(work.renderer)
            if not self.prompt:
                await asyncio.wait({outcome})
            raise
        return Result(work=work, arrays={}, facts={"repeatable": True})

    async def replace(self) -> None:
        self.replaced += 1
        for outcome in self.outcomes.values():
            if not outcome.done():
                outcome.set_exception(WorkerDiedError("replaced"))
                outcome.exception()

    def finish(self, name: str) -> None:
        self.outcomes[name].set_result(None)

    def fail(self, name: str, error: Exception) -> None:
        self.outcomes[name].set_exception(error)


def work(name: str) -> Work:
    return Work(kind="map", renderer=name)


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def scheduled(
    queue: int = 16, timeout_s: float = 60.0, store_bytes: int = 0
) -> tuple[Scheduler, FakeBackend]:
    backend = FakeBackend()
    return Scheduler(
        backend, Limits(queue=queue, timeout_s=timeout_s, store_bytes=store_bytes)
    ), backend


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(test, 10))


def test_work_is_done_one_at_a_time_in_order_of_arrival() -> None:
    async def test() -> None:
        scheduler, backend = scheduled()
        tasks = [asyncio.create_task(scheduler.run(work(name))) for name in "abcd"]
        for step, name in enumerate("abcd"):
            await settle()
            assert backend.started == list("abcd"[: step + 1])
            assert scheduler.waiting == 3 - step
            backend.finish(name)
        results = await asyncio.gather(*tasks)
        assert [result.work.renderer for result in results] == list("abcd")
        assert scheduler.waiting == 0

    run(test())


@pytest.mark.parametrize("queue", [0, 1, 2])
def test_one_runs_and_the_queue_waits_and_more_are_refused_at_once(queue: int) -> None:
    async def test() -> None:
        scheduler, backend = scheduled(queue)
        names = [f"r{i}" for i in range(queue + 4)]
        tasks = [asyncio.create_task(scheduler.run(work(name))) for name in names]
        await settle()
        refused = [task for task in tasks if task.done()]
        assert len(refused) == 3
        assert all(isinstance(task.exception(), BusyError) for task in refused)
        for name in names[: queue + 1]:
            backend.finish(name)
            await settle()
        assert [task.done() for task in tasks] == [True] * len(tasks)
        assert sum(task.exception() is None for task in tasks) == queue + 1
        again = asyncio.create_task(scheduler.run(work("again")))
        await settle()
        backend.finish("again")
        await again

    run(test())


def test_work_whose_worker_died_is_tried_once_more() -> None:
    async def test() -> None:
        scheduler, backend = scheduled()
        task = asyncio.create_task(scheduler.run(work("a")))
        await settle()
        backend.fail("a", WorkerDiedError("died"))
        await settle()
        assert backend.started == ["a", "a"]
        backend.finish("a")
        assert (await task).work.renderer == "a"

    run(test())


def test_work_over_which_two_workers_died_is_given_up() -> None:
    async def test() -> None:
        scheduler, backend = scheduled()
        task = asyncio.create_task(scheduler.run(work("a")))
        for _ in range(2):
            await settle()
            backend.fail("a", WorkerDiedError("died"))
        with pytest.raises(WorkerDiedError):
            await task
        assert backend.started == ["a", "a"]
        assert scheduler.waiting == 0

    run(test())


def test_a_retry_waits_for_the_next_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduling, "POLL_S", 0.001)

    async def test() -> None:
        scheduler, backend = scheduled()
        task = asyncio.create_task(scheduler.run(work("a")))
        await settle()
        backend.catalogue = None
        backend.fail("a", WorkerDiedError("died"))
        await asyncio.sleep(0.02)
        assert backend.started == ["a"]
        backend.catalogue = Catalogue("cpu")
        await asyncio.sleep(0.02)
        assert backend.started == ["a", "a"]
        backend.finish("a")
        await task

    run(test())


def test_a_retry_gives_up_when_no_worker_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduling, "POLL_S", 0.001)
    monkeypatch.setattr(scheduling, "REVIVAL_S", 0.01)

    async def test() -> None:
        scheduler, backend = scheduled()
        task = asyncio.create_task(scheduler.run(work("a")))
        await settle()
        backend.catalogue = None
        backend.fail("a", WorkerDiedError("died"))
        with pytest.raises(NotReadyError, match="fake is down"):
            await task
        assert scheduler.waiting == 0

    run(test())


def test_work_that_waited_while_the_worker_was_replaced_is_done_by_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scheduling, "POLL_S", 0.001)

    async def test() -> None:
        scheduler, backend = scheduled()
        first = asyncio.create_task(scheduler.run(work("a")))
        second = asyncio.create_task(scheduler.run(work("b")))
        await settle()
        backend.catalogue = None
        backend.fail("a", WorkFailedError("it went wrong"))
        with pytest.raises(WorkFailedError):
            await first
        await asyncio.sleep(0.02)
        assert backend.started == ["a"]
        backend.catalogue = Catalogue("cpu")
        await asyncio.sleep(0.02)
        backend.finish("b")
        assert (await second).work.renderer == "b"

    run(test())


def test_what_the_worker_says_is_not_tried_again() -> None:
    async def test() -> None:
        scheduler, backend = scheduled()
        task = asyncio.create_task(scheduler.run(work("a")))
        await settle()
        backend.fail("a", WorkFailedError("no", code="renderer_failed"))
        with pytest.raises(WorkFailedError) as caught:
            await task
        assert caught.value.code == "renderer_failed"
        assert backend.started == ["a"]

    run(test())


def test_a_cancelled_request_holds_the_device_until_the_backend_has_stopped() -> None:
    async def test() -> None:
        scheduler, backend = scheduled()
        backend.prompt = False
        first = asyncio.create_task(scheduler.run(work("a")))
        second = asyncio.create_task(scheduler.run(work("b")))
        await settle()
        first.cancel()
        await settle()
        assert backend.cancels == ["a"]
        assert backend.started == ["a"], "the device is not free yet"
        backend.finish("a")  # the end of a tile
        await settle()
        assert first.cancelled()
        assert backend.started == ["a", "b"]
        backend.finish("b")
        await second

    run(test())


def test_a_request_cancelled_in_the_queue_leaves_it_at_once() -> None:
    async def test() -> None:
        scheduler, backend = scheduled(queue=1)
        first = asyncio.create_task(scheduler.run(work("a")))
        second = asyncio.create_task(scheduler.run(work("b")))
        await settle()
        second.cancel()
        await settle()
        assert second.cancelled()
        assert scheduler.waiting == 0
        third = asyncio.create_task(scheduler.run(work("c")))
        await settle()
        backend.finish("a")
        await settle()
        assert backend.started == ["a", "c"]
        assert backend.cancels == []
        backend.finish("c")
        await asyncio.gather(first, third)

    run(test())


def test_work_past_its_time_has_its_worker_replaced_and_the_next_goes_on() -> None:
    async def test() -> None:
        scheduler, backend = scheduled(timeout_s=0.03)
        first = asyncio.create_task(scheduler.run(work("a")))
        second = asyncio.create_task(scheduler.run(work("b")))
        with pytest.raises(TimedOutError, match=r"longer than 0\.03 seconds"):
            await first
        assert backend.replaced == 1
        assert backend.started == ["a"] or backend.started == ["a", "b"]
        await settle()
        backend.finish("b")
        assert (await second).work.renderer == "b"

    run(test())


def test_the_time_in_the_queue_does_not_count() -> None:
    async def test() -> None:
        scheduler, backend = scheduled(timeout_s=0.2)
        tasks = [asyncio.create_task(scheduler.run(work(name))) for name in "abc"]
        for name in "abc":
            await asyncio.sleep(0.1)
            backend.finish(name)
            await settle()
        await asyncio.gather(*tasks)
        assert backend.replaced == 0

    run(test())


def test_a_cancelled_renderer_that_never_stops_is_replaced_at_the_time_limit() -> None:
    async def test() -> None:
        scheduler, backend = scheduled(timeout_s=0.05)
        backend.prompt = False
        task = asyncio.create_task(scheduler.run(work("a")))
        await settle()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert backend.replaced == 1
        assert scheduler.waiting == 0

    run(test())


def test_without_a_worker_the_catalogue_says_why() -> None:
    scheduler, backend = scheduled()
    assert scheduler.catalogue().device == "cpu"
    backend.catalogue = None
    with pytest.raises(NotReadyError, match="fake is down"):
        scheduler.catalogue()
