"""The picture of `renderers/sphere.py` in `jax.numpy`, operation by operation."""

import jax.numpy as jnp
from smooth import safe_sqrt, soft_relu, soft_step

BAND, RIM = (0.96, 0.88, 0.72), (0.10, 0.22, 0.42)
GLOW, EDGE = (0.16, 0.20, 0.29), (0.03, 0.04, 0.07)
TERMINATOR = 0.15


def sphere(x, y, p):
    """The image at positions, shape `(*x.shape, 3)`; `p` holds the parameters by name."""
    nx, ny = (x - p["centre"][0]) / p["radius"], (y - p["centre"][1]) / p["radius"]
    inside = 1.0 - (nx * nx + ny * ny)
    nz = safe_sqrt(inside, 1e-6)
    coverage = soft_step(inside * (p["radius"] / (2.0 * p["softness"])))

    light = p["light"] / jnp.sqrt(jnp.sum(p["light"] ** 2))
    facing = nx * light[0] + ny * light[1] + nz * light[2]
    lit = p["ambient"] + p["diffuse"] * soft_relu(facing, TERMINATOR)
    lobe = p["shininess"] * ((facing + nz) / jnp.sqrt(2.0 + 2.0 * light[2]) - 1.0)
    highlight = p["specular"] * jnp.exp(jnp.minimum(lobe, 0.0))
    rim = (1.0 - nz) ** 2

    stir = jnp.sin(0.3 * p["frequency"] * (nx + 0.6 * nz))
    wave = jnp.sin(p["frequency"] * (ny + 0.12 * nx) + 1.6 * stir)
    bands = 1.0 - p["contrast"] * (0.5 - 0.5 * wave)
    gain = -jnp.exp2(p["exposure"])
    glow = jnp.exp(-0.9 * (x * x + y * y))

    def channel(i):
        paint = bands * (p["albedo"][i] - BAND[i]) + BAND[i]
        surface = lit * paint + (highlight + rim * RIM[i])
        background = glow * (GLOW[i] - EDGE[i]) + EDGE[i]
        return background + coverage * ((1.0 - background) - jnp.exp(surface * gain))

    return jnp.stack([channel(i) for i in range(3)], axis=-1)
