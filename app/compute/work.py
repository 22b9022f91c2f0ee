"""Work as plain data: what crosses to the process that owns the device, and what comes back."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from app.compute.segment import Segment

ITEM_BYTES: Mapping[str, int] = {"float32": 4, "float64": 8}
# Arrays start at multiples of a cache line.
ALIGNMENT = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A map to compute, as numbers and strings.

    Attributes:
        kind: `map`, or `check` for reports on parameters and no arrays.
        renderer: name of the renderer.
        params: values of parameters that are not at their defaults: numbers or nested lists.
        wrt: what is differentiated against, or an empty string for the primal image alone.
        width: width of the frame in pixels.
        height: height of the frame in pixels.
        channels: how many channels the renderer's image has.
        wrt_shape: shape of what is differentiated against.
        seed: seed of a random renderer.
        strategy: name of the strategy, or `auto`.
        dtype: `float32` or `float64`.
        certify: whether the map is to be compared with differences.
    """

    kind: str = "map"
    renderer: str
    params: Mapping[str, Any]
    wrt: str
    width: int
    height: int
    channels: int
    wrt_shape: tuple[int, ...] = ()
    seed: int = 0
    strategy: str = "auto"
    dtype: str = "float32"
    certify: bool = True

    @property
    def image_shape(self) -> tuple[int, ...]:
        """Shape of the primal image."""
        return (self.height, self.width, self.channels)

    @property
    def values_shape(self) -> tuple[int, ...]:
        """Shape of the map: `image.shape + wrt.shape`."""
        return self.image_shape + self.wrt_shape

    @property
    def image_bytes(self) -> int:
        """Bytes of the primal image, up to where the map starts."""
        size = math.prod(self.image_shape) * ITEM_BYTES[self.dtype]
        return -(-size // ALIGNMENT) * ALIGNMENT

    @property
    def total_bytes(self) -> int:
        """Bytes of the whole result."""
        map_bytes = math.prod(self.values_shape) * ITEM_BYTES[self.dtype] if self.wrt else 0
        return self.image_bytes + map_bytes

    def to_json(self) -> dict[str, Any]:
        """Plain data for the wire."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The work back from the wire."""
        return cls(**{**data, "wrt_shape": tuple(data["wrt_shape"])})

    def arrays(self, segment: Segment) -> tuple[NDArray[np.floating], NDArray[np.floating] | None]:
        """The image and the map as views of the segment's memory."""
        dtype = np.dtype(self.dtype)
        image = np.ndarray(self.image_shape, dtype, segment.memory)
        if not self.wrt:
            return image, None
        return image, np.ndarray(self.values_shape, dtype, segment.memory, self.image_bytes)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Result:
    """A finished map. Its arrays live as long as the result does.

    Attributes:
        work: what was asked.
        image: the primal image, `(height, width, channels)`.
        values: the map, `image.shape + wrt.shape`, or None.
        facts: strategy, statistics, plan, seconds of each stage, as plain data.
    """

    work: Work
    image: NDArray[np.floating]
    values: NDArray[np.floating] | None
    facts: Mapping[str, Any]
