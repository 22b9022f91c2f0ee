"""One question to the engine: which map of which frame, at which parameter values."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from renderers import Wrt


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Task:
    """What is to be computed.

    Attributes:
        params: every parameter of the renderer, bound and checked, float64 on the CPU.
        wrt: what is differentiated against, or None for the primal image alone.
        width: width of the frame in pixels.
        height: height of the frame in pixels.
        seed: seed of a random renderer.
        strategy: name of the strategy, or `auto`.
        certify: whether the map is to be compared with differences.
    """

    params: Mapping[str, Tensor]
    wrt: Wrt | None
    width: int
    height: int
    seed: int = 0
    strategy: str = "auto"
    certify: bool = True

    @property
    def tangents(self) -> int:
        """How many directions are pushed through the renderer."""
        return self.wrt.size if self.wrt else 0

    @property
    def certified(self) -> bool:
        """Whether there is a map, and it is to be certified."""
        return self.certify and self.wrt is not None

    def directions(self, device: torch.device, dtype: torch.dtype) -> Float[Tensor, "n *entries"]:
        """The unit directions of what is differentiated, shape `(tangents, *parameter.shape)`."""
        if self.wrt is None:
            return torch.zeros((0,), device=device, dtype=dtype)
        shape = self.params[self.wrt.name].shape
        positions = torch.arange(shape.numel()).reshape(shape)[self.wrt.index].reshape(-1)
        basis = torch.zeros((len(positions), shape.numel()), dtype=dtype)
        basis[torch.arange(len(positions)), positions] = 1.0
        return basis.reshape(len(positions), *shape).to(device)
