"""The print against NumPy and SciPy, and its derivative by the picture against closed forms."""

import numpy as np
import pytest
import torch
from scipy.ndimage import convolve
from scipy.special import expit

import renderers
from renderers.darkroom import HEIGHT, PICTURE, WIDTH
from tests.renderers.derivatives import defaults, forward, window
from tests.tolerances import RENDERER_FORMULA

WEIGHTS = np.outer([1, 2, 1], [1, 2, 1])[..., None] / 16
ONE = torch.ones((), dtype=torch.float64)


def darkroom(dtype: torch.dtype = torch.float64) -> renderers.Loaded:
    return renderers.load(plugins=False).get("darkroom").load("cpu", dtype)


def printed(exposure: float, softness: float, contrast: float) -> tuple[np.ndarray, np.ndarray]:
    """The light behind the lens, and the print."""
    picture = PICTURE.numpy()
    soft = picture + softness * (convolve(picture, WEIGHTS, mode="nearest") - picture)
    return soft, expit(contrast * np.log(2**exposure * soft / 0.18))


@pytest.mark.parametrize("softness", [0.0, 0.3, 1.0])
def test_a_frame_of_the_pictures_size_is_the_print(softness: float) -> None:
    loaded = darkroom()
    params = defaults(loaded, exposure=0.7, softness=softness, contrast=1.6)
    image, derivative = forward(loaded, window(loaded, WIDTH, HEIGHT), params, "exposure", ONE)
    _, wanted = printed(0.7, softness, 1.6)
    assert np.abs(image.numpy() - wanted).max() < RENDERER_FORMULA
    by_hand = 1.6 * np.log(2) * wanted * (1 - wanted)
    assert np.abs(derivative.numpy() - by_hand).max() < RENDERER_FORMULA


@pytest.mark.parametrize("softness", [0.0, 0.3])
def test_the_derivative_by_the_picture_is_the_closed_form(softness: float) -> None:
    loaded = darkroom()
    params = defaults(loaded, exposure=0.7, softness=softness, contrast=1.6)
    soft, wanted = printed(0.7, softness, 1.6)
    slope = 1.6 * wanted * (1 - wanted) / soft
    direction = np.random.default_rng(1).normal(size=PICTURE.shape)
    spread = direction + softness * (convolve(direction, WEIGHTS, mode="nearest") - direction)
    where = window(loaded, WIDTH, HEIGHT)
    _, derivative = forward(loaded, where, params, "picture", torch.from_numpy(direction))
    scale = np.abs(slope).max()
    assert np.abs(derivative.numpy() - slope * spread).max() < RENDERER_FORMULA * scale


def test_without_softness_an_entry_moves_its_own_entry_alone() -> None:
    loaded = darkroom(torch.float32)
    params = defaults(loaded, softness=0.0)
    moved = torch.zeros(HEIGHT, WIDTH, 3)
    moved[10, 20, 1] = 1.0
    where = window(loaded, WIDTH, HEIGHT)
    _, derivative = forward(loaded, where, params, "picture", moved)
    assert torch.equal(derivative != 0, moved != 0)


@pytest.mark.parametrize("size", [(160, 120), (100, 90), (31, 80), (1, 1)])
def test_other_frames_are_filled_with_the_print(size: tuple[int, int]) -> None:
    width, height = size
    loaded = darkroom()
    image = loaded(window(loaded, width, height), defaults(loaded, softness=0.3)).numpy()
    _, source = printed(-0.3, 0.3, 1.3)
    scale = min(WIDTH / width, HEIGHT / height)
    for row, column in ((0, 0), (height // 3, width // 2), (height - 1, width - 1)):
        v = (row - (height - 1) / 2) * scale + (HEIGHT - 1) / 2
        u = (column - (width - 1) / 2) * scale + (WIDTH - 1) / 2
        v, u = float(np.clip(v, 0, HEIGHT - 1)), float(np.clip(u, 0, WIDTH - 1))
        i, j = min(int(v), HEIGHT - 2), min(int(u), WIDTH - 2)
        weights = np.outer([1 - (v - i), v - i], [1 - (u - j), u - j])[..., None]
        expected = (weights * source[i : i + 2, j : j + 2]).sum((0, 1))
        assert np.abs(image[row, column] - expected).max() < RENDERER_FORMULA


def test_the_picture_is_sent_as_it_is_shown() -> None:
    declared = darkroom().spec.params["picture"]
    assert declared.shape == (HEIGHT, WIDTH, 3)
    assert torch.equal(declared.check("picture", declared.default.tolist()), declared.default)
    assert len(str(declared.default.tolist())) < 10 * declared.default.numel()
