"""What `renderers/_tracing.py` holds, in `jax.numpy`: searches on constants, by `lax.fori_loop`.

A vector is a tuple of three arrays. Loops are those of `jax.lax`, as in any JAX program: unrolled,
they take minutes to compile. Each function is compiled by itself: XLA makes so much of the whole
picture at once that it takes several times as long.
"""

import jax
import jax.numpy as jnp
from jax import lax
from smooth import safe_sqrt, soft_step

MARCH_STEPS, NEWTON_STEPS = 40, 4
TOLERANCE, STEEPEST = 1e-4, -0.02
CHORD_STEPS, CHORD_STEP, CLEAR, CHORD_GROWTH = 8, 0.03, 0.004, 1.15
SHADOW_SAMPLES, SHADOW_NEAR, SHADOW_FAR = 24, 0.04, 2.6
TAPS = (0.12, 0.45)


def dot(a, b):
    """Inner product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def along(origin, distance, direction):
    """The point at a distance along a direction."""
    return tuple(o + distance * d for o, d in zip(origin, direction, strict=True))


def unit(vector, floor=1e-12):
    """The vector at length 1."""
    factor = lax.rsqrt(jnp.maximum(dot(vector, vector), floor))
    return tuple(each * factor for each in vector)


@jax.jit
def first_hit(solid, eye, ray, bound, after=None):
    """Distance at which each ray enters the solid, and whether it does."""
    still, eye, ray = lax.stop_gradient((solid, eye, ray))
    centre = safe_sqrt(dot(eye, eye))
    far = centre + bound
    if after is None:
        t = jnp.maximum(centre - bound, 0.0) + jnp.zeros_like(ray[0])
    else:
        t = _leave(still, eye, ray, lax.stop_gradient(after))

    def march(_, t):
        return jnp.minimum(t + still.distance(along(eye, t, ray)), far)

    def newton(_, t):
        point = along(eye, t, ray)
        step = still.distance(point) / _slope(still, point, ray)
        return jnp.minimum(t - jnp.clip(step, -0.05, 0.05), far)

    t = lax.fori_loop(0, MARCH_STEPS, march, t)
    t = lax.fori_loop(0, NEWTON_STEPS, newton, t)
    found = along(eye, t, ray)
    hit = (jnp.abs(still.distance(found)) < TOLERANCE).astype(t.dtype)
    return t - solid.distance(found) * hit / _slope(still, found, ray), hit


def _slope(still, point, ray):
    return jnp.minimum(dot(still.gradient(point), ray), STEEPEST)


def _leave(still, eye, ray, t):
    start = along(eye, t, ray)
    stays = (dot(still.gradient(start), ray) < STEEPEST) & (
        jnp.abs(still.distance(start)) > TOLERANCE
    )

    def step(i, t):
        depth = -still.distance(along(eye, t, ray))
        onwards = t + jnp.maximum(depth, CHORD_STEP * CHORD_GROWTH**i)
        return jnp.where(stays | (depth < -CLEAR), t, onwards)

    return lax.fori_loop(0, CHORD_STEPS, step, t)


@jax.jit
def light_seen(solid, point, towards, penumbra):
    """Part of an extended light that a point sees past the solid."""
    still, start, way = lax.stop_gradient((solid, point, towards))
    growth = (SHADOW_FAR / SHADOW_NEAR) ** (1.0 / (SHADOW_SAMPLES - 1))
    smallest = still.distance(along(start, SHADOW_FAR, way)) / SHADOW_FAR

    def sample(i, found):
        nearest, smallest = found
        s = SHADOW_NEAR * growth**i
        angle = still.distance(along(start, s, way)) / s
        return jnp.where(angle < smallest, s, nearest), jnp.minimum(angle, smallest)

    found = (jnp.full_like(smallest, SHADOW_FAR), smallest)
    nearest, _ = lax.fori_loop(0, SHADOW_SAMPLES - 1, sample, found)
    angle = solid.distance(along(point, nearest, towards)) / nearest
    return soft_step(0.5 + 0.5 * angle / penumbra)


@jax.jit
def openness(solid, point, normal):
    """Part of the sky that a point sees past the solid."""
    seen = [soft_step(solid.distance(along(point, h, normal)) / h) for h in TAPS]
    return sum(seen[1:], seen[0]) / len(seen)
