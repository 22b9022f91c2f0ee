"""Splats against SciPy's normal density and the textbook's compositing."""

import numpy as np
import torch
from scipy.stats import multivariate_normal

import renderers
from renderers import Loaded
from tests.renderers.derivatives import defaults, forward, window
from tests.tolerances import RENDERER_FORMULA

ONE = torch.ones((), dtype=torch.float64)
VALUES = {"scale": 1.2, "size": 0.9, "rotation": 0.4, "shift": [0.1, -0.2], "camera": [0.3, 0.1]}
SPACE = np.array([0.004, 0.006, 0.018])


def keep(count: int) -> tuple[Loaded, dict[str, np.ndarray]]:
    """The renderer with only its first splats, and those as arrays."""
    loaded = renderers.load(plugins=False).get("gaussians").load("cpu", torch.float64)
    state = loaded.function.__self__  # type: ignore[attr-defined]
    for name in ("mean", "depth", "angle", "axes", "opacity", "colour"):
        setattr(state, name, getattr(state, name)[:count])
    return loaded, {
        name: getattr(state, name).numpy()
        for name in ("mean", "depth", "angle", "axes", "opacity", "colour")
    }


def turn(angle: float) -> np.ndarray:
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def alpha(splats: dict[str, np.ndarray], i: int, points: np.ndarray, opacity: float) -> np.ndarray:
    camera = np.array(VALUES["camera"])
    moved = turn(0.4) @ (splats["mean"][i] - camera / splats["depth"][i])
    frame = turn(0.4 + splats["angle"][i])
    covariance = frame @ np.diag((1.2 * 0.9 * splats["axes"][i]) ** 2) @ frame.T
    density = multivariate_normal(np.array(VALUES["shift"]) + 1.2 * moved, covariance)
    peak = 2 * np.pi * np.sqrt(np.linalg.det(covariance))
    return opacity * splats["opacity"][i] * density.pdf(points) * peak


def test_splats_in_front_hide_those_behind() -> None:
    loaded, splats = keep(20)
    where = window(loaded, 31, 31)
    points = np.stack([where.x.numpy(), where.y.numpy()], axis=-1)
    image = loaded(where, defaults(loaded, opacity=0.7, **VALUES)).numpy()
    light, clear = np.zeros((31, 31, 3)), np.ones((31, 31))
    for i in range(20):
        a = alpha(splats, i, points, 0.7)
        light += (clear * a)[..., None] * splats["colour"][i]
        clear = clear * (1 - a)
    assert np.abs(image - (light + clear[..., None] * SPACE)).max() < RENDERER_FORMULA


def test_the_opacity_derivative_of_a_single_splat_is_its_bell() -> None:
    loaded, splats = keep(1)
    where = window(loaded, 31, 31)
    points = np.stack([where.x.numpy(), where.y.numpy()], axis=-1)
    _, derivative = forward(loaded, where, defaults(loaded, **VALUES), "opacity", ONE)
    by_hand = alpha(splats, 0, points, 1.0)[..., None] * (splats["colour"][0] - SPACE)
    assert np.abs(derivative.numpy() - by_hand).max() < RENDERER_FORMULA


def test_the_nearest_come_first_and_every_load_is_the_same() -> None:
    _, first = keep(1000)
    _, second = keep(1000)
    assert bool((np.diff(first["depth"]) >= 0).all())
    assert all(np.array_equal(first[name], second[name]) for name in first)
