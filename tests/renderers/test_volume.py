"""The volume against closed forms, and what it says of files that are none."""

from pathlib import Path

import numpy as np
import pytest
import torch

import renderers
from renderers import LoadError
from tests.renderers.derivatives import defaults, forward, window
from tests.tolerances import RENDERER_FORMULA

ONE = torch.ones((), dtype=torch.float64)
HEAD_ON = {"azimuth": 0.0, "elevation": 0.0, "centre": 1.0}


def volume(file: Path) -> renderers.Loaded:
    found = renderers.load(plugins=False).get("volume")
    return found.load("cpu", torch.float64, {"file": str(file)})


def saved(path: Path, array: np.ndarray) -> Path:
    np.save(path / "volume.npy", array)
    return path / "volume.npy"


def test_constant_density_follows_beer_and_lambert(tmp_path: Path) -> None:
    loaded = volume(saved(tmp_path, np.full((5, 5, 5), 3.0)))
    density, distance = 0.8, 4.5
    hot, backdrop = np.array([1.5, 1.0, 0.5]), np.array([0.012, 0.014, 0.03])
    params = defaults(loaded, density=density, distance=distance, hot=list(hot), **HEAD_ON)
    where = window(loaded, 9, 9)
    image, derivative = forward(loaded, where, params, "density", ONE)

    reach = np.tan(np.radians(15.0))
    slant = np.sqrt(1 + reach**2 * (where.x.numpy() ** 2 + where.y.numpy() ** 2))
    off = reach * np.maximum(np.abs(where.x.numpy()), np.abs(where.y.numpy()))
    # Enters the front face at depth 3.5; leaves by the back face or, farther out, by a side.
    out = np.minimum(distance + 1.0, 1.0 / off.clip(1e-9))
    length = np.maximum(out - (distance - 1.0), 0.0) * slant
    clear = np.exp(-density * length)[..., None]
    assert np.abs(image.numpy() - (hot + clear * (backdrop - hot))).max() < RENDERER_FORMULA
    by_hand = -length[..., None] * clear * (backdrop - hot)
    assert np.abs(derivative.numpy() - by_hand).max() < RENDERER_FORMULA * np.abs(by_hand).max()


def test_a_linear_ramp_is_interpolated_exactly(tmp_path: Path) -> None:
    ramp = np.broadcast_to(np.linspace(0.0, 1.0, 7), (4, 6, 7)).astype(np.float32)
    found = renderers.load(plugins=False).get("volume")
    state = found(torch.device("cpu"), torch.float64, file=str(saved(tmp_path, ramp)))
    x = torch.linspace(-1.0, 1.0, 23, dtype=torch.float64)
    point = renderers.volume.Vector(x, 0.3 * x, 0.2 * x)
    assert float((state._sample(point) - 0.5 * (x + 1)).abs().max()) < 1e-7  # the file is float32


def test_rays_beside_the_box_see_the_backdrop(tmp_path: Path) -> None:
    loaded = volume(saved(tmp_path, np.ones((3, 3, 3))))
    image = loaded(window(loaded, 15, 15), defaults(loaded, view=60.0, **HEAD_ON))
    assert torch.equal(image[0, 0], torch.tensor((0.012, 0.014, 0.03), dtype=torch.float64))


@pytest.mark.parametrize(
    ("array", "got"),
    [
        (np.zeros((3, 3)), "2 axes of float64"),
        (np.zeros((3, 3, 3), dtype=np.int16), "3 axes of int16"),
        (np.zeros((3, 1, 3)), r"shape \[3, 1, 3\]"),
        (np.full((3, 3, 3), np.nan), "a NaN"),
        (np.array([{}]), "cannot be read"),
    ],
)
def test_other_arrays_are_refused(tmp_path: Path, array: np.ndarray, got: str) -> None:
    with pytest.raises(LoadError, match=got):
        volume(saved(tmp_path, array))


def test_a_missing_file_is_refused_without_its_path(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="cannot be read") as refusal:
        volume(tmp_path / "none.npy")
    assert str(tmp_path) not in str(refusal.value)
