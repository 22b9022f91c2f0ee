"""Regions of a frame: which pixels a probe looks at, and with which weights.

A pixel is `(x, y)`: x counts columns to the right, y counts rows from the top, both from 0.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from app.engine.errors import RegionError
from renderers import Spec, suggestion

Part = tuple[Int[Tensor, " pixels"], Float[Tensor, " pixels"]]
"""Some pixels as `row * width + column`, in order of rows, and their weights in float64."""

MEAN, SUM, EACH = "mean", "sum", "each"


@dataclass(frozen=True, slots=True)
class Points:
    """Some pixels.

    Attributes:
        at: each `(x, y)`; one that stands there twice counts twice.
        weights: one a pixel; all 1 where there are none.
    """

    at: tuple[tuple[int, int], ...]
    weights: tuple[float, ...] = ()

    def check(self, width: int, height: int) -> None:
        """Refuse what is no pixel of the frame."""
        _some(len(self.at), "No pixel is named.")
        for x, y in self.at:
            if not (0 <= x < width and 0 <= y < height):
                raise _outside(f"Pixel ({x}, {y})", width, height)
        if self.weights and len(self.weights) != len(self.at):
            raise RegionError(
                f"There must be a weight for each pixel: {len(self.at)} pixels, but "
                f"{len(self.weights)} weights.",
                code="weights_mismatch",
            )

    def rows(self, height: int) -> Int[Tensor, " height"]:
        """How many pixels lie in each row of the frame."""
        return torch.bincount(torch.tensor([y for _, y in self.at]), minlength=height)

    def within(self, start: int, stop: int, width: int) -> Part:
        """The pixels in rows `start` to `stop`."""
        x, y = torch.tensor(self.at).unbind(1)
        weights = torch.tensor(self.weights or [1.0] * len(self.at), dtype=torch.float64)
        index, order = (y * width + x).sort(stable=True)
        some = (start * width <= index) & (index < stop * width)
        return index[some], weights[order][some]

    def total(self) -> float:
        """The sum of the weights."""
        return math.fsum(self.weights or [1.0] * len(self.at))


@dataclass(frozen=True, slots=True)
class Rectangle:
    """Columns `x0` to `x1` and rows `y0` to `y1`, the last ones left out."""

    x0: int
    y0: int
    x1: int
    y1: int

    def check(self, width: int, height: int) -> None:
        """Refuse a rectangle without pixels, or one that leaves the frame."""
        area = (self.x1 - self.x0, self.y1 - self.y0)
        shown = f"Rectangle x {self.x0} to {self.x1}, y {self.y0} to {self.y1}"
        _some(min(area), f"{shown} holds no pixel: the last column and row are left out.")
        if self.x0 < 0 or self.y0 < 0 or self.x1 > width or self.y1 > height:
            raise _outside(shown, width, height)

    def rows(self, height: int) -> Int[Tensor, " height"]:
        """How many pixels lie in each row of the frame."""
        counts = torch.zeros(height, dtype=torch.int64)
        counts[self.y0 : self.y1] = self.x1 - self.x0
        return counts

    def within(self, start: int, stop: int, width: int) -> Part:
        """The pixels in rows `start` to `stop`."""
        first = max(start, self.y0)
        rows = torch.arange(first, max(first, min(stop, self.y1)))
        index = (rows[:, None] * width + torch.arange(self.x0, self.x1)).flatten()
        return index, torch.ones(len(index), dtype=torch.float64)

    def total(self) -> float:
        """The sum of the weights."""
        return float((self.x1 - self.x0) * (self.y1 - self.y0))


@dataclass(frozen=True, slots=True, eq=False)
class Mask:
    """A weight for each pixel of the frame, `(height, width)`; those at 0 or False are left out."""

    weights: Tensor

    def check(self, width: int, height: int) -> None:
        """Refuse a mask of another size, without pixels, or with weights that are no numbers."""
        if tuple(self.weights.shape) != (height, width):
            raise RegionError(
                f"A mask has the shape of the frame, [height, width] = [{height}, {width}]; got "
                f"{list(self.weights.shape)}.",
                code="mask_size",
            )
        if self.weights.is_complex():
            raise RegionError("A mask's weights must be real numbers.", code="invalid_weights")
        _some(int(self.weights.count_nonzero()), "The mask is zero everywhere.")

    def rows(self, height: int) -> Int[Tensor, " height"]:  # noqa: ARG002 - it has the frame's
        """How many pixels lie in each row of the frame."""
        return self.weights.count_nonzero(dim=1).cpu()

    def within(self, start: int, stop: int, width: int) -> Part:
        """The pixels in rows `start` to `stop`."""
        part = self.weights[start:stop].cpu().flatten()
        some = part.nonzero()[:, 0]
        return some + start * width, part[some].to(torch.float64)

    def total(self) -> float:
        """The sum of the weights."""
        return float(self.weights.sum(dtype=torch.float64))


Area = Points | Rectangle | Mask


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Region:
    """One number about an image: the weighted mean, or sum, of some of its pixels.

    With `w` the weights of the area and `c` those of the channels, it is
    `weight * sum(w c image) / sum(w)`, or the same without the division for a sum.

    Attributes:
        area: the pixels.
        name: how the answer calls it; `region 1` and so on where there is none.
        weight: a factor of the whole.
        channel: the mean over channels, their `sum`, one by name or index, or `each` by itself.
        reduce: `mean` over the area's pixels, or `sum`.
    """

    area: Area
    name: str = ""
    weight: float = 1.0
    channel: str | int = MEAN
    reduce: str = MEAN


@dataclass(frozen=True, slots=True, eq=False)
class Weighted:
    """A region that has been checked against a frame.

    Attributes:
        name: how the answer calls it.
        area: the pixels.
        factor: what each weight of the area is multiplied by.
        channels: weight of each channel.
    """

    name: str
    area: Area
    factor: float
    channels: tuple[float, ...]


def weighted(
    regions: Sequence[Region], spec: Spec, width: int, height: int
) -> tuple[Weighted, ...]:
    """Regions checked against a frame; one that asks for each channel becomes several.

    Raises:
        RegionError: there is none, or one is empty, leaves the frame, has weights that do not
            match, or asks for a channel that there is not.
    """
    _some(len(regions), "No region is named.")
    found: list[Weighted] = []
    for number, region in enumerate(regions, 1):
        name = region.name or f"region {number}"
        try:
            region.area.check(width, height)
            factor = _factor(region)
            for label, channels in _channels(region.channel, spec.channels):
                found.append(Weighted(name + label, region.area, factor, channels))
        except RegionError as error:
            raise RegionError(f"{name}: {error}", code=error.code) from None
    names = [each.name for each in found]
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise RegionError(f"Two regions are called {twice!r}.", code="region_named_twice")
    return tuple(found)


def _factor(region: Region) -> float:
    total = region.area.total()
    if not (math.isfinite(region.weight) and math.isfinite(total)):
        raise RegionError("Weights must be finite numbers.", code="invalid_weights")
    if region.reduce == SUM:
        return region.weight
    if region.reduce != MEAN:
        raise RegionError(f"`reduce` is `mean` or `sum`; got {region.reduce!r}.")
    if total == 0:
        raise RegionError(
            "The weights sum to zero, and there is no mean: ask for `sum`.", code="invalid_weights"
        )
    return region.weight / total


def _channels(asked: str | int, names: tuple[str, ...]) -> list[tuple[str, tuple[float, ...]]]:
    """What is added to the region's name, and the weight of each channel."""
    count = len(names)
    ones = [tuple(float(i == j) for i in range(count)) for j in range(count)]
    if asked == MEAN:
        return [("", (1.0 / count,) * count)]
    if asked == SUM:
        return [("", (1.0,) * count)]
    if asked == EACH:
        return [(f", {name}", one) for name, one in zip(names, ones, strict=True)]
    if isinstance(asked, str) and asked in names:
        return [("", ones[names.index(asked)])]
    if isinstance(asked, int) and not isinstance(asked, bool) and 0 <= asked < count:
        return [("", ones[asked])]
    choices = (*names, MEAN, SUM, EACH)
    raise RegionError(
        f"There is no channel {asked!r}; an index is below {count}."
        + suggestion(str(asked), choices),
        code="unknown_channel",
    )


def _some(count: int, message: str) -> None:
    if count <= 0:
        raise RegionError(message, code="empty_region")


def _outside(what: str, width: int, height: int) -> RegionError:
    return RegionError(
        f"{what} lies outside of the frame, which is {width} wide and {height} high: the output is "
        "smaller than the probe names.",
        code="outside_frame",
    )
