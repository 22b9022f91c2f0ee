"""Small tasks on the disc, whose derivative is known in closed form."""

import math
from collections.abc import Callable

import pytest
import torch

from app.engine import Task
from app.engine.plan import PLANNED
from renderers import Loaded, Subject, parse_wrt
from renderers.disc import disc

MakeTask = Callable[..., Task]


def budget_for(size: int) -> int:
    """The budget whose planned part is just so many bytes."""
    return math.ceil(size / PLANNED)


def task_of(
    loaded: Loaded,
    wrt: str = "radius",
    *,
    size: tuple[int, int] = (33, 29),
    **params: object,
) -> Task:
    spec = loaded.spec
    return Task(
        params=spec.bind(params),
        subject=Subject((parse_wrt(wrt, spec.params),)) if wrt else Subject(),
        width=size[0],
        height=size[1],
    )


@pytest.fixture(params=[torch.float32, torch.float64], ids=["float32", "float64"])
def loaded(request: pytest.FixtureRequest) -> Loaded:
    return disc.load("cpu", request.param)
