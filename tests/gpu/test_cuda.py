"""What only a CUDA device can show: the same maps as on the CPU, within the memory it is given."""

import numpy as np
import pytest
import torch

from app.engine import SensitivityMap, find_method, sensitivity_map
from renderers import load
from tests.engine.conftest import task_of
from tests.tolerances import JACOBIAN

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="There is no CUDA device here."),
]
REGISTRY = load(plugins=False)
MIB = 1 << 20


def mapped(
    name: str,
    device: str,
    size: tuple[int, int],
    budget: int = 256 * MIB,
    dtype: torch.dtype = torch.float32,
) -> SensitivityMap:
    loaded = REGISTRY.get(name).load(device, dtype)
    task = task_of(loaded, next(iter(loaded.spec.params)), size=size)
    return sensitivity_map(loaded, task, budget=budget, method=find_method(loaded, task))


def assert_same(got: SensitivityMap, wanted: SensitivityMap, within: float) -> None:
    for a, b in ((got.image, wanted.image), (got.values, wanted.values)):
        assert a is not None and b is not None
        assert np.abs(a - b).max() <= within * np.abs(b).max()


@pytest.mark.parametrize("name", REGISTRY.names())
def test_maps_are_those_of_the_cpu(name: str) -> None:
    # In float64, in which a march ends at the same place whichever device rounds on the way.
    args = ((96, 64), 256 * MIB, torch.float64)
    assert_same(mapped(name, "cuda", *args), mapped(name, "cpu", *args), JACOBIAN)


def test_a_device_without_memory_gets_smaller_tiles() -> None:
    wanted = mapped("sphere", "cpu", (1024, 1024))
    torch.cuda.empty_cache()
    total = torch.cuda.get_device_properties(0).total_memory
    free = torch.cuda.memory_reserved() + 64 * MIB
    torch.cuda.set_per_process_memory_fraction(free / total)
    try:
        got = mapped("sphere", "cuda", (1024, 1024), budget=1024 * MIB)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    assert got.halvings > 0
    assert_same(got, wanted, 1e-4)  # rounding of a hundred operations in float32


@pytest.mark.parametrize("budget", [32 * MIB, 256 * MIB])
def test_the_device_holds_no_more_than_the_budget(budget: int) -> None:
    mapped("sphere", "cuda", (64, 64))  # loads what is loaded once
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    mapped("sphere", "cuda", (2048, 2048), budget=budget)
    assert torch.cuda.max_memory_allocated() - before <= budget
