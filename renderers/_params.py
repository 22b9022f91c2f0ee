"""Parameters: what a renderer declares of its inputs, and the checking of values against it."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from renderers._errors import DeclarationError, ParameterError, suggestion

NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
WRT = re.compile(r"(?P<name>[A-Za-z][A-Za-z0-9_]*)(?P<index>(?:\[[0-9, ]+\])*)")


@dataclass(frozen=True, slots=True, eq=False)
class Param:
    """One declared input of a renderer: a scalar, a vector or a tensor of real numbers.

    Attributes:
        default: value when none is given, float64 on the CPU; its shape is the parameter's.
        low: smallest value allowed of any entry, or None.
        high: largest value allowed of any entry, or None.
        unit: unit of the values, as a reader would write it; empty for a pure number.
        help: what the parameter does, in one line.
    """

    default: Tensor
    low: float | None = None
    high: float | None = None
    unit: str = ""
    help: str = ""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the parameter; empty for a scalar."""
        return tuple(self.default.shape)

    def check(self, name: str, value: object) -> Tensor:
        """The value as a float64 tensor of the parameter's shape.

        Raises:
            ParameterError: not a number, not finite, out of bounds, or of another shape.
        """
        field = f"params.{name}"
        numbers: list[float] = []
        _collect(value, self.shape, numbers, name=name, whole=self.shape)
        for number in numbers:
            if not math.isfinite(number):
                raise ParameterError(
                    f"Parameter {name!r} must be finite; got a NaN or an infinity.",
                    code="not_finite",
                    field=field,
                )
            if self._outside(number):
                raise ParameterError(
                    f"Parameter {name!r} must be {self.range_text()}; got {number:.9g}.",
                    code="out_of_range",
                    field=field,
                )
        return torch.tensor(numbers, dtype=torch.float64).reshape(self.shape)

    def allows(self, value: Tensor) -> bool:
        """Whether every entry lies within the bounds."""
        above = self.low is None or bool((value >= self.low).all())
        return above and (self.high is None or bool((value <= self.high).all()))

    def range_text(self) -> str:
        """The allowed range in words, with its unit."""
        unit = f" {self.unit}" if self.unit else ""
        if self.low is not None and self.high is not None:
            return f"between {self.low:g} and {self.high:g}{unit}"
        if self.low is not None:
            return f"at least {self.low:g}{unit}"
        return f"at most {self.high:g}{unit}" if self.high is not None else f"finite{unit}"

    def _outside(self, number: float) -> bool:
        return (self.low is not None and number < self.low) or (
            self.high is not None and number > self.high
        )

    def describe(self) -> dict[str, Any]:
        """The declaration as plain data, for JSON."""
        return {
            "shape": list(self.shape),
            "default": self.default.tolist(),
            "low": self.low,
            "high": self.high,
            "unit": self.unit,
            "help": self.help,
        }

    @classmethod
    def from_description(cls, data: Mapping[str, Any]) -> "Param":
        """The declaration back from `describe`."""
        default = torch.tensor(data["default"], dtype=torch.float64).reshape(data["shape"])
        return cls(default, data["low"], data["high"], data["unit"], data["help"])


def param(
    default: float | Sequence[Any] | Tensor,
    *,
    low: float | None = None,
    high: float | None = None,
    unit: str = "",
    help: str = "",
) -> Any:
    """Declare a parameter as the default value of a render function's argument.

    Args:
        default: a number, nested numbers, or a tensor; its shape is the parameter's shape.
        low: smallest value allowed of any entry.
        high: largest value allowed of any entry.
        unit: unit of the values; empty for a pure number.
        help: what the parameter does, in one line.

    Raises:
        DeclarationError: bounds that exclude each other or the default, or a default that is not
            a regular array of finite numbers.
    """
    try:
        tensor = torch.as_tensor(default, dtype=torch.float64).detach().cpu().clone()
    except (TypeError, ValueError, RuntimeError) as error:
        raise DeclarationError(
            "A parameter's default must be a regular array of numbers."
        ) from error
    declared = Param(tensor, _bound(low), _bound(high), unit, help)
    if tensor.numel() == 0 or not bool(torch.isfinite(tensor).all()):
        raise DeclarationError("A parameter's default must hold finite numbers, at least one.")
    if declared.low is not None and declared.high is not None and declared.low >= declared.high:
        raise DeclarationError(f"Bounds must be in order; got low={low} and high={high}.")
    if any(declared._outside(number) for number in tensor.flatten().tolist()):
        raise DeclarationError(f"The default {default} is not {declared.range_text()}.")
    return declared


