"""One question to the engine: which maps of which frame, at which parameter values."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate

import torch
from torch import Tensor

from app.engine.directions import Directions
from renderers import Subject, Wrt

NOTHING = Subject()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Task:
    """What is to be computed.

    Attributes:
        params: every parameter of the renderer, bound and checked, float64 on the CPU.
        subject: what maps are taken of; nothing for the primal image alone.
        width: width of the frame in pixels.
        height: height of the frame in pixels.
        seed: seed of a random renderer.
        strategy: name of the strategy, or `auto`.
        certify: whether the maps are to be compared with differences.
        stride: every so many rows and columns of the frame are computed, from the first on.
    """

    params: Mapping[str, Tensor]
    subject: Subject = NOTHING
    width: int
    height: int
    seed: int = 0
    strategy: str = "auto"
    certify: bool = True
    stride: int = 1

    @property
    def rows(self) -> int:
        """How many rows are computed."""
        return -(-self.height // self.stride)

    @property
    def columns(self) -> int:
        """How many columns are computed."""
        return -(-self.width // self.stride)

    @property
    def moving(self) -> tuple[str, ...]:
        """Names of the parameters that move, each once."""
        return self.subject.moving

    @property
    def tangents(self) -> int:
        """How many directions are pushed through the renderer."""
        return self.subject.size

    @property
    def certified(self) -> bool:
        """Whether there is a map, and it is to be certified."""
        return self.certify and bool(self.subject)

    @property
    def directions(self) -> Directions:
        """The directions of all maps, those of one after those of another."""
        subject, moving = self.subject, self.moving
        sizes = [self.params[name].numel() for name in moving]
        if subject.direction:
            parts = [subject.direction[name].reshape(-1) for name in moving]
            return Directions.written(torch.cat(parts)[None])
        starts = dict(zip(moving, accumulate(sizes, initial=0), strict=False))
        entries = [starts[each.name] + self._entries(each) for each in subject.wrt]
        scales = [
            torch.full((each.size,), subject.scales.get(each.name, 1.0), dtype=torch.float64)
            for each in subject.wrt
        ]
        none = torch.zeros(0, dtype=torch.int64)
        return Directions(
            sum(sizes), torch.cat([none, *entries]), torch.cat([none.double(), *scales])
        )

    def _entries(self, wrt: Wrt) -> Tensor:
        """Which entries of its parameter a map tells of, counted in C order."""
        shape = self.params[wrt.name].shape
        return torch.arange(shape.numel()).reshape(shape)[wrt.index].reshape(-1)
