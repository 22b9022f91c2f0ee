import json
import math

import numpy as np
import pytest

from app.compute import Work
from app.compute.segment import Segment


def work(**fields: object) -> Work:
    given = {"renderer": "disc", "params": {"radius": 0.7}, "wrt": "colour", "width": 5,
             "height": 3, "channels": 3, "wrt_shape": (3,), "dtype": "float32"}  # fmt: skip
    return Work(**{**given, **fields})  # type: ignore[arg-type]


def test_work_crosses_to_another_process_unchanged() -> None:
    sent = work(seed=2**63 - 1, strategy="forward", params={"colour": [1, 0.1, 1e-300]})
    assert Work.from_json(json.loads(json.dumps(sent.to_json()))) == sent


def test_a_map_has_the_shape_of_the_image_and_of_what_it_is_of() -> None:
    assert work().values_shape == (3, 5, 3, 3)
    assert work(wrt_shape=()).values_shape == (3, 5, 3)


@pytest.mark.parametrize(("dtype", "size"), [("float32", 4), ("float64", 8)])
@pytest.mark.parametrize("width", [1, 5, 16, 17])
def test_image_and_map_fill_their_memory_without_touching(
    width: int, dtype: str, size: int
) -> None:
    asked = work(width=width, dtype=dtype)
    segment = Segment.create(asked.total_bytes)
    image, values = asked.arrays(segment)
    assert values is not None
    assert image.dtype == values.dtype == np.dtype(dtype)
    assert values.ctypes.data % 64 == image.ctypes.data % 64 == 0
    image[...], values[...] = 1, 2
    assert (image == 1).all()
    assert (values == 2).all()
    assert asked.total_bytes - asked.image_bytes == size * math.prod(asked.values_shape)
    assert 0 <= asked.image_bytes - size * math.prod(asked.image_shape) < 64
    segment.close_descriptor()


def test_an_image_alone_has_no_map() -> None:
    asked = work(wrt="", wrt_shape=())
    assert asked.total_bytes == asked.image_bytes
    segment = Segment.create(asked.total_bytes)
    assert asked.arrays(segment)[1] is None
    segment.close_descriptor()
