"""The Fisher matrix `J^T W J` of a frame, summed tile by tile: the Jacobian is never held."""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from app.engine.information.answer import Information, analyse
from app.engine.information.errors import TooManyParametersError
from app.engine.information.maps import Maps
from app.engine.information.noise import Noise, Part
from app.engine.information.sums import Sums
from app.engine.information.totals import Totals

# Float64 values of a tile's derivatives that are held at once: 2 MiB, which caches hold.
BLOCK_VALUES = 1 << 18
# Its Fisher matrix has a million entries, and is taken apart in about a second.
MOST_PARAMETERS = 1024
# Rounding of a derivative, in units of its dtype's eps: some dozen operations.
ROUNDING = 32.0


class Accumulator:
    """Sums the information of tiles, in float64, on the device that the tiles are on.

    A pixel is left out as a whole where its image or one of its derivatives is NaN or infinite (or
    its square beyond float64): the matrix stays that of a set of pixels, and so has no negative
    eigenvalue.

    Args:
        labels: names of the parameters, one for each scalar.
        noise: how much each value is to be believed.
        shape: `(height, width, channels)` of the frame.
        scales: the amount of each parameter that counts as 1 where they are compared, such as its
            range; 1 each when not given. Neither bounds nor correlations depend on them.
        maps: where maps of the information go.
        accuracy: relative error of the derivatives; that of rounding in their dtype when not given.
        device: where tiles are.

    Raises:
        NoiseError: the noise model is none of such a frame.
        TooManyParametersError: there are more parameters than a Fisher matrix is made for.
        ValueError: no parameter, two of one name, scales that are not one positive number each,
            maps of another size, or an accuracy that is none.
    """

    def __init__(
        self,
        labels: Sequence[str],
        noise: Noise,
        shape: tuple[int, int, int],
        *,
        scales: Sequence[float] | None = None,
        maps: Maps | None = None,
        accuracy: float | None = None,
        device: torch.device | str = "cpu",
    ) -> None:
        self.labels = tuple(labels)
        self.scales = tuple(map(float, [1.0] * len(self.labels) if scales is None else scales))
        _check(self.labels, self.scales, accuracy)
        noise.fit(shape)
        self.noise = noise
        self.shape = shape
        self.maps = maps or Maps()
        self.maps.check(shape[:2], len(self.labels))
        self._given = accuracy
        self._eps = 0.0
        n = len(self.labels)
        self._scales = torch.tensor(self.scales, dtype=torch.float64, device=device)
        self._totals = Totals.none(n, device)
        self._done = np.zeros(shape[0], bool)

    @torch.no_grad()
    def add(
        self,
        rows: slice,
        image: Float[Tensor, "rows width channels"],
        tangents: Float[Tensor, "n rows width channels"],
    ) -> None:
        """Add a tile, full rows of the frame, or nothing at all where that raises.

        Args:
            rows: which rows of the frame, `start` to `stop`.
            image: the image there.
            tangents: its derivative with respect to each parameter.

        Raises:
            ValueError: it is no tile of this frame or not of these parameters, or some of its rows
                were added before.
        """
        height, width, channels = self.shape
        expected = (len(self.labels), rows.stop - rows.start, width, channels)
        inside = 0 <= rows.start < rows.stop <= height
        if not inside or tuple(tangents.shape) != expected or image.shape != tangents.shape[1:]:
            raise ValueError(
                f"Rows {rows.start} to {rows.stop} of a frame of {height} need derivatives of "
                f"shape {list(expected)} and such an image; got {list(tangents.shape)} and "
                f"{list(image.shape)}."
            )
        if self._done[rows].any():
            raise ValueError(f"Some of the rows {rows.start} to {rows.stop} were added before.")
        # Beside the others: a tile that does not fit in memory is tried again in parts.
        totals = Totals.none(len(self.labels), tangents.device)
        for down, across in _blocks(rows.stop - rows.start, width, len(self.labels) * channels):
            frame_rows = slice(rows.start + down.start, rows.start + down.stop)
            # In C order whatever the tile's own is, so that it is flattened without a copy.
            part = tangents[:, down, across].to(
                torch.float64, copy=True, memory_format=torch.contiguous_format
            )
            self._add_block(totals, (frame_rows, across), image[down, across].double(), part)
        self._totals.take(totals)
        self._done[rows] = True
        self._eps = max(self._eps, torch.finfo(tangents.dtype).eps)

    def _add_block(self, totals: Totals, where: Part, image: Tensor, part: Tensor) -> None:
        """Add a part of a tile; its derivatives are a copy, and are overwritten."""
        part *= self._scales[:, None, None, None]
        weights = self.noise.weights(image, where)
        if not self.noise.complete:
            image = _without(weights == 0, image, part, totals)
        part *= weights.sqrt()
        flat = part.flatten(1)
        matrix = flat @ flat.T
        kept = torch.ones_like(image[..., 0], dtype=torch.bool)
        # A look at every value would take three times as long as the product.
        if not bool((matrix.trace() + image.sum()).isfinite()):
            kept = image.isfinite().all(dim=-1) & _told(part).sum(dim=0).isfinite()
            part.masked_fill_(~kept[..., None], 0.0)
            matrix = flat @ flat.T
        totals.matrix.add_(matrix)
        totals.counts[0] += kept.sum()
        totals.counts[1] += (~kept).sum()
        if self.maps.wanted:
            self.maps.write(where, _told(part), kept, self._scales)

    def sums(self) -> Sums:
        """The sums over the tiles so far: they can be sent, and added to others'."""
        pixels, left_out, unweighted = self._totals.counts.tolist()
        rounding = ROUNDING * self._eps
        return Sums(
            labels=self.labels,
            scales=self.scales,
            matrix=self._totals.matrix.numpy(force=True).copy(),
            hidden=self._totals.hidden.numpy(force=True).copy(),
            noise=self.noise.describe(),
            finding=self.noise.finding,
            accuracy=rounding if self._given is None else self._given,
            pixels=pixels,
            left_out=left_out,
            unweighted=unweighted,
        )

    def finish(self) -> Information:
        """What the tiles so far say of the parameters.

        Raises:
            NoiseError: the information is beyond float64.
        """
        return analyse(self.sums())


