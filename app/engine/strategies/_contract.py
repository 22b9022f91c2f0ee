"""What a strategy is: one way to get the derivative of a tile."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from app.engine.evaluate import evaluate
from renderers import Frame, Loaded, Pixels


@dataclass(frozen=True, slots=True, eq=False)
class Tile:
    """A renderer at some positions, as a function of the differentiated parameter.

    Attributes:
        loaded: the renderer on its device.
        where: the positions, or the window of a frame.
        params: every parameter, on the device, in the renderer's dtype.
        wrt: name of the parameter that is differentiated against.
        seed: seed of a random renderer.
    """

    loaded: Loaded
    where: Pixels | Frame
    params: Mapping[str, Tensor]
    wrt: str
    seed: int = 0

    @property
    def value(self) -> Tensor:
        """The value at which the derivative is taken."""
        return self.params[self.wrt]

    def __call__(self, value: Tensor) -> Float[Tensor, "*pixels channels"]:
        """The image `(*pixels, channels)` with the differentiated parameter at `value`."""
        return self.at(self.where, value)

    def at(self, where: Pixels | Frame, value: Tensor) -> Float[Tensor, "*pixels channels"]:
        """The image at other positions."""
        return evaluate(self.loaded, where, {**self.params, self.wrt: value}, self.seed)


Directions = Float[Tensor, "n *entries"]
"""Directions in parameter space, `(n, *value.shape)`."""
Image = Float[Tensor, "*pixels channels"]
"""A tile's image."""
Tangents = Float[Tensor, "n *pixels channels"]
"""A tile's derivative along each direction, `(n, *image.shape)`."""
Differentiate = Callable[[Tile, Directions], tuple[Image, Tangents]]


@dataclass(frozen=True, slots=True)
class Strategy:
    """One way to get a derivative.

    Attributes:
        name: how it is asked for, and how answers name it.
        help: what it does, in one line.
        differentiate: the computation.
    """

    name: str
    help: str
    differentiate: Differentiate
