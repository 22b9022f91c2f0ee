"""A part of an image, with the weights that lie in it."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from app.engine.evaluate import evaluate
from app.engine.frame import Band, at_pixels, window
from app.engine.probing.asked import Asked, Weights
from renderers import Frame, Pixels


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A part of the image, with the weights that lie in it.

    Attributes:
        weights: of the functionals.
        band: the rows, of a renderer that is asked for rows.
        pixels: the pixels in order, of one that is asked for pixels.
    """

    weights: Weights
    band: Band
    pixels: Int[Tensor, " pixels"] | None

    def count(self, asked: Asked) -> int:
        """How many pixels are asked for."""
        return self.band.rows * asked.width if self.pixels is None else len(self.pixels)

    def position(self, asked: Asked) -> Int[Tensor, " weights"]:
        """Where in the piece's image each weight stands."""
        index = self.weights.index
        if self.pixels is None:
            return index - self.band.start * asked.width
        return torch.searchsorted(self.pixels, index)

    def image(self, asked: Asked, params: Mapping[str, Tensor]) -> Float[Tensor, "pixels channels"]:
        """The piece of the image, one pixel after another."""
        where, keep = self.asked_for(asked)
        image = evaluate(asked.loaded, where, params, asked.seed)
        return image if self.pixels is not None else image[keep].flatten(0, 1)

    def asked_for(self, asked: Asked) -> tuple[Pixels | Frame, slice]:
        """What the renderer is asked for, and which rows of its answer are wanted."""
        loaded = asked.loaded
        if self.pixels is None:
            rows = window(
                loaded.spec, asked.width, asked.height, self.band, loaded.device, loaded.dtype
            )
            return rows.where, rows.keep
        row, column = self.pixels // asked.width, self.pixels % asked.width
        where = at_pixels(row, column, asked.width, asked.height, loaded.device, loaded.dtype)
        return where, slice(None)

    def sums(
        self, asked: Asked, image: Tensor, *, size: bool = False
    ) -> Float[Tensor, "*n functionals"]:
        """The part of each functional that lies in the piece.

        Args:
            asked: the functionals.
            image: the piece of an image, or `(n, pixels, channels)` tangents of it.
            size: whether absolute values are summed, with the sizes of the weights.

        Returns:
            float64, `(functionals,)`, or `(n, functionals)` of tangents.
        """
        device = image.device
        region, value = self.weights.region.to(device), self.weights.value.to(device)
        channels = asked.channels
        picked = image.index_select(-2, self.position(asked).to(device)).to(torch.float64)
        if size:
            picked, value, channels = picked.abs(), value.abs(), channels.abs()
        factors = value[:, None] * channels[region]
        # A channel that does not count may be no number.
        each = torch.where(factors != 0, picked * factors, 0.0).sum(-1)
        zeros = each.new_zeros((*each.shape[:-1], len(asked.regions)))
        return zeros.index_add(-1, region, each)

    def cotangents(
        self, asked: Asked, image: Tensor
    ) -> Float[Tensor, "functionals pixels channels"]:
        """The weights as an image for each functional."""
        device = image.device
        region, value = self.weights.region.to(device), self.weights.value.to(device)
        position, count = self.position(asked).to(device), len(image)
        flat = torch.zeros(len(asked.regions) * count, dtype=torch.float64, device=device)
        flat.index_add_(0, region * count + position, value)
        weights = flat.reshape(len(asked.regions), count, 1) * asked.channels[:, None]
        return weights.to(image.dtype)

    def halves(self, asked: Asked) -> "tuple[Piece, Piece] | None":
        """The piece cut in two; None where there is nothing to cut."""
        if self.pixels is not None:
            if len(self.pixels) < 2:
                return None
            first, second = self.pixels.tensor_split(2)
            low = self.weights.index < second[0]
            return (
                Piece(self.weights.where(low), self.band, first),
                Piece(self.weights.where(~low), self.band, second),
            )
        if asked.whole or self.band.rows < 2:
            return None
        middle = self.band.start + self.band.rows // 2
        low = self.weights.index < middle * asked.width
        return (
            Piece(self.weights.where(low), Band(self.band.start, middle), None),
            Piece(self.weights.where(~low), Band(middle, self.band.stop), None),
        )
