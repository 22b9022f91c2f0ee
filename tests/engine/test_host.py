"""Tiles on their way to the host, from a device that works when it pleases.

No CUDA device is needed: a stand-in queues copies on a stream, as CUDA does, and carries them out
either at once or not before somebody waits for them. A device may do either, or what lies between.
A tile's memory is overwritten, in the stream's order, once the tile is let go; pinned memory is
given out again the moment that it is let go, full of NaN.
"""

import math
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from torch import Tensor

from app.engine import allocate, sensitivity_map
from app.engine.host import IN_FLIGHT, HostWriter
from renderers.disc import disc
from tests.engine.conftest import task_of

PINNED_REFUSED = RuntimeError("CUDA error: out of memory\nFor debugging consider ...")
DEVICE_FULL = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB.")
KERNEL_FAILED = RuntimeError("CUDA error: an illegal memory access was encountered")


@dataclass
class Stream:
    """Work in order: done as it comes by a prompt device, and when waited for by a lazy one."""

    prompt: bool
    jobs: deque[Callable[[], object]] = field(default_factory=deque)
    queued: int = 0
    done: int = 0

    def add(self, job: Callable[[], object]) -> None:
        self.jobs.append(job)
        self.queued += 1
        if self.prompt:
            self.run(self.queued)

    def run(self, until: int) -> None:
        while self.done < until:
            self.done += 1
            self.jobs.popleft()()


class Event:
    """A place in a stream's work; one that was not recorded holds nobody up."""

    place: tuple[Stream, int] | None = None

    def record(self, stream: Stream) -> None:
        self.place = stream, stream.queued

    def synchronize(self) -> None:
        if self.place:
            stream, until = self.place
            stream.run(until)


@dataclass
class Machine:
    """A device, and the pinned memory of its host.

    Attributes:
        stream: the device's work.
        refuse_pinned: raised where pinned memory is asked for.
        refuse_rearranging: raised where a tile needs memory on the device to be copied.
        blocks: pinned memory that is given out, by the tensor that has it.
        free: pinned memory that was let go.
    """

    stream: Stream
    refuse_pinned: Exception | None = None
    refuse_rearranging: Exception | None = None
    blocks: dict[int, Tensor] = field(default_factory=dict)
    free: list[Tensor] = field(default_factory=list)
    made: int = 0

    def tile(self, values: Tensor) -> Tensor:
        """A tile on the device, in the order of memory of its values."""
        tile = values.detach().clone().as_subclass(OnDevice)
        memory = tile.as_subclass(Tensor)
        weakref.finalize(tile, self.stream.add, lambda: memory.fill_(math.nan))
        return tile

    def pinned(self, shape: Any, dtype: torch.dtype) -> Tensor:
        if self.refuse_pinned:
            raise self.refuse_pinned
        size = math.prod(shape) * dtype.itemsize
        fitting = [n for n, block in enumerate(self.free) if block.nbytes == size]
        self.made += not fitting
        block = self.free.pop(fitting[-1]) if fitting else torch.zeros(size, dtype=torch.uint8)
        given = block.view(dtype).view(shape).fill_(math.nan)
        self.blocks[id(given)] = block
        weakref.finalize(given, self.let_go, id(given))
        return given

    def let_go(self, key: int) -> None:
        self.free.append(self.blocks.pop(key))

    def copy(self, target: Tensor, tile: Tensor, non_blocking: bool = False) -> Tensor:
        """`target.copy_(tile)`: not waited for where the target is pinned and nobody wants it."""
        source = tile.as_subclass(Tensor)
        if not (source.is_contiguous() and source.dtype == target.dtype):
            # A row at a time needs little.
            if self.refuse_rearranging and source.dim() > 3:
                raise self.refuse_rearranging
            ordered = torch.empty(source.shape, dtype=target.dtype)
            self.stream.add(lambda source=source: ordered.copy_(source))
            source = ordered
        block = self.blocks.get(id(target))
        place = target if block is None else block.view(target.dtype).view(target.shape)
        self.stream.add(lambda: place.copy_(source))
        if block is None or not non_blocking:
            self.stream.run(self.stream.queued)
        return target


class OnDevice(Tensor):
    """A tensor that says that it is on a CUDA device."""

    machine: ClassVar[Machine]

    @property
    def device(self) -> torch.device:
        return torch.device("cuda", 0)

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if func is Tensor.copy_ and not isinstance(args[0], OnDevice):
            return cls.machine.copy(*args, **(kwargs or {}))
        return super().__torch_function__(func, types, args, kwargs or {})


