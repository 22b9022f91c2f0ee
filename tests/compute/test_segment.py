import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from app.compute.segment import Segment


def held() -> int:
    targets = [p.readlink() for p in Path("/proc/self/fd").iterdir() if p.is_symlink()]
    return sum("memfd:sensmap" in str(target) for target in targets)


def test_new_memory_is_zero_and_of_its_size() -> None:
    segment = Segment.create(10_000)
    assert len(segment.memory) == 10_000
    assert not any(segment.memory[:])
    segment.close_descriptor()


def test_what_one_side_writes_the_other_reads() -> None:
    ours, theirs = socket.socketpair()
    segment = Segment.create(4096)
    with ours, theirs:
        socket.send_fds(ours, [b"s"], [segment.descriptor])
        _, (received,), *_ = socket.recv_fds(theirs, 1, 1)
    other = Segment.attach(received)
    np.ndarray((4,), np.float64, other.memory, 64)[:] = [1, 2, 3, np.nan]
    assert np.ndarray((3,), np.float64, segment.memory, 64).tolist() == [1, 2, 3]
    segment.close_descriptor()
    other.close_descriptor()


def test_an_array_keeps_the_memory_after_the_descriptor_is_closed() -> None:
    segment = Segment.create(8)
    array = np.ndarray((1,), np.float64, segment.memory)
    segment.close_descriptor()
    with pytest.raises(OSError, match="descriptor"):
        os.fstat(segment.descriptor)
    del segment
    array[0] = 7
    assert array[0] == 7


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="reads /proc")
def test_nothing_is_left_when_the_last_array_goes() -> None:
    before = held()
    segment = Segment.create(1 << 20)
    array = np.ndarray((4,), np.float64, segment.memory)
    segment.close_descriptor()
    assert held() == before + 1, "the array's"
    del segment, array
    assert held() == before


def test_memory_is_taken_when_it_is_written_and_not_before() -> None:
    segment = Segment.create(1 << 40)
    segment.memory[1 << 30] = 5
    assert segment.memory[1 << 30] == 5
    segment.close_descriptor()


def test_a_child_process_does_not_inherit_the_descriptor() -> None:
    segment = Segment.create(16)
    program = "import os, sys; os.fstat(int(sys.argv[1]))"
    command = [sys.executable, "-c", program, str(segment.descriptor)]
    child = subprocess.run(command, close_fds=False, capture_output=True, check=False)
    assert b"Bad file descriptor" in child.stderr
    segment.close_descriptor()
