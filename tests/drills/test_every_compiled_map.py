"""Every parameter of every shipped renderer, compiled: the recorded map to rounding, in any tiling.

`make drill`: each is compiled, which takes half a minute, and minutes for a march.
"""

from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from app.compute.compiling import BACKGROUND, CompileSettings, compile_now
from app.engine import MOST, Task, find_method, sensitivity_map
from app.engine.compiled.proof import NEAR, STRAY
from renderers import Subject, load, parse_subject
from tests.engine.conftest import budget_for
from tests.tolerances import COMPILED

pytestmark = pytest.mark.drill

REGISTRY = load(plugins=False)
# These march, and rounding decides between hit and miss: all but stray pixels are within a looser
# bound, the one by which a server accepts what was compiled.
MARCHED = {"sdf_scene", "volume"}
CASES = [
    (name, wrt)
    for name in REGISTRY.names()
    if REGISTRY.get(name).spec.kind == "pixel"
    for wrt in ("", *REGISTRY.get(name).spec.params)
]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("drill")


def share_off(found: NDArray[np.floating], wanted: NDArray[np.floating], within: float) -> float:
    size = float(np.abs(wanted[np.isfinite(wanted)]).max(initial=0.0))
    same = np.isclose(found, wanted, rtol=0, atol=within * size, equal_nan=True)
    return 1.0 - float(same.mean())


@pytest.mark.parametrize(("name", "wrt"), CASES)
def test_a_compiled_map_is_the_recorded_one(name: str, wrt: str, folder: Path) -> None:
    loaded = REGISTRY.get(name).load("cpu", torch.float32)
    subject = parse_subject(loaded.spec.params, wrt=wrt) if wrt else Subject()
    task = Task(params=loaded.spec.bind({}), subject=subject, width=97, height=61)
    recorded = find_method(loaded, task, limit=MOST)
    if not recorded.recordings:
        pytest.skip(f"it is not recorded: {recorded.unrecorded}")
    compiled = compile_now(loaded, task, CompileSettings(mode=BACKGROUND, folder=str(folder)))
    wanted = sensitivity_map(loaded, task, method=recorded)
    found = sensitivity_map(loaded, task, method=compiled)
    assert found.tiles == "compiled"
    within, stray = (NEAR[torch.float32], STRAY) if name in MARCHED else (COMPILED, 0.0)
    for one, other in zip((found.image, *found.maps), (wanted.image, *wanted.maps), strict=True):
        assert share_off(one, other, within) <= stray
    bands = sensitivity_map(loaded, task, method=compiled, budget=budget_for(1))
    assert bands.plan.rows == 1
    for one, other in zip((found.image, *found.maps), (bands.image, *bands.maps), strict=True):
        assert np.array_equal(one, other, equal_nan=True)
