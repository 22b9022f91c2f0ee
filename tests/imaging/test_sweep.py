import numpy as np
import pytest

from app.imaging import InvalidMapError, InvalidStyleError, MapData, Maps, Motion, Sweep
from app.imaging.lettering import MINUS
from app.imaging.sweep import written


def _frame(name: str = "r", **fields: object) -> Maps:
    return Maps((MapData(**{"values": np.ones((2, 3, 1)), "name": name} | fields),))


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ((0.5, 0.7), ("0.5", "0.7")),
        (tuple(np.linspace(0.3, 0.9, 13)), tuple(f"{0.3 + 0.05 * i:.2f}" for i in range(13))),
        (tuple(np.linspace(0, 1, 4)), ("0.00", "0.33", "0.67", "1.00")),
        ((-1.0, 0.0, 1.0), (f"{MINUS}1", "0", "1")),
        ((-0.0, 1.0), ("0", "1")),
        ((0.7,), ("0.7",)),
        ((0.0,), ("0",)),
        ((2.0, 2.0), ("2", "2")),
        ((1e-9, 2e-9), (f"1e{MINUS}09", f"2e{MINUS}09")),
        ((1e12, 2e12), ("1e+12", "2e+12")),
        ((1.0, 1.0 + 1e-9), ("1.000000000e+00", "1.000000001e+00")),
    ],
)
def test_values_are_written_with_just_enough_decimals(
    values: tuple[float, ...], texts: tuple[str, ...]
) -> None:
    assert written(values) == texts


def test_a_frame_says_where_it_is() -> None:
    sweep = Sweep(frames=(_frame(), _frame()), parameter="radius", values=(0.5, 1), unit="m")
    assert sweep.lines == ("radius = 0.5 m", "radius = 1.0 m")
    plain = Sweep(frames=(_frame(),), parameter="light[2]", values=(2,))
    assert plain.lines == ("light[2] = 2",)


@pytest.mark.parametrize(
    ("frames", "values"),
    [
        ((), ()),
        ((_frame(),), (1.0, 2.0)),
        ((_frame(),), (np.nan,)),
        ((_frame(), _frame("s")), (1.0, 2.0)),
        ((_frame(), _frame(values=np.ones((2, 4, 1)))), (1.0, 2.0)),
        ((_frame(), _frame(values=np.ones((2, 3, 1), "f4"))), (1.0, 2.0)),
        ((_frame(), _frame(channels="y")), (1.0, 2.0)),
        ((_frame(), _frame(image=np.ones((2, 3, 1)))), (1.0, 2.0)),
        ((_frame(unit="per m"), _frame(unit="per s")), (1.0, 2.0)),
    ],
    ids=["none", "values", "nan", "name", "size", "type", "channels", "image", "unit"],
)
def test_frames_that_are_no_sweep_are_refused(
    frames: tuple[Maps, ...], values: tuple[float, ...]
) -> None:
    with pytest.raises(InvalidMapError) as caught:
        Sweep(frames=frames, parameter="r", values=values)
    assert caught.value.code == "invalid_map"


@pytest.mark.parametrize(
    ("frames", "order"),
    [(1, (0,)), (2, (0, 1)), (3, (0, 1, 2, 1)), (5, (0, 1, 2, 3, 4, 3, 2, 1))],
)
def test_a_boomerang_comes_back_without_standing_still(frames: int, order: tuple[int, ...]) -> None:
    assert Motion(boomerang=True).order(frames) == order
    assert Motion().order(frames) == tuple(range(frames))


@pytest.mark.parametrize(
    "fields",
    [{"milliseconds": 19}, {"milliseconds": 60_001}, {"loop": -1}, {"loop": 65_536}],
)
def test_a_motion_that_no_file_can_hold_is_refused(fields: dict[str, int]) -> None:
    with pytest.raises(InvalidStyleError) as caught:
        Motion(**fields)
    assert caught.value.code == "invalid_style"
