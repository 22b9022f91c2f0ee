import json
import math

import numpy as np
import pytest

from app.compute import Output, Work
from app.compute.kinds.maps import Frame, subject_of, work
from app.compute.segment import Segment
from renderers import ParameterError, Subject, parse_subject
from renderers.disc import disc

SPEC = disc.spec


def asked(*wrt: str, second: str = "", **frame: object) -> Work:
    given = Frame(**{"width": 5, "height": 3, **frame})  # type: ignore[arg-type]
    subject = parse_subject(SPEC.params, wrt=wrt) if wrt else Subject()
    return work(SPEC, given, subject, second=second)


def test_work_crosses_to_another_process_unchanged() -> None:
    sent = asked("colour", "radius", seed=2**63 - 1, params={"colour": [1, 0.1, 1e-300]})
    assert Work.from_json(json.loads(json.dumps(sent.to_json()))) == sent


def test_what_maps_are_of_crosses_as_well() -> None:
    subject = parse_subject(SPEC.params, wrt=["centre[1]", "radius"], normalise={"radius": 2})
    sent = work(SPEC, Frame(width=1, height=1), subject)
    back = subject_of(Work.from_json(json.loads(json.dumps(sent.to_json()))), SPEC)
    assert (back.names, back.shapes, back.scales) == (
        ("centre[1]", "radius"),
        ((), ()),
        {"radius": 2},
    )


def test_a_direction_crosses_as_well() -> None:
    subject = parse_subject(SPEC.params, direction={"colour[1]": -0.1, "radius": 3})
    sent = work(SPEC, Frame(width=1, height=1), subject)
    back = subject_of(Work.from_json(json.loads(json.dumps(sent.to_json()))), SPEC)
    assert back.names == ("direction",)
    assert {name: moved.tolist() for name, moved in back.direction.items()} == {
        "colour": [0, -0.1, 0],
        "radius": 3,
    }


def test_a_map_has_the_shape_of_the_image_and_of_what_it_is_of() -> None:
    shapes = {output.name: output.shape for output in asked("colour", "radius").outputs}
    assert shapes == {"image": (3, 5, 3), "colour": (3, 5, 3, 3), "radius": (3, 5, 3)}


@pytest.mark.parametrize(("dtype", "size"), [("float32", 4), ("float64", 8)])
@pytest.mark.parametrize("width", [1, 5, 16, 17])
def test_outputs_fill_their_memory_without_touching(width: int, dtype: str, size: int) -> None:
    sent = asked("colour", "radius", width=width, dtype=dtype)
    segment = Segment.create(sent.total_bytes)
    arrays = sent.arrays(segment.memory)
    for number, array in enumerate(arrays.values()):
        assert array.dtype == np.dtype(dtype)
        assert array.ctypes.data % 64 == 0
        array[...] = number
    for number, (array, output) in enumerate(zip(arrays.values(), sent.outputs, strict=True)):
        assert (array == number).all()
        assert 0 <= output.bytes - size * math.prod(output.shape) < 64
    assert sent.total_bytes == sum(output.bytes for output in sent.outputs)
    segment.close_descriptor()


def test_outputs_may_have_dtypes_of_their_own() -> None:
    sent = Work(kind="map", renderer="disc", outputs=(
        Output("labels", (3, 3), "int16"), Output("image", (3, 3, 1), "float32"),
    ))  # fmt: skip
    segment = Segment.create(sent.total_bytes)
    assert {name: str(array.dtype) for name, array in sent.arrays(segment.memory).items()} == {
        "labels": "int16",
        "image": "float32",
    }
    segment.close_descriptor()


def test_an_image_alone_has_no_map() -> None:
    assert [output.name for output in asked().outputs] == ["image"]


def test_a_second_derivative_is_of_one_number() -> None:
    assert asked("radius", second="centre[1]").asked["second"] == "centre[1]"
    with pytest.raises(ParameterError, match=r"shape \[2\].*centre\[0\]") as refused:
        asked("radius", second="centre")
    assert refused.value.field == "second"
