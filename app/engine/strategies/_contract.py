"""What a strategy is: one way to get the derivative of a tile."""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

Render = Callable[[Tensor], Tensor]
"""A tile as a function of the differentiated parameter: its shape to `(*pixels, channels)`."""

Differentiate = Callable[[Render, Tensor, Tensor], tuple[Tensor, Tensor]]
"""`render, value, directions (tangents, *value.shape)` to the image and its tangents
`(tangents, *image.shape)`."""


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