def _told(part: Tensor) -> Tensor:
    """What each pixel tells of each parameter: a product, for sums of few channels are slow."""
    return part.square() @ part.new_ones(part.shape[-1])


def _without(blind: Tensor, image: Tensor, part: Tensor, totals: Totals) -> Tensor:
    """The image without values of weight zero; they are taken from the derivatives in place.

    What is not believed may as well be no number.
    """
    if not bool(blind.any()):
        return image
    moves = (part != 0) & blind
    totals.hidden.logical_or_(moves.flatten(1).any(dim=1))
    totals.counts[2] += moves.any(dim=0).any(dim=-1).sum()
    part.masked_fill_(blind, 0.0)
    return image.masked_fill(blind, 0.0)


def _blocks(rows: int, width: int, values: int) -> Iterator[tuple[slice, slice]]:
    """Cut a tile into rectangles that a float64 copy is bounded for.

    Args:
        rows: rows of the tile.
        width: its width.
        values: derivatives at each pixel.
    """
    pixels = max(1, BLOCK_VALUES // values)
    down, across = max(1, pixels // width), min(width, pixels)
    for top in range(0, rows, down):
        for left in range(0, width, across):
            yield slice(top, min(top + down, rows)), slice(left, min(left + across, width))


def _check(labels: tuple[str, ...], scales: tuple[float, ...], accuracy: float | None) -> None:
    if not labels or len(set(labels)) != len(labels):
        raise ValueError(f"Parameters must be named, each by a name of its own; got {labels}.")
    if len(labels) > MOST_PARAMETERS:
        raise TooManyParametersError(
            f"The Fisher matrix of {len(labels)} parameters was asked for; at most "
            f"{MOST_PARAMETERS} are told of at once. Name fewer, or entries of them."
        )
    if len(scales) != len(labels) or not all(0 < s < math.inf for s in scales):
        raise ValueError(f"Scales must be {len(labels)} positive numbers; got {scales}.")
    if accuracy is not None and not 0 <= accuracy < 1:
        raise ValueError(f"The accuracy is a relative error from 0 to 1; got {accuracy}.")
