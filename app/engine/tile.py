"""One tile: a renderer at some positions, as a function of the differentiated parameter."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from app.engine.evaluate import evaluate
from renderers import Frame, Loaded, Param, Pixels


@dataclass(frozen=True, slots=True, eq=False)
class Tile:
    """A renderer at some positions, as a function of the differentiated parameter.

    Attributes:
        loaded: the renderer on its device.
        where: the positions, or the window of a frame.
        params: every parameter, on the device, in the renderer's dtype.
        wrt: name of the parameter that is differentiated against.
        seed: seed of a random renderer.
        keep: the rows of a window that are wanted, where the rest is its halo.
    """

    loaded: Loaded
    where: Pixels | Frame
    params: Mapping[str, Tensor]
    wrt: str
    seed: int = 0
    keep: slice | None = None

    @property
    def value(self) -> Tensor:
        """The value at which the derivative is taken."""
        return self.params[self.wrt]

    @property
    def declared(self) -> Param:
        """The declaration of the parameter."""
        return self.loaded.spec.params[self.wrt]

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

    def __call__(self, value: Tensor) -> Float[Tensor, "*pixels channels"]:
        """The image `(*pixels, channels)` with the differentiated parameter at `value`."""
        image = self.at(self.where, value)
        return image if self.keep is None else image[self.keep]

    def at(self, where: Pixels | Frame, value: Tensor) -> Float[Tensor, "*pixels channels"]:
        """The image at other positions."""
        return evaluate(self.loaded, where, {**self.params, self.wrt: value}, self.seed)


Directions = Float[Tensor, "n *entries"]
"""Directions in parameter space, `(n, *value.shape)`."""
Image = Float[Tensor, "*pixels channels"]
"""A tile's image."""
Tangents = Float[Tensor, "n *pixels channels"]
"""A tile's derivative along each direction, `(n, *image.shape)`."""
