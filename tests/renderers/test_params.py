import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from renderers import DeclarationError, Param, ParameterError, param, parse_value, parse_wrt

SCALAR: Param = param(0.5, low=0.0, high=1.0, unit="m")
VECTOR: Param = param((0.1, 0.2, 0.3))
MATRIX: Param = param(torch.zeros(2, 3))
PARAMS = {"radius": SCALAR, "light": VECTOR, "matrix": MATRIX}


def test_a_value_becomes_a_tensor_of_the_declared_shape() -> None:
    assert torch.equal(SCALAR.check("radius", 1), torch.tensor(1.0, dtype=torch.float64))
    assert MATRIX.check("matrix", [[1, 2, 3], [4, 5, 6]]).tolist() == [[1, 2, 3], [4, 5, 6]]


@pytest.mark.parametrize(
    ("declared", "value", "code"),
    [
        (SCALAR, True, "not_a_number"),
        (SCALAR, "0.5", "not_a_number"),
        (SCALAR, None, "not_a_number"),
        (SCALAR, [0.5], "not_a_number"),
        (SCALAR, {"a": 1}, "not_a_number"),
        (SCALAR, math.nan, "not_finite"),
        (SCALAR, math.inf, "not_finite"),
        (SCALAR, 10**400, "not_finite"),
        (SCALAR, 1.5, "out_of_range"),
        (SCALAR, -0.1, "out_of_range"),
        (VECTOR, 1.0, "invalid_shape"),
        (VECTOR, [1, 2], "invalid_shape"),
        (VECTOR, [1, 2, 3, 4], "invalid_shape"),
        (VECTOR, [1, 2, [3]], "invalid_shape"),
        (VECTOR, [1, 2, "3"], "invalid_shape"),
        (VECTOR, "123", "invalid_shape"),
        (MATRIX, [[1, 2, 3]], "invalid_shape"),
        (MATRIX, [[1, 2, 3], [1, 2]], "invalid_shape"),
    ],
)
def test_what_the_declaration_does_not_allow_is_refused(
    declared: Param, value: object, code: str
) -> None:
    with pytest.raises(ParameterError) as caught:
        declared.check("p", value)
    assert caught.value.code == code
    assert caught.value.field == "params.p"


def test_a_refusal_names_what_is_allowed_with_its_unit() -> None:
    with pytest.raises(ParameterError, match=r"between 0 and 1 m; got 1\.5"):
        SCALAR.check("radius", 1.5)


@pytest.mark.parametrize(
    "declare",
    [
        lambda: param(2.0, high=1.0),
        lambda: param(0.5, low=1.0, high=0.0),
        lambda: param(math.nan),
        lambda: param([1.0, [2.0]]),
        lambda: param([]),
        lambda: param(1.0, low=math.inf),
    ],
)
def test_a_declaration_that_cannot_work_is_refused(declare: object) -> None:
    with pytest.raises(DeclarationError):
        declare()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("text", "index", "shape"),
    [
        ("radius", (), ()),
        ("light", (), (3,)),
        ("light[2]", (2,), ()),
        ("matrix[1]", (1,), (3,)),
        ("matrix[1,2]", (1, 2), ()),
        ("matrix[1][2]", (1, 2), ()),
    ],
)
def test_wrt_names_a_parameter_or_an_entry(
    text: str, index: tuple[int, ...], shape: tuple[int, ...]
) -> None:
    wrt = parse_wrt(text, PARAMS)
    assert (wrt.index, wrt.shape) == (index, shape)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("radus", "unknown_parameter"),
        ("", "unknown_parameter"),
        ("light[", "unknown_parameter"),
        ("light[-1]", "unknown_parameter"),
        ("light[3]", "unknown_entry"),
        ("radius[0]", "unknown_entry"),
        ("matrix[0,0,0]", "unknown_entry"),
        ("light[99999999999999999999]", "unknown_entry"),
        ("\ud800", "unknown_parameter"),
    ],
)
def test_wrt_that_there_is_not_is_refused(text: str, code: str) -> None:
    with pytest.raises(ParameterError) as caught:
        parse_wrt(text, PARAMS)
    assert caught.value.code == code


def test_labels_name_each_entry_in_c_order() -> None:
    assert parse_wrt("radius", PARAMS).labels() == ["radius"]
    assert parse_wrt("matrix[1]", PARAMS).labels() == ["matrix[1,0]", "matrix[1,1]", "matrix[1,2]"]
    assert parse_wrt("matrix", PARAMS).labels()[3] == "matrix[1,0]"


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_as_text_is_read_back(number: float) -> None:
    assert parse_value("x", repr(number)) == number


@pytest.mark.parametrize("text", ["nan", "inf", "1_000", "0x10", "", "one", "1,,2", "[1,", "١"])
def test_text_that_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(ParameterError):
        parse_value("x", text)


def test_a_description_gives_the_declaration_back() -> None:
    again = Param.from_description(MATRIX.describe())
    assert torch.equal(again.default, MATRIX.default)
    assert (again.low, again.high, again.unit) == (MATRIX.low, MATRIX.high, MATRIX.unit)
