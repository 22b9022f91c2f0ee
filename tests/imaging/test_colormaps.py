import subprocess
import sys

import numpy as np
import pytest

from app.imaging import (
    COLORMAPS,
    DEFAULT_DIVERGING,
    DEFAULT_OVERLAY,
    DEFAULT_SEQUENTIAL,
    UnknownNameError,
    lookup,
)
from app.imaging.palette import BACKGROUND, INK, LAST, LEVELS, MIDDLE, NAN, palette_of


def _lightness(lut: np.ndarray) -> np.ndarray:
    """CIE L* of sRGB colours."""
    linear = np.where(lut <= 10, lut / 255 / 12.92, ((lut / 255 + 0.055) / 1.055) ** 2.4)
    luminance = linear @ [0.2126, 0.7152, 0.0722]
    return np.where(luminance > 0.008856, 116 * np.cbrt(luminance) - 16, 903.3 * luminance)


@pytest.mark.parametrize("name", COLORMAPS)
def test_every_colormap_of_the_table_can_be_looked_up(name: str) -> None:
    colormap = lookup(name)
    assert colormap.lut.shape == (LEVELS, 3)
    assert colormap.lut.dtype == np.uint8
    assert colormap.name == name
    assert ":" in colormap.source
    assert lookup(name) is colormap
    with pytest.raises(ValueError, match="read-only"):
        colormap.lut[0] = 0


@pytest.mark.parametrize(
    "name", [name for name, entry in COLORMAPS.items() if entry.colour_blind_safe]
)
def test_lightness_alone_tells_the_order_of_a_safe_colormap(name: str) -> None:
    lightness = _lightness(lookup(name).lut)
    halves = [lightness]
    if COLORMAPS[name].kind == "diverging":
        halves = [lightness[: MIDDLE + 1], lightness[MIDDLE:]]
        assert np.sign(halves[0][0] - halves[0][-1]) == np.sign(halves[1][-1] - halves[1][0])
    for half in halves:
        steps = np.diff(half) * np.sign(half[-1] - half[0])
        assert steps.min() > -1.5  # rounding to 8 bits moves a dark colour by about one L*
        assert abs(half[-1] - half[0]) > 20


def test_the_colour_blind_safe_ones_stand_first() -> None:
    safe = [entry.colour_blind_safe for entry in COLORMAPS.values()]
    assert safe == sorted(safe, reverse=True)


def test_defaults_are_safe_and_of_their_kind() -> None:
    kinds = {name: lookup(name).kind for name in (DEFAULT_DIVERGING, DEFAULT_OVERLAY)}
    assert set(kinds.values()) == {"diverging"}
    assert lookup(DEFAULT_SEQUENTIAL).kind == "sequential"
    for name in (*kinds, DEFAULT_SEQUENTIAL):
        assert COLORMAPS[name].colour_blind_safe


def test_the_middle_of_the_default_is_a_grey() -> None:
    middle = lookup(DEFAULT_DIVERGING).lut[MIDDLE]
    assert len(set(middle.tolist())) == 1


def test_an_unknown_colormap_names_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'viridis'") as caught:
        lookup("Virids")
    assert caught.value.code == "unknown_colormap"
    assert caught.value.choices == tuple(COLORMAPS)


def test_the_palette_has_one_layout_with_an_exact_middle() -> None:
    assert MIDDLE * 2 == LAST == LEVELS - 1
    assert (LAST, NAN, BACKGROUND, INK) == (250, 251, 252, 255)
    assert palette_of(lookup("vik").lut).shape == (256, 3)


def test_the_catalogue_is_not_read_before_the_first_picture() -> None:
    asked = "import sys, app.imaging; sys.exit('cmap' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", asked], check=False).returncode == 0
