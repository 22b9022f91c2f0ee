import gc

import pytest
import torch

from app.engine.memory import out_of_memory, peak_bytes

CPU = torch.device("cpu")


def test_the_peak_counts_what_lives_at_once() -> None:
    def chain() -> None:
        value = torch.zeros(1000)
        for _ in range(10):
            value = value + 1

    # The old value and the new one, 4 bytes an entry: never more than two at once.
    assert peak_bytes(chain, CPU) == 2 * 4000


def test_the_peak_grows_with_what_is_kept() -> None:
    kept: list[torch.Tensor] = []
    assert peak_bytes(lambda: kept.extend(torch.ones(1000) for _ in range(5)), CPU) == 5 * 4000


def test_a_view_of_what_was_there_before_is_no_new_memory() -> None:
    volume = torch.zeros(100_000)
    assert peak_bytes(lambda: volume.view(100, 1000)[3:7], CPU) == 0


def test_a_second_measurement_is_not_troubled_by_what_the_first_left_behind() -> None:
    left: list[torch.Tensor] = []
    peak_bytes(lambda: left.append(torch.ones(1000)), CPU)
    left.clear()
    gc.collect()
    assert peak_bytes(lambda: torch.ones(10), CPU) == 40


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (torch.OutOfMemoryError("CUDA out of memory"), True),
        (MemoryError(), True),
        (RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory"), True),
        (RuntimeError("CUDA error: out of memory"), True),
        (RuntimeError("size mismatch"), False),
        (ValueError("not enough memory"), False),
    ],
)
def test_an_error_about_memory_is_known_as_one(error: Exception, expected: bool) -> None:
    assert out_of_memory(error) is expected


def test_the_allocator_of_this_torch_raises_what_is_known_as_out_of_memory() -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.empty(1 << 62, dtype=torch.uint8)
    assert out_of_memory(caught.value)
