"""Noise models: how much a pixel's value is to be believed, the `W` of `J^T W J`.

Noise is independent between pixels and between channels. A weight is one over the variance, in one
over the image's unit squared; a value of weight zero is not believed at all.

Each model says whether it is `complete`, that is, whether every value has a weight above zero, and
by which `finding` it is told that values of weight zero move; empty where that is meant.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from app.engine.information.errors import NoiseError

# Beyond these, a square is beyond float64.
SMALLEST, LARGEST = 1e-150, 1e150

Values = Float[Tensor, "rows columns channels"]
"""A part of a frame, in float64."""
Part = tuple[slice, slice]
"""Which rows and columns of the frame it is."""


@dataclass(frozen=True, slots=True)
class Gaussian:
    """The same normal noise at every value: `F = J^T J / sigma^2`.

    Attributes:
        sigma: its standard deviation, in the image's unit.

    Raises:
        NoiseError: it is no positive number.
    """

    sigma: float
    complete: ClassVar[bool] = True
    finding: ClassVar[str] = ""

    def __post_init__(self) -> None:
        """Check it."""
        _check_positive("sigma", self.sigma)

    def fit(self, shape: tuple[int, int, int]) -> None:
        """It is a model of every frame."""

    def weights(self, image: Values, where: Part) -> Values:  # noqa: ARG002
        """One over the variance."""
        return torch.full_like(image, self.sigma**-2)

    def describe(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {"kind": "gaussian", "sigma": self.sigma}


@dataclass(frozen=True, slots=True)
class Poisson:
    """Counted photons: a value `I` stands for a mean of `photons * I + background` of them.

    Their variance is their mean, so a value of `I` has weight `photons^2 / (photons I +
    background)`. (Kay, Fundamentals of Statistical Signal Processing I, section 3.9; this is exact
    for Poisson noise.) A camera's read noise of `r` electrons is well told by a background of
    `r^2` more (Huang et al., Nature Methods 10, 653, 2013).

    Where no photon is expected, or less than none, a value has weight zero: were it believed, one
    photon there would tell everything, and the bound would be zero. Where the image moves there, a
    finding says so.

    Attributes:
        photons: mean number of photons in a value of 1.
        background: mean number of photons in every value that are not the image's.

    Raises:
        NoiseError: `photons` is no positive number, or `background` a negative one.
    """

    photons: float = 1.0
    background: float = 0.0
    complete: ClassVar[bool] = False
    finding: ClassVar[str] = "no_light"

    def __post_init__(self) -> None:
        """Check it."""
        _check_positive("photons", self.photons)
        if not 0 <= self.background < LARGEST:
            raise NoiseError(
                f"`background` must be a number of photons, 0 or more; got {self.background:g}."
            )

    def fit(self, shape: tuple[int, int, int]) -> None:
        """It is a model of every frame."""

    def weights(self, image: Values, where: Part) -> Values:  # noqa: ARG002
        """One over the variance; zero where no photon is expected, NaN where the image is none."""
        mean = self.photons * image + self.background
        lit = (mean > 0) & mean.isfinite()
        # Zero times what is no finite number is NaN, and zero times any other is zero.
        return torch.where(lit, self.photons**2 / mean, 0.0 * mean)

    def describe(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {"kind": "poisson", "photons": self.photons, "background": self.background}


@dataclass(frozen=True, slots=True, eq=False)
class Variance:
    """Normal noise of a known variance at every pixel.

    Attributes:
        image: the variance, `(height, width)` or `(height, width, channels)`, in the image's unit
            squared. Infinite where a pixel is not to be used.

    Raises:
        NoiseError: it is no image, or some of it is not positive.
    """

    image: Float[Tensor, "..."]
    complete: ClassVar[bool] = False
    finding: ClassVar[str] = ""

    def __post_init__(self) -> None:
        """Check it."""
        if self.image.ndim not in (2, 3):
            raise NoiseError(
                "The variance must be an image, (height, width) or (height, width, channels); "
                f"got shape {list(self.image.shape)}."
            )
        # Compared so that NaN counts among them.
        bad = int((~(self.image > SMALLEST)).sum())
        if bad:
            raise NoiseError(
                f"The variance must be positive everywhere; {bad} of its {self.image.numel()} "
                "values are zero, negative or NaN. Give infinity where a pixel is not to be used."
            )

    def fit(self, shape: tuple[int, int, int]) -> None:
        """Raise NoiseError where the variance is of another size than the frame."""
        if tuple(self.image.shape) not in (shape, shape[:2]):
            height, width, channels = shape
            raise NoiseError(
                f"The variance must have shape [{height}, {width}] or [{height}, {width}, "
                f"{channels}], as the image; got {list(self.image.shape)}."
            )

    def weights(self, image: Values, where: Part) -> Values:
        """One over the variance; zero where it is infinite."""
        part = self.image[where].to(image)
        return (1.0 / (part if part.ndim == 3 else part[..., None])).expand_as(image)

    def describe(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {"kind": "variance"}


Noise = Gaussian | Poisson | Variance
"""A noise model."""


def _check_positive(name: str, value: float) -> None:
    if not SMALLEST < value < LARGEST:
        raise NoiseError(f"`{name}` must be a positive number; got {value:g}.")
