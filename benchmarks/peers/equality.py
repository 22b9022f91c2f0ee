"""That peers compute the same before they are timed."""

import numpy as np
from numpy.typing import NDArray

# Relative to the largest value, in float32. A shaded sphere is a hundred operations; a marched
# scene is thousands, and what it finds by searching (a root, the nearest sample of a shadow) turns
# on the last bits, which other orders of the same sums give differently.
CLOSE = {"sphere": 1e-4, "sdf_scene": 3e-3, "fringes": 1e-4}
# Pixels at which a search decides otherwise are few, and may be far off.
FEW = 1e-4
RMS = 1e-4


def check(name: str, what: str, got: NDArray[np.floating], wanted: NDArray[np.floating]) -> None:
    """Raise AssertionError where two arrays are not the same picture or map."""
    assert got.shape == wanted.shape, f"{what}: shape {got.shape}, not {wanted.shape}"
    assert np.isfinite(got).all(), f"{what}: not finite"
    off = np.abs(got.astype(np.float64) - wanted) / np.abs(wanted).max()
    share, rms = float((off > CLOSE[name]).mean()), float(np.sqrt((off**2).mean()))
    assert share <= FEW, f"{what}: {share:.2%} of the values of {name} are off"
    assert rms <= RMS, f"{what}: {name} is off by {rms:.2g} of its largest value (RMS)"
