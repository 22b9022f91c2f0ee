from typing import Any

import pytest
import torch

from renderers import Param, ParameterError, parse_subject, split_wrt

PARAMS = {
    "radius": Param(torch.tensor(0.5), 0.0, 2.0, "mm"),
    "light": Param(torch.zeros(3), -1.0, 1.0),
    "grid": Param(torch.zeros(2, 2)),
}


def test_one_parameter_is_one_map() -> None:
    subject = parse_subject(PARAMS, wrt="light")
    assert (subject.names, subject.shapes, subject.size) == (("light",), ((3,),), 3)
    assert bool(subject)


def test_a_list_is_a_map_for_each_in_its_order() -> None:
    subject = parse_subject(PARAMS, wrt=["grid[1]", "radius", "light[2]"])
    assert subject.names == ("grid[1]", "radius", "light[2]")
    assert subject.shapes == ((2,), (), ())
    assert subject.moving == ("grid", "radius", "light")
    assert subject.units() == ("", "per mm", "")


def test_a_star_is_every_parameter() -> None:
    assert parse_subject(PARAMS, wrt="*").names == tuple(PARAMS)


def test_ranges_normalise() -> None:
    subject = parse_subject(PARAMS, wrt=["radius", "light"], normalise=True)
    assert subject.scales == {"radius": 2.0, "light": 2.0}
    assert set(subject.units()) == {"per range of the parameter"}
    scaled = parse_subject(PARAMS, wrt=["radius", "light"], normalise={"radius": 2, "light": 0.5})
    assert scaled.units() == ("per 2 mm", "per 0.5")


def test_a_direction_is_one_map_of_a_mixture() -> None:
    subject = parse_subject(PARAMS, direction={"radius": -2, "grid[0,1]": 0.5, "light": [0, 0, 0]})
    assert (subject.names, subject.shapes, subject.size) == (("direction",), ((),), 1)
    assert subject.moving == ("radius", "grid")
    assert subject.direction["grid"].tolist() == [[0, 0.5], [0, 0]]


@pytest.mark.parametrize(
    ("asked", "code", "field", "words"),
    [
        ({}, "missing_wrt", "wrt", "radius, light, grid"),
        ({"wrt": ""}, "missing_wrt", "wrt", "radius"),
        ({"wrt": []}, "missing_wrt", "wrt", "radius"),
        ({"wrt": ["radius", "radus"]}, "unknown_parameter", "wrt", "radius"),
        ({"wrt": ["radius", "radius"]}, "repeated_wrt", "wrt", "radius"),
        ({"wrt": "light[3]"}, "unknown_entry", "wrt", "3"),
        ({"wrt": "radius", "direction": {"radius": 1}}, "wrt_and_direction", "direction", "both"),
        ({"direction": {}}, "empty_direction", "direction", "move"),
        ({"direction": {"light": [0, 0, 0]}}, "empty_direction", "direction", "move"),
        ({"direction": {"light": 1}}, "invalid_shape", "direction", "light"),
        ({"direction": {"light": [1, 2]}}, "invalid_shape", "direction", "list of 2"),
        ({"direction": {"radius": float("nan")}}, "not_finite", "direction", "finite"),
        ({"direction": {"radius": 1e300}}, "out_of_range", "direction", "1e.18"),
        ({"direction": {"light": [1, 1e-300, 0]}}, "out_of_range", "direction", "1e-18"),
        ({"wrt": "radius", "normalise": {"radius": 1e-30}}, "out_of_range", "normalise", "1e-18"),
        ({"direction": {"radius": True}}, "not_a_number", "direction", "boolean"),
        ({"direction": {"radus": 1}}, "unknown_parameter", "direction", "radius"),
        ({"direction": {"light[0]": 1, "light": [1, 0, 0]}}, "repeated_wrt", "direction", "light"),
        ({"direction": {"radius": 1}, "normalise": True}, "wrt_and_direction", "normalise", "wrt"),
        ({"wrt": "grid", "normalise": True}, "no_range", "normalise", "finite"),
        ({"wrt": "radius", "normalise": {"light": 1}}, "unknown_parameter", "normalise", "light"),
        ({"wrt": "radius", "normalise": {"radius": 0}}, "out_of_range", "normalise", "positive"),
        ({"wrt": "radius", "normalise": {"radius": "1"}}, "out_of_range", "normalise", "positive"),
    ],
)
def test_what_is_no_subject_is_refused(
    asked: dict[str, Any], code: str, field: str, words: str
) -> None:
    with pytest.raises(ParameterError, match=words) as refused:
        parse_subject(PARAMS, **asked)
    assert (refused.value.code, refused.value.field) == (code, field)


def test_commas_inside_an_index_part_nothing() -> None:
    assert split_wrt("radius, grid[0,1],light") == ["radius", "grid[0,1]", "light"]
