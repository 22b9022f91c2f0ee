"""What every peer is asked for: the derivative of one picture, at one size, at its defaults."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from app.engine import Task
from renderers import Frame, Loaded, Pixels, parse_subject

Whole = Callable[[], Tensor]
"""Computes a map once; shape `(side, side, channels, *value.shape)`."""


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A renderer as a function of one parameter, on a square frame.

    Attributes:
        loaded: the renderer on its device.
        wrt: the parameter that is differentiated against.
        side: rows and columns.
        first: how many of its entries, from the first; all of it where None.
    """

    loaded: Loaded
    wrt: str
    side: int
    first: int | None = None

    @property
    def name(self) -> str:
        """The renderer's name."""
        return self.loaded.spec.name

    @property
    def task(self) -> Task:
        """The same, as the engine is asked for it."""
        spec = self.loaded.spec
        entries = range(self.first or 0)
        wrt = [f"{self.wrt}[{i}]" for i in entries] or [self.wrt]
        subject = parse_subject(spec.params, wrt=wrt)
        return Task(
            params=spec.bind({}), subject=subject, width=self.side, height=self.side, certify=False
        )

    @property
    def params(self) -> dict[str, Tensor]:
        """The defaults on the device."""
        place = {"device": self.loaded.device, "dtype": self.loaded.dtype}
        return {name: value.to(**place) for name, value in self.loaded.spec.bind({}).items()}

    @property
    def value(self) -> Tensor:
        """What is differentiated against."""
        value = self.params[self.wrt]
        return value if self.first is None else value[: self.first]

    def pixels(self) -> Pixels:
        """Every position of the frame."""
        side = self.side
        return Frame(side, side, 0, side, self.loaded.device, self.loaded.dtype).pixels()

    def render(self) -> Callable[[Tensor], Tensor]:
        """The whole image as a function of the parameter, as a user of torch has it."""
        pixels, params, rest = self.pixels(), self.params, self.params[self.wrt]

        def image(value: Tensor) -> Tensor:
            if self.first is not None:
                value = torch.cat([value, rest[self.first :]])
            return self.loaded(pixels, {**params, self.wrt: value})

        return image

    def at(self, side: int) -> "Picture":
        """The same at another size."""
        return replace(self, side=side)