@pytest.fixture(params=[True, False], ids=["prompt", "lazy"])
def machine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine(Stream(prompt=request.param))
    empty = torch.empty

    def allocate(*args: Any, pin_memory: bool = False, **kwargs: Any) -> Tensor:
        return made.pinned(*args, **kwargs) if pin_memory else empty(*args, **kwargs)

    monkeypatch.setattr(OnDevice, "machine", made, raising=False)
    monkeypatch.setattr(torch, "empty", allocate)
    monkeypatch.setattr(torch.cuda, "Event", Event)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda _: made.stream)
    return made


@pytest.fixture
def lazy(machine: Machine) -> Machine:
    machine.stream.prompt = False
    return machine


def numbers(*shape: int, first: float = 0.0) -> Tensor:
    return torch.arange(first, first + math.prod(shape)).reshape(shape)


def test_the_stand_in_punishes_a_reader_who_does_not_wait(lazy: Machine) -> None:
    staging = torch.empty((2, 3), dtype=torch.float32, pin_memory=True)
    staging.copy_(lazy.tile(numbers(2, 3)), non_blocking=True)
    assert staging.isnan().all()
    lazy.stream.run(lazy.stream.queued)
    assert torch.equal(staging, numbers(2, 3))


def test_the_stand_in_punishes_who_lets_go_of_a_buffer_under_way(lazy: Machine) -> None:
    first, second = (torch.empty((4,), dtype=torch.float32, pin_memory=True) for _ in range(2))
    assert first.data_ptr() != second.data_ptr()
    address = first.data_ptr()
    first.copy_(lazy.tile(numbers(4)), non_blocking=True)
    del first
    third = torch.empty((4,), dtype=torch.float32, pin_memory=True)
    assert third.data_ptr() == address


def test_every_tile_arrives_in_its_place(machine: Machine) -> None:
    expected = numbers(10, 6, 3)
    result = torch.full((10, 6, 3), -1.0)
    writer = HostWriter()
    for start in range(0, 10, 2):
        rows = slice(start, start + 2)
        writer.put(result[rows], machine.tile(expected[rows]))
    writer.flush()
    assert torch.equal(result, expected)
    assert not writer.pending


def test_the_host_waits_for_a_tile_only_when_the_one_after_next_is_ready(lazy: Machine) -> None:
    expected = numbers(6, 5, 3, first=1.0)
    result = torch.zeros(6, 5, 3)
    writer = HostWriter()
    arrived = []
    for row in range(6):
        writer.put(result[row], lazy.tile(expected[row]))
        arrived.append(int((result == expected).all(-1).all(-1).sum()))
    assert arrived == [max(0, put - IN_FLIGHT) for put in range(1, 7)]
    writer.flush()
    assert torch.equal(result, expected)


def test_a_long_map_takes_no_more_buffers_than_are_under_way(machine: Machine) -> None:
    writer, result = HostWriter(), torch.zeros(40, 5)
    for row in range(40):
        writer.put(result[row], machine.tile(numbers(5)))
        assert len(machine.blocks) <= IN_FLIGHT
    writer.flush()
    assert machine.made == IN_FLIGHT + 1
    assert not machine.blocks


def test_what_is_put_last_is_what_stays(machine: Machine) -> None:
    result, writer = torch.zeros(4), HostWriter()
    for value in range(7):
        writer.put(result, machine.tile(torch.full((4,), float(value))))
    writer.flush()
    assert torch.equal(result, torch.full((4,), 6.0))


def test_a_tile_in_another_order_and_dtype_is_put_in_the_order_of_the_result(
    machine: Machine,
) -> None:
    tangents = numbers(2, 4, 5, 3)
    result = torch.zeros(4, 5, 3, 6, dtype=torch.float64)
    writer = HostWriter()
    for first in (0, 2, 4):
        tile = machine.tile((tangents + 100 * first).movedim(0, -1))
        assert not tile.is_contiguous()
        writer.put(result[..., first : first + 2], tile)
    writer.flush()
    for first in (0, 2, 4):
        ordered = (tangents + 100 * first).movedim(0, -1).double()
        assert torch.equal(result[..., first : first + 2], ordered)


def test_a_flush_of_nothing_is_nothing_and_a_writer_can_be_used_again(machine: Machine) -> None:
    writer, result = HostWriter(), torch.zeros(2, 3)
    writer.flush()
    for row in range(2):
        writer.put(result[row], machine.tile(numbers(3)))
        writer.flush()
        assert torch.equal(result[row], numbers(3))


def test_a_copy_that_fails_is_raised_and_its_place_is_left_alone(lazy: Machine) -> None:
    def fail() -> None:
        raise KERNEL_FAILED

    writer, result = HostWriter(), torch.zeros(3, 2)
    writer.put(result[0], lazy.tile(numbers(2, first=1.0)))
    lazy.stream.add(fail)
    writer.put(result[1], lazy.tile(numbers(2, first=1.0)))
    with pytest.raises(RuntimeError, match="illegal memory access"):
        writer.flush()
    assert result.tolist() == [[1.0, 2.0], [0.0, 0.0], [0.0, 0.0]]


