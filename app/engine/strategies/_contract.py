"""What a strategy is: one way to get the derivative of a tile."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from torch import Tensor

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

    def __call__(self, value: Tensor) -> Tensor:
        """The image `(*pixels, channels)` with the differentiated parameter at `value`."""
        return self.at(self.where, value)

    def at(self, where: Pixels | Frame, value: Tensor) -> Tensor:
        """The image at other positions."""
        return self.loaded(where, {**self.params, self.wrt: value}, self.seed)


Differentiate = Callable[[Tile, Tensor], tuple[Tensor, Tensor]]
"""`tile, directions (n, *value.shape)` to the image and its tangents `(n, *image.shape)`."""


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
