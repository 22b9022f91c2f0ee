"""What the cases share: a map of a renderer that is made on the spot, and where its pixels lie."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from app.engine import Method, SensitivityMap, Task, sensitivity_map
from renderers import Loaded, Renderer, Subject, parse_wrt
from tests.tolerances import CASE_BY_DIFFERENCES, CLOSED_FORM

Array = NDArray[np.float64]
Formula = Callable[[Array, Array], Array]
"""The right map, from the positions of the pixels: x to the right, y upwards."""

DTYPES = pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float64], ids=["float32", "float64"]
)
# A value that requires a gradient is read as a number: that is what many of the cases are about.
READS_NUMBERS = pytest.mark.filterwarnings("ignore:Converting a tensor with requires_grad")


def mapped(
    source: Renderer | Loaded,
    wrt: str,
    *,
    size: tuple[int, int] = (12, 10),
    dtype: torch.dtype = torch.float64,
    strategy: str = "auto",
    certify: bool = True,
    seed: int = 0,
    method: Method | None = None,
    **params: object,
) -> SensitivityMap:
    """The map of a renderer, by default as anyone would get it."""
    loaded = source if isinstance(source, Loaded) else source.load("cpu", dtype)
    task = Task(
        params=loaded.spec.bind(params),
        subject=Subject((parse_wrt(wrt, loaded.spec.params),)),
        width=size[0],
        height=size[1],
        seed=seed,
        strategy=strategy,
        certify=certify,
    )
    return sensitivity_map(loaded, task, method=method)


def codes(found: SensitivityMap) -> set[str]:
    """The codes of all that is said of a map."""
    assert found.certificate is not None
    return {finding.code for finding in found.certificate.findings}


def numbers(found: SensitivityMap) -> Array:
    """The map of a grey renderer in float64, `(height, width, *wrt)`."""
    assert found.values is not None
    return found.values[:, :, 0].astype(np.float64)


def positions(size: tuple[int, int]) -> tuple[Array, Array]:
    """Centres of the pixels of a frame."""
    width, height = size
    pitch = 2 / min(size)
    x = (np.arange(width) + 0.5 - width / 2) * pitch
    y = (height / 2 - np.arange(height) - 0.5) * pitch
    x, y = np.meshgrid(x, y)
    return x, y


def error(found: SensitivityMap, right: Formula | Array) -> float:
    """The largest deviation of a grey map, over the largest value of the right one.

    NaN must be where it is expected, and nowhere else.
    """
    got = numbers(found)
    height, width = got.shape[:2]
    expected = right(*positions((width, height))) if callable(right) else np.asarray(right)
    expected = np.broadcast_to(expected, got.shape)
    assert np.array_equal(np.isnan(got), np.isnan(expected))
    size = np.nanmax(np.abs(expected)) or 1.0
    return float(np.nanmax(np.abs(got - expected)) / size)


def bound(found: SensitivityMap) -> float:
    """What a right map may deviate by: exact rules to rounding, differences by a little more."""
    assert found.values is not None
    table = CASE_BY_DIFFERENCES if found.strategy == "finite_difference" else CLOSED_FORM
    return table[str(found.values.dtype)]
