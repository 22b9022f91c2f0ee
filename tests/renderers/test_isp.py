"""The image signal processor against its formulas, and what it says of files that are none."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

import renderers
from renderers import LoadError
from tests.renderers.derivatives import defaults, forward, window
from tests.tolerances import RENDERER_FORMULA

ONE = torch.ones((), dtype=torch.float64)
NEUTRAL = {"exposure": 0.0, "warmth": 0.0, "saturation": 1.0, "gamma": 1.0, "vignette": 0.0}
STRAIGHT = {"k1": 0.0, "k2": 0.0}


def isp(file: Path | str = "") -> renderers.Loaded:
    options = {"file": str(file)} if file else {}
    return renderers.load(plugins=False).get("isp").load("cpu", torch.float64, options)


@pytest.fixture
def photograph(tmp_path: Path) -> Path:
    draw = np.random.default_rng(1)
    Image.fromarray(draw.integers(30, 120, (12, 16, 3), dtype=np.uint8)).save(tmp_path / "a.png")
    return tmp_path / "a.png"


def linear(path: Path) -> np.ndarray:
    value = np.asarray(Image.open(path), dtype=np.float64) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def test_a_neutral_camera_shows_the_photograph(photograph: Path) -> None:
    loaded = isp(photograph)
    image = loaded(window(loaded, 16, 12), defaults(loaded, **NEUTRAL, **STRAIGHT))
    assert np.abs(image.numpy() - linear(photograph)).max() < RENDERER_FORMULA


def test_exposure_multiplies_by_log_two_until_it_clips(photograph: Path) -> None:
    loaded = isp(photograph)
    params = defaults(loaded, **{**NEUTRAL, "exposure": 2.5}, **STRAIGHT)
    image, derivative = forward(loaded, window(loaded, 16, 12), params, "exposure", ONE)
    clipped = image == 1.0
    assert 0 < int(clipped.sum()) < image.numel()
    assert bool((derivative[clipped] == 0).all())
    expected = math.log(2.0) * image[~clipped]
    assert float((derivative[~clipped] - expected).abs().max()) < RENDERER_FORMULA


def test_distortion_reads_where_the_polynomial_says(photograph: Path) -> None:
    loaded = isp(photograph)
    params = defaults(loaded, **NEUTRAL, k1=-0.3, k2=0.1)
    image = loaded(window(loaded, 16, 12), params).numpy()
    source = linear(photograph)
    for row, column in ((0, 0), (3, 11), (9, 2)):
        x, y = column - 7.5, row - 5.5
        r2 = (x * x + y * y) / (8.0**2 + 6.0**2)
        stretch = 1 - 0.3 * r2 + 0.1 * r2 * r2
        u, v = 7.5 + x * stretch, 5.5 + y * stretch
        i, j = int(v), int(u)
        f, g = v - i, u - j
        block = source[i : i + 2, j : j + 2]
        weights = np.outer([1 - f, f], [1 - g, g])[..., None]
        assert np.abs(image[row, column] - (weights * block).sum((0, 1))).max() < RENDERER_FORMULA


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"no picture")
    with pytest.raises(LoadError, match="cannot be read"):
        isp(tmp_path / "a.png")
    Image.new("RGB", (1, 9)).save(tmp_path / "b.png")
    with pytest.raises(LoadError, match="got 1 x 9"):
        isp(tmp_path / "b.png")
