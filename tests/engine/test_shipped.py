"""Every shipped renderer through the engine: bands have the bits of the whole, `auto` holds."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from app.engine import Cost, Method, Verdict, sensitivity_map
from app.engine.ladder import decide
from renderers import load
from tests.engine.conftest import budget_for, task_of

REGISTRY = load(plugins=False)
NAMES = REGISTRY.names()
SIZE = (37, 31)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_bands_have_the_bits_of_the_whole(name: str, dtype: torch.dtype) -> None:
    loaded = REGISTRY.get(name).load("cpu", dtype)
    task = replace(task_of(loaded, next(iter(loaded.spec.params)), size=SIZE), certify=False)
    verdict = Verdict(strategy="forward", step=1e-4)

    def mapped(rows: int) -> tuple[np.ndarray, np.ndarray]:
        method = Method(verdict, Cost(0.0, 1000.0, 0.0))
        result = sensitivity_map(
            loaded, task, budget=budget_for(rows * SIZE[0] * 1000), method=method
        )
        assert result.plan.rows == rows
        assert result.values is not None
        return result.image, result.values

    image, values = mapped(SIZE[1])
    tiled_image, tiled_values = mapped(17)
    assert np.array_equal(tiled_image, image)
    assert np.array_equal(tiled_values, values, equal_nan=True)


@pytest.mark.parametrize("name", NAMES)
def test_forward_mode_holds_for_every_parameter(name: str) -> None:
    loaded = REGISTRY.get(name).load("cpu", torch.float32)
    for wrt in loaded.spec.params:
        verdict = decide(loaded, task_of(loaded, wrt, size=(64, 48)))
        assert verdict.strategy == "forward", (wrt, verdict.passed_over)
        assert not verdict.whole
        assert not verdict.findings, (wrt, verdict.findings)
