"""What maps are taken of: parameters and entries, or one direction through several of them."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import torch
from torch import Tensor

from renderers._errors import ParameterError, suggestion
from renderers._params import Param, Wrt, parse_wrt

# All parameters, each with a map of its own.
EVERY = "*"
MIXTURE = "direction"
# Of a direction and of a scale: beyond these, float32 has no products left.
SMALLEST, LARGEST = 1e-18, 1e18


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """What maps are taken of; nothing, where the primal image alone is wanted.

    Attributes:
        wrt: what is differentiated against, a map for each.
        direction: instead, the direction of a single map: by parameter, how far each of its entries
            moves, of the parameter's shape, float64.
        scales: by parameter, the change of it that a map tells of: the map is multiplied by it.
        ranged: whether the scales are the parameters' ranges.
    """

    wrt: tuple[Wrt, ...] = ()
    direction: Mapping[str, Tensor] = field(default_factory=dict)
    scales: Mapping[str, float] = field(default_factory=dict)
    ranged: bool = False

    def __bool__(self) -> bool:
        """Whether there is any map."""
        return bool(self.wrt or self.direction)

    @property
    def moving(self) -> tuple[str, ...]:
        """Names of the parameters that move, each once."""
        return tuple(dict.fromkeys(self.direction or (each.name for each in self.wrt)))

    @property
    def names(self) -> tuple[str, ...]:
        """A name for each map, as it is asked for."""
        return (MIXTURE,) if self.direction else tuple(map(str, self.wrt))

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Of each map, the shape behind the image's."""
        return ((),) if self.direction else tuple(each.shape for each in self.wrt)

    @property
    def size(self) -> int:
        """How many derivatives a pixel has in all maps together."""
        return sum(math.prod(shape) for shape in self.shapes)

    def units(self) -> tuple[str, ...]:
        """What each map is measured in, such as `per mm`; empty for a pure number."""
        if self.direction:
            return ("per unit of the direction",)
        return tuple(self._unit(each) for each in self.wrt)

    def _unit(self, wrt: Wrt) -> str:
        if self.ranged:
            return "per range of the parameter"
        scale = self.scales.get(wrt.name)
        if scale is None:
            return f"per {wrt.unit}" if wrt.unit else ""
        return f"per {scale:g} {wrt.unit}".rstrip()

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "wrt": [str(each) for each in self.wrt],
            "direction": {name: moved.tolist() for name, moved in self.direction.items()},
            "scales": dict(self.scales),
            "ranged": self.ranged,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], params: Mapping[str, Param]) -> Self:
        """The subject back from plain data."""
        return cls(
            tuple(parse_wrt(each, params) for each in data["wrt"]),
            {name: torch.tensor(moved, dtype=torch.float64)
             for name, moved in data["direction"].items()},
            dict(data["scales"]),
            data["ranged"],
        )  # fmt: skip


def parse_subject(
    params: Mapping[str, Param],
    *,
    wrt: str | Sequence[str] = (),
    direction: Mapping[str, Any] | None = None,
    normalise: bool | Mapping[str, Any] = False,
) -> Subject:
    """Read what maps are wanted against the declared parameters.

    Args:
        params: the declared parameters.
        wrt: a parameter, an entry, a list of such, or `*` for all parameters.
        direction: instead, how far each parameter moves: a value of its shape by its name, or a
            number by the name of an entry.
        normalise: whether maps are multiplied by the range of their parameter, so that those of
            different units can be compared; or by what, by parameter.

    Raises:
        ParameterError: an unknown name or entry, one given twice, both or neither of `wrt` and
            `direction`, a value of another shape, or a scale that is none.
    """
    asked = [wrt] if isinstance(wrt, str) and wrt else list(wrt)
    if direction is not None:
        if asked:
            raise _wrong("Give `wrt` or `direction`, not both.", "direction", "wrt_and_direction")
        if normalise:
            message = (
                "A direction says itself how far each parameter moves; `normalise` is for `wrt`."
            )
            raise _wrong(message, "normalise", "wrt_and_direction")
        return Subject(direction=_mixture(params, direction))
    if not asked:
        raise _wrong(
            f"Say what is differentiated against. {_choices(params)}", "wrt", "missing_wrt"
        )
    names = list(params) if asked == [EVERY] else asked
    found = tuple(parse_wrt(each, params) for each in names)
    twice = {str(each) for each in found if [*map(str, found)].count(str(each)) > 1}
    if twice:
        raise _wrong(f"{min(twice)!r} is given twice.", "wrt", "repeated_wrt")
    subject = Subject(found)
    scales = _scales(params, subject.moving, normalise)
    return Subject(found, scales=scales, ranged=normalise is True)


def split_wrt(text: str) -> list[str]:
    """Names with commas between, as in an address; those inside an index stay."""
    return [part.strip() for part in re.split(r",(?![^\[]*\])", text)]


def _choices(params: Mapping[str, Param]) -> str:
    return f"Choices: {', '.join(params)}; {EVERY!r} for all."


def _mixture(params: Mapping[str, Param], direction: Mapping[str, Any]) -> dict[str, Tensor]:
    found: dict[str, Tensor] = {}
    for text, value in direction.items():
        wrt = parse_wrt(text, params, field="direction")
        # Checked as a value is, but for the bounds: a direction may point anywhere.
        shape_of = Param(torch.zeros(wrt.shape, dtype=torch.float64))
        try:
            moved = shape_of.check(text, value)
        except ParameterError as error:
            raise ParameterError(str(error), code=error.code, field="direction") from error
        whole = found.setdefault(wrt.name, torch.zeros(params[wrt.name].shape, dtype=torch.float64))
        if bool(whole[wrt.index].any()):
            raise _wrong(f"{text!r} is given twice.", "direction", "repeated_wrt")
        sizes = moved[moved != 0].abs()
        if sizes.numel() and not SMALLEST <= float(sizes.min()) <= float(sizes.max()) <= LARGEST:
            message = f"{text!r} must move by {SMALLEST:g} to {LARGEST:g}, or by 0."
            raise _wrong(message, "direction", "out_of_range")
        whole[wrt.index] = moved
    if not any(bool(moved.any()) for moved in found.values()):
        raise _wrong("A direction must move something.", "direction", "empty_direction")
    return {name: moved for name, moved in found.items() if bool(moved.any())}


def _scales(
    params: Mapping[str, Param], moving: Sequence[str], normalise: bool | Mapping[str, Any]
) -> dict[str, float]:
    if isinstance(normalise, bool):
        return {name: _range(name, params[name]) for name in moving} if normalise else {}
    for name, scale in normalise.items():
        if name not in moving:
            message = f"There is no map of {name[:64]!r} to scale." + suggestion(name[:64], moving)
            raise _wrong(message, "normalise", "unknown_parameter")
        number = isinstance(scale, int | float) and not isinstance(scale, bool)
        if not number or not SMALLEST <= scale <= LARGEST:
            message = (
                f"The scale of {name!r} must be a positive number, {SMALLEST:g} to {LARGEST:g}."
            )
            raise _wrong(message, "normalise", "out_of_range")
    return {name: float(scale) for name, scale in normalise.items()}


def _range(name: str, declared: Param) -> float:
    if declared.low is None or declared.high is None:
        raise _wrong(
            f"Parameter {name!r} has no range to normalise by: it is {declared.range_text()}. Give "
            f"its scale, such as {{{name!r}: 1.0}}.",
            "normalise",
            "no_range",
        )
    return declared.high - declared.low


def _wrong(message: str, field_: str, code: str) -> ParameterError:
    return ParameterError(message, code=code, field=field_)
