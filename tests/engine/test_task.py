import pytest
import torch

from app.engine import Task
from renderers import Subject, parse_subject
from renderers.disc import disc


def task(*wrt: str, **given: object) -> Task:
    spec = disc.spec
    subject = Subject()
    if wrt or given:
        subject = parse_subject(spec.params, wrt=wrt, **given)  # type: ignore[arg-type]
    return Task(params=spec.bind({}), subject=subject, width=4, height=4)


def rows(asked: Task) -> torch.Tensor:
    return asked.directions.rows(slice(None), torch.device("cpu"), torch.float64)


def test_a_scalar_has_one_direction() -> None:
    assert torch.equal(rows(task("radius")), torch.ones((1, 1), dtype=torch.float64))


def test_a_vector_has_its_unit_vectors() -> None:
    assert torch.equal(rows(task("colour")), torch.eye(3, dtype=torch.float64))


def test_an_entry_has_one_direction_in_its_parameter() -> None:
    assert torch.equal(rows(task("colour[1]")), torch.eye(3, dtype=torch.float64)[1:2])


def test_a_list_has_the_directions_of_each_in_the_space_of_all() -> None:
    asked = task("centre[1]", "radius", "colour")
    assert asked.moving == ("centre", "radius", "colour")
    assert asked.subject.shapes == ((), (), (3,))
    assert torch.equal(rows(asked), torch.eye(6, dtype=torch.float64)[1:])


def test_entries_of_one_parameter_share_its_place() -> None:
    asked = task("colour[2]", "colour[0]")
    assert asked.moving == ("colour",)
    assert rows(asked).tolist() == [[0, 0, 1], [1, 0, 0]]


def test_scales_multiply_the_directions_of_their_parameter() -> None:
    asked = task("radius", "centre", normalise={"centre": 4.0})
    assert torch.equal(rows(asked), torch.diag(torch.tensor([1.0, 4.0, 4.0], dtype=torch.float64)))


def test_a_mixture_is_a_single_direction() -> None:
    asked = task(direction={"radius": 2.0, "centre[1]": -1})
    assert asked.subject.shapes == ((),)
    assert asked.moving == ("radius", "centre")
    assert rows(asked).tolist() == [[2.0, 0.0, -1.0]]


def test_an_image_alone_has_no_direction() -> None:
    assert not task().subject
    assert task().tangents == len(task().directions) == 0


@pytest.mark.parametrize("which", [slice(0, 2), slice(1, 3)])
def test_a_gradient_gives_what_the_rows_would(which: slice) -> None:
    asked = task("colour[2]", "radius", "centre[0]", normalise={"centre": 3.0})
    gradient = torch.arange(24, dtype=torch.float64).reshape(6, 2, 2)
    directions = asked.directions
    written = directions.rows(which, torch.device("cpu"), torch.float64)
    expected = torch.einsum("kn,nab->kab", written, gradient)
    assert torch.equal(directions.applied(gradient, which), expected)
    assert torch.equal(
        directions.combined(torch.tensor([1.0, 10.0, 100.0])),
        torch.tensor([1.0, 10.0, 100.0], dtype=torch.float64)
        @ directions.rows(slice(None), torch.device("cpu"), torch.float64),
    )


def test_an_entry_that_is_no_number_spoils_no_other() -> None:
    asked = task("radius", "centre", normalise={"centre": 3.0})
    gradient = torch.ones(3, 1, 1)
    gradient[0] = torch.nan
    applied = asked.directions.applied(gradient, slice(0, 3))
    assert applied.isnan().flatten().tolist() == [True, False, False]
