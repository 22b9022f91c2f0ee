"""What is asked: some linear functionals of an image, as functions of the parameters.

A functional is a weighted sum over few or many pixels and the channels. The image is never held
whole where it need not be: it is asked for piece by piece, and the sums add up.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from app.engine.regions import Weighted
from app.engine.standing import undivided
from renderers import Loaded

Values = Float[Tensor, " functionals"]
"""One number for each functional, in float64."""


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """The weights of several functionals on some pixels, without the zeros.

    Attributes:
        index: the pixel of each weight, `row * width + column`.
        region: the functional of each.
        value: the weight, float64.
    """

    index: Int[Tensor, " weights"]
    region: Int[Tensor, " weights"]
    value: Float[Tensor, " weights"]

    def where(self, some: Tensor) -> "Weights":
        """Some of the weights."""
        return Weights(self.index[some], self.region[some], self.value[some])


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """The functionals, and the renderer that they are asked of.

    Attributes:
        loaded: the renderer on its device.
        params: every parameter, on the device, in the renderer's dtype.
        regions: the functionals.
        width: width of the frame in pixels.
        height: height of the frame in pixels.
        seed: seed of a random renderer.
        budget: bytes of working memory.
        sample: the only weights that count, where not all do.
    """

    loaded: Loaded
    params: Mapping[str, Tensor]
    regions: tuple[Weighted, ...]
    width: int
    height: int
    seed: int
    budget: int
    sample: Weights | None = None

    @property
    def scattered(self) -> bool:
        """Whether the renderer can be asked for single pixels."""
        return self.loaded.spec.kind == "pixel" and not self.whole

    @property
    def whole(self) -> bool:
        """Whether the renderer must be asked for its whole frame."""
        return self.loaded.spec.halo is None

    @property
    def channels(self) -> Float[Tensor, "functionals channels"]:
        """The weights of the channels, float64, on the device."""
        weights = torch.tensor([r.channels for r in self.regions], dtype=torch.float64)
        return weights.to(self.loaded.device)

    def undivided(self) -> "Asked":
        """The same of a renderer that must be whole."""
        return replace(self, loaded=undivided(self.loaded))

    def only(self, first: int, count: int) -> "Asked":
        """Some of the functionals."""
        regions, sample = self.regions[first : first + count], self.sample
        if sample is not None:
            kept = sample.where((first <= sample.region) & (sample.region < first + count))
            sample = replace(kept, region=kept.region - first)
        return replace(self, regions=regions, sample=sample)

    def rows(self) -> Int[Tensor, " height"]:
        """How many weights lie in each row of the frame."""
        if self.sample is not None:
            return torch.bincount(self.sample.index // self.width, minlength=self.height)
        return torch.stack([each.area.rows(self.height) for each in self.regions]).sum(0)