def _bound(value: float | None) -> float | None:
    if value is not None and not math.isfinite(value):
        raise DeclarationError("A bound must be finite; leave it out where there is none.")
    return None if value is None else float(value)


def _collect(
    value: object, shape: tuple[int, ...], into: list[float], *, name: str, whole: tuple[int, ...]
) -> None:
    """Append the numbers of a nested list in C order; its nesting is bounded by the shape's."""
    if not shape:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise _mismatch(name, whole, value)
        # An integer of thousands of digits is out of any range; float() would raise on it.
        into.append(math.inf if abs(value) > 1e308 else float(value))
        return
    if not isinstance(value, list | tuple) or len(value) != shape[0]:
        raise _mismatch(name, whole, value)
    for item in value:
        _collect(item, shape[1:], into, name=name, whole=whole)


def _mismatch(name: str, shape: tuple[int, ...], value: object) -> ParameterError:
    words = {bool: "a boolean", str: "a string", dict: "an object", type(None): "null"}
    if isinstance(value, list | tuple):
        got = f"a list of {len(value)}"
    else:
        got = words.get(type(value), "a number" if isinstance(value, int | float) else "no number")
    wanted = f"numbers of shape {list(shape)}" if shape else "a number"
    return ParameterError(
        f"Parameter {name!r} must be {wanted}; got {got}.",
        code="invalid_shape" if shape else "not_a_number",
        field=f"params.{name}",
    )


@dataclass(frozen=True, slots=True)
class Wrt:
    """What is differentiated against: a parameter, or an entry of one.

    Attributes:
        name: the parameter.
        index: position of the entry, or empty for the whole parameter.
        shape: shape of what is differentiated; empty for a scalar or an entry.
        unit: unit of the parameter.
    """

    name: str
    index: tuple[int, ...]
    shape: tuple[int, ...]
    unit: str = ""

    def __str__(self) -> str:
        """The way it is asked for: `light` or `light[2]`."""
        return self.name + (f"[{','.join(map(str, self.index))}]" if self.index else "")

    @property
    def size(self) -> int:
        """How many numbers are differentiated against: the tangents that one map needs."""
        return math.prod(self.shape)

    def labels(self) -> list[str]:
        """One label an entry, in C order."""
        if not self.shape:
            return [str(self)]
        return [
            f"{self.name}[{','.join(map(str, (*self.index, *position)))}]"
            for position in torch.cartesian_prod(*map(torch.arange, self.shape))
            .reshape(self.size, -1)
            .tolist()
        ]


def parse_wrt(text: str, params: Mapping[str, Param], *, field: str = "wrt") -> Wrt:
    """Read `name`, `name[i]` or `name[i,j]` against the declared parameters.

    Raises:
        ParameterError: an unknown parameter, or an entry that it does not have.
    """
    match = WRT.fullmatch(text)
    name = match["name"] if match else text
    if match is None or name not in params:
        shown = name if NAME.fullmatch(name) else "that"
        raise ParameterError(
            f"There is no parameter {shown!r}." + suggestion(name, params),
            code="unknown_parameter",
            field=field,
        )
    shape = params[name].shape
    index = tuple(int(digits[:9]) for digits in re.findall(r"[0-9]+", match["index"]))
    if len(index) > len(shape) or any(i >= n for i, n in zip(index, shape, strict=False)):
        allowed = f"entries of shape {list(shape)}" if shape else "no entries: it is a scalar"
        raise ParameterError(
            f"Parameter {name!r} has {allowed}; got index {list(index)}.",
            code="unknown_entry",
            field=field,
        )
    return Wrt(name, index, shape[len(index) :], params[name].unit)


def parse_value(name: str, text: str) -> Any:
    """Read a value as it stands in an address or on a command line.

    A number, numbers with commas between them, or nested lists as in JSON.

    Raises:
        ParameterError: it is none of these.
    """
    if text.startswith("["):
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise _no_number(name) from error
    numbers = [_number(name, part.strip()) for part in text.split(",")]
    return numbers if len(numbers) > 1 else numbers[0]


def _number(name: str, text: str) -> int | float:
    if len(text) > 64 or not NUMBER.fullmatch(text):
        raise _no_number(name)
    return int(text) if text.isdigit() else float(text)


def _no_number(name: str) -> ParameterError:
    return ParameterError(
        f"{name!r} wants a number, or numbers with commas between.",
        code="not_a_number",
        field=name,
    )