def test_a_copy_that_fails_is_raised_while_later_tiles_are_put(lazy: Machine) -> None:
    def fail() -> None:
        raise KERNEL_FAILED

    writer, result = HostWriter(), torch.zeros(9, 2)
    lazy.stream.add(fail)
    with pytest.raises(RuntimeError, match="illegal memory access"):
        for row in range(IN_FLIGHT + 1):
            writer.put(result[row], lazy.tile(numbers(2, first=1.0)))
    assert not result.any()


@pytest.mark.parametrize("refused", ["refuse_pinned", "refuse_rearranging"])
def test_where_memory_is_refused_a_tile_arrives_by_rows_and_in_order(
    machine: Machine, refused: str
) -> None:
    expected = numbers(2, 4, 5, 3).movedim(0, -1)
    result, writer = torch.zeros(4, 5, 3, 2), HostWriter()
    # An older tile for the same place is still under way: it must not arrive afterwards.
    writer.put(result, machine.tile(-expected))
    setattr(machine, refused, PINNED_REFUSED if refused == "refuse_pinned" else DEVICE_FULL)
    writer.put(result, machine.tile(expected))
    writer.flush()
    assert torch.equal(result, expected)
    setattr(machine, refused, None)
    writer.put(result, machine.tile(2 * expected))
    writer.flush()
    assert torch.equal(result, 2 * expected)


def test_any_other_error_is_raised(machine: Machine) -> None:
    machine.refuse_pinned = KERNEL_FAILED
    with pytest.raises(RuntimeError, match="illegal memory access"):
        HostWriter().put(torch.zeros(3), machine.tile(numbers(3)))


def test_a_cancelled_map_leaves_the_result_alone(lazy: Machine) -> None:
    result, writer = torch.zeros(2, 3), HostWriter()
    writer.put(result[0], lazy.tile(numbers(3, first=1.0)))
    del writer
    lazy.stream.run(lazy.stream.queued)
    assert not result.any()


@pytest.mark.parametrize("wrt", ["", "radius", "colour"])
def test_a_whole_map_is_the_same_bits_through_the_device(
    machine: Machine, wrt: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = disc.load("cpu", torch.float32)
    task = task_of(loaded, wrt, size=(9, 12))
    expected = sensitivity_map(loaded, task)
    put, tiles = HostWriter.put, []

    def carried(self: HostWriter, target: Tensor, tile: Tensor) -> None:
        tiles.append(tile.shape)
        put(self, target, machine.tile(tile))

    monkeypatch.setattr(HostWriter, "put", carried)
    found = sensitivity_map(loaded, task, budget=1)
    assert len(tiles) >= task.height
    assert torch.equal(*(torch.from_numpy(each.image) for each in (found, expected)))
    if wrt:
        assert torch.equal(*(torch.from_numpy(each.values) for each in (found, expected)))


def test_rows_that_are_told_of_lie_in_the_result(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = disc.load("cpu", torch.float32)
    task = task_of(loaded, "radius", size=(9, 12))
    expected = sensitivity_map(loaded, task)
    assert expected.values is not None
    put = HostWriter.put
    monkeypatch.setattr(HostWriter, "put", lambda *a: put(a[0], a[1], machine.tile(a[2])))
    out = allocate(loaded, task)
    for array in (out.image, *out.maps):
        array.fill(np.nan)
    told: list[int] = []

    def look(done: int, total: int) -> None:
        assert total == task.height
        told.append(done)
        np.testing.assert_array_equal(out.maps[0][:done], expected.values[:done])
        np.testing.assert_array_equal(out.image[:done], expected.image[:done])

    sensitivity_map(loaded, task, budget=1, out=out, progress=look)
    assert told == sorted(set(told))
    assert told[-1] == task.height
    assert len(told) > 1


def test_on_the_cpu_a_tile_is_in_its_place_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(torch.cuda, "Event")
    result, writer = torch.zeros(4, 3, 2), HostWriter()
    writer.put(result, numbers(2, 4, 3).movedim(0, -1))
    assert torch.equal(result, numbers(2, 4, 3).movedim(0, -1))


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")
def test_tiles_arrive_from_a_real_device() -> None:
    expected = torch.rand(64, 512, 512, 3)
    result, writer = torch.zeros(64, 512, 512, 3), HostWriter()
    source = expected.cuda()
    for row in range(64):
        # Computed just before, and let go just after: its memory is the next tile's.
        writer.put(result[row], (source[row].movedim(-1, 0) * 1.0).movedim(0, -1))
    writer.flush()
    assert torch.equal(result, expected)
