"""Regions of a frame as plain data, and back."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from app.engine.errors import RegionError
from app.engine.regions import MEAN, Area, Mask, Points, Rectangle, Region
from renderers import suggestion

CORNERS = ("x0", "y0", "x1", "y1")
AREAS = (("x", "y"), CORNERS, ("points",), ("mask",))
OPTIONS = ("weights", "name", "weight", "channel", "reduce")
FORMS = (
    '{"x": 10, "y": 20}, {"x0": 0, "y0": 0, "x1": 8, "y1": 8}, {"points": [[10, 20]], '
    '"weights": [1]} or {"mask": [[0, 1], [1, 0]]}'
)


def regions_of(asked: Sequence[Any]) -> list[Region]:
    """Regions out of plain data.

    Args:
        asked: each a pixel, a rectangle without its last column and row, points or a mask, with
            `name`, `weight`, `channel` and `reduce` where they are not at their defaults.

    Raises:
        RegionError: one is none of these.
    """
    found: list[Region] = []
    for number, each in enumerate(asked, 1):
        try:
            found.append(_region(each))
        except RegionError as error:
            raise RegionError(f"region {number}: {error}", code=error.code) from None
    return found


def _region(asked: Any) -> Region:
    if not isinstance(asked, Mapping):
        raise RegionError(f"A region is an object, such as {FORMS}.")
    known = [*(key for area in AREAS for key in area), *OPTIONS]
    for key in asked:
        if key not in known:
            raise RegionError(
                "A region has no such field." + suggestion(str(key)[:64], known),
                code="unknown_field",
            )
    name, channel, reduce = (asked.get(key, "") for key in ("name", "channel", "reduce"))
    if not (isinstance(name, str) and len(name) <= 200 and isinstance(reduce, str)):
        raise RegionError("`name` is a text of at most 200 letters, and `reduce` mean or sum.")
    if isinstance(channel, bool) or not isinstance(channel, int | str) or len(str(channel)) > 64:
        raise RegionError("`channel` is a name or an index.", code="unknown_channel")
    return Region(
        area=_area(asked),
        name=name,
        weight=_number(asked.get("weight", 1.0), "weight"),
        channel=MEAN if channel == "" else channel,
        reduce=reduce or MEAN,
    )


def _area(asked: Mapping[str, Any]) -> Area:
    given = [area for area in AREAS if any(key in asked for key in area)]
    if len(given) != 1 or not all(key in asked for key in given[0]):
        raise RegionError(f"A region is one of {FORMS}.")
    (keys,) = given
    if "weights" in asked and keys != ("points",):
        raise RegionError("`weights` are for `points`; a mask holds its own.")
    if keys == ("points",):
        return _points(asked["points"], asked.get("weights", ()))
    if keys == ("mask",):
        return Mask(_mask(asked["mask"]))
    numbers = [_whole(asked[key], key) for key in keys]
    return Rectangle(*numbers) if keys == CORNERS else Points(((numbers[0], numbers[1]),))


def _points(at: Any, weights: Any) -> Points:
    if not isinstance(at, list | tuple) or not isinstance(weights, list | tuple):
        raise RegionError("`points` are [[x, y], ...], and `weights` a number for each.")
    for each in at:
        if not isinstance(each, list | tuple) or len(each) != 2:
            raise RegionError("`points` are [[x, y], ...]; one of them is no pair.")
    return Points(
        tuple((_whole(x, "x"), _whole(y, "y")) for x, y in at),
        tuple(_number(weight, "weights") for weight in weights),
    )


def _mask(rows: Any) -> torch.Tensor:
    lists = isinstance(rows, list | tuple) and all(isinstance(row, list | tuple) for row in rows)
    if not lists or len({len(row) for row in rows}) != 1:
        raise RegionError(
            "A mask is a list of rows of numbers, all of one length.", code="mask_size"
        )
    numbers = [
        [float(each) if isinstance(each, bool) else _number(each, "mask") for each in row]
        for row in rows
    ]
    return torch.tensor(numbers, dtype=torch.float64)


def _number(value: Any, name: str) -> float:
    """A finite number that sums of many stay finite of."""
    good = isinstance(value, int | float) and not isinstance(value, bool)
    if not good or not abs(value) <= 1e290 or not math.isfinite(value):
        raise RegionError(f"`{name}` holds finite numbers.", code="invalid_weights")
    return float(value)


def _whole(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > 1 << 40:
        raise RegionError(f"`{name}` is a whole number of pixels.", code="invalid_region")
    return value
