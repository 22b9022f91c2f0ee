"""A map with the words that belong to it: where what was computed meets how it is drawn."""

import numpy as np
from numpy.typing import NDArray

from app.imaging import MapData
from renderers import Spec, Wrt

# An image-shaped parameter has a million entries, and nobody reads a million labels.
MOST_LABELS = 1024


def captioned(
    values: NDArray[np.floating], image: NDArray[np.floating], spec: Spec, wrt: Wrt
) -> MapData:
    """The map `image.shape + wrt.shape` with its title, unit, and a label for each entry."""
    return MapData(
        values=values,
        image=image,
        channels=spec.channels,
        labels=tuple(wrt.labels()) if wrt.shape and wrt.size <= MOST_LABELS else (),
        title=f"d(image)/d({wrt})",
        unit=f"per {wrt.unit}" if wrt.unit else "",
    )
