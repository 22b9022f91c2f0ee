"""One tile: a renderer at some positions, as a function of the parameters that move."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from app.engine.evaluate import evaluate
from renderers import Frame, Loaded, Param, Pixels


@dataclass(frozen=True, slots=True, eq=False)
class Tile:
    """A renderer at some positions, as a function of the parameters that move.

    These stand one after another in one vector, each in C order: a direction may move several.

    Attributes:
        loaded: the renderer on its device.
        where: the positions, or the window of a frame.
        params: every parameter, on the device, in the renderer's dtype.
        moving: names of the parameters that move.
        seed: seed of a random renderer.
        keep: the rows of a window that are wanted, where the rest is its halo.
    """

    loaded: Loaded
    where: Pixels | Frame
    params: Mapping[str, Tensor]
    moving: tuple[str, ...]
    seed: int = 0
    keep: slice | None = None

    @property
    def value(self) -> Float[Tensor, " size"]:
        """The value at which the derivative is taken: all that moves as one vector."""
        parts = [self.params[name].reshape(-1) for name in self.moving]
        if len(parts) == 1:
            return parts[0]
        return torch.cat(parts) if parts else torch.zeros(0, device=self.loaded.device)

    def entries(self) -> Iterator[tuple[str, Param, slice]]:
        """Each parameter that moves with its declaration, and where it stands in the vector."""
        start = 0
        for name in self.moving:
            stop = start + self.params[name].numel()
            yield name, self.loaded.spec.params[name], slice(start, stop)
            start = stop

    def named(self, vector: Float[Tensor, " size"]) -> dict[str, Tensor]:
        """A vector as parameters of their own shapes."""
        if len(self.moving) == 1:
            return {self.moving[0]: vector.view(self.params[self.moving[0]].shape)}
        return {
            name: vector[part].view(self.params[name].shape) for name, _, part in self.entries()
        }

    def within(self, value: Float[Tensor, " size"]) -> Bool[Tensor, " size"]:
        """Which entries of a value lie within their bounds."""
        parts = [
            (value[part] >= _or(declared.low, -torch.inf))
            & (value[part] <= _or(declared.high, torch.inf))
            for _, declared, part in self.entries()
        ]
        return torch.cat(parts)

    @property
    def bounded(self) -> bool:
        """Whether any entry has a bound."""
        return any(p.low is not None or p.high is not None for _, p, _ in self.entries())

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape `(*pixels,)` of what is asked."""
        where = self.where
        if isinstance(where, Pixels):
            return tuple(where.shape)
        rows = range(where.start, where.stop)
        return (len(rows if self.keep is None else rows[self.keep]), where.width)

    def part(self, which: slice | Tensor) -> "Tile":
        """Some of the positions of a pixel renderer."""
        assert isinstance(self.where, Pixels)  # noqa: S101 - a window of rows has no parts
        where = replace(self.where, x=self.where.x[which], y=self.where.y[which])
        return replace(self, where=where)

    def precise(self) -> "Tile":
        """The same tile in float64, where the renderer can be loaded so; itself otherwise."""
        if self.loaded.dtype is torch.float64:
            return self
        try:
            loaded = self.loaded.load_as(torch.float64)
        except Exception:  # noqa: BLE001 - whatever a renderer's own set-up says
            return self
        params = {name: value.to(torch.float64) for name, value in self.params.items()}
        return replace(self, loaded=loaded, params=params, where=self.where.to(torch.float64))

    def __call__(self, value: Float[Tensor, " size"]) -> Float[Tensor, "*pixels channels"]:
        """The image `(*pixels, channels)` with the parameters that move at `value`."""
        image = self.at(self.where, value)
        return image if self.keep is None else image[self.keep]

    def at(
        self, where: Pixels | Frame, value: Float[Tensor, " size"]
    ) -> Float[Tensor, "*pixels channels"]:
        """The image at other positions."""
        return evaluate(self.loaded, where, {**self.params, **self.named(value)}, self.seed)


def _or(bound: float | None, otherwise: float) -> float:
    return otherwise if bound is None else bound


Vectors = Float[Tensor, "n size"]
"""Directions in the space of the parameters that move."""
Image = Float[Tensor, "*pixels channels"]
"""A tile's image."""
Planes = tuple[Float[Tensor, "size *pixels"], ...]
"""For each channel, its derivative by every entry of the parameters that move."""
Tangents = Float[Tensor, "n *pixels channels"]
"""A tile's derivative along each direction, `(n, *image.shape)`."""
