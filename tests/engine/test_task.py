import torch

from app.engine import Task
from renderers import parse_wrt
from renderers.disc import disc


def directions(wrt: str) -> torch.Tensor:
    spec = disc.spec
    task = Task(params=spec.bind({}), wrt=parse_wrt(wrt, spec.params), width=4, height=4)
    return task.directions(torch.device("cpu"), torch.float64)


def test_a_scalar_has_one_direction_of_its_own_shape() -> None:
    assert torch.equal(directions("radius"), torch.ones(1, dtype=torch.float64))


def test_a_vector_has_its_unit_vectors() -> None:
    assert torch.equal(directions("colour"), torch.eye(3, dtype=torch.float64))


def test_an_entry_has_one_direction_in_its_parameter() -> None:
    assert torch.equal(directions("colour[1]"), torch.eye(3, dtype=torch.float64)[1:2])


def test_an_image_alone_has_no_direction() -> None:
    task = Task(params=disc.spec.bind({}), wrt=None, width=4, height=4)
    assert task.tangents == 0
    assert len(task.directions(torch.device("cpu"), torch.float32)) == 0
