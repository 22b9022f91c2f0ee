"""The sphere against its formulas, written out by hand in NumPy."""

import numpy as np
import torch

import renderers
from tests.renderers.derivatives import defaults, forward, window
from tests.tolerances import RENDERER_FORMULA

ONE = torch.ones((), dtype=torch.float64)
FLAT = {"diffuse": 0.0, "specular": 0.0, "contrast": 0.0, "ambient": 1.0}


def sphere() -> renderers.Loaded:
    return renderers.load(plugins=False).get("sphere").load("cpu", torch.float64)


def test_the_radius_derivative_of_the_coverage_is_that_of_the_formula() -> None:
    # The background shows where coverage is missing; two exposures make the surface drop out.
    loaded, radius, softness = sphere(), 0.7, 0.05
    where = window(loaded, 41, 41)
    black = {**FLAT, "ambient": 0.0, "albedo": [0.0, 0.0, 0.0], "exposure": -4.0}
    params = defaults(loaded, radius=radius, softness=softness, **black)
    outside = defaults(loaded, centre=[1.5, 1.5], radius=0.1, **black)
    image, derivative = forward(loaded, where, params, "radius", ONE)
    background = loaded(where, outside).numpy()

    r2 = where.x.numpy() ** 2 + where.y.numpy() ** 2
    s = np.clip((1 - r2 / radius**2) * radius / (2 * softness), 0, 1)
    slope = 6 * s * (1 - s) * (1 / radius + r2 / radius**3) * radius / (2 * softness)
    coverage = 3 * s**2 - 2 * s**3
    edge = (s > 0) & (s < 1) & (np.hypot(where.x.numpy(), where.y.numpy()) < radius)
    # In the fading rim the surface is dark but for the light at the rim, which is known too.
    z2 = np.clip(1 - r2 / radius**2, 1e-6, None)
    rim, rim_slope = (1 - np.sqrt(z2)) ** 2, -(1 - np.sqrt(z2)) / np.sqrt(z2) * 2 * r2 / radius**3
    gain = 2.0**-4
    seen = 1 - np.exp(-gain * 0.10 * rim)
    seen_slope = gain * 0.10 * np.exp(-gain * 0.10 * rim) * rim_slope
    red = background[..., 0]
    size = np.abs(derivative.numpy()).max()
    expected_image = red + coverage * (seen - red)
    expected = slope * (seen - red) + coverage * seen_slope
    assert edge.sum() > 20
    assert np.abs(image[..., 0].numpy() - expected_image).max() < RENDERER_FORMULA
    assert np.abs((derivative[..., 0].numpy() - expected)[edge]).max() < RENDERER_FORMULA * size


def test_the_middle_of_a_flat_sphere_is_the_tone_of_its_colour() -> None:
    loaded = sphere()
    where = renderers.Pixels(torch.zeros(1).double(), torch.zeros(1).double(), 8, 8)
    params = defaults(loaded, exposure=1.0, albedo=[0.2, 0.4, 0.6], **FLAT)
    image, derivative = forward(loaded, where, params, "exposure", ONE)
    light = 2.0 * np.array([0.2, 0.4, 0.6])
    assert np.abs(image[0].numpy() - (1 - np.exp(-light))).max() < RENDERER_FORMULA
    by_hand = np.log(2) * light * np.exp(-light)
    assert np.abs(derivative[0].numpy() - by_hand).max() < RENDERER_FORMULA


def test_nothing_outside_the_radius_depends_on_it() -> None:
    loaded = sphere()
    where = window(loaded, 33, 29)
    _, derivative = forward(loaded, where, defaults(loaded), "radius", ONE)
    outside = torch.hypot(where.x, where.y) >= 0.7
    assert outside.any()
    assert bool((derivative[outside] == 0).all())
