"""The picture of `renderers/sdf_scene.py` in `jax.numpy`, operation by operation."""

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from smooth import logistic, safe_sqrt, soft_min, soft_relu, soft_step
from tracing import along, dot, first_hit, light_seen, openness, unit

GROUND, BOUND, HAZE = -0.62, 1.9, 9.0
FLOOR, SKY, DUSK = (0.36, 0.35, 0.36), (0.50, 0.68, 1.00), (0.42, 0.40, 0.44)


class BallInRing(NamedTuple):
    """Smooth union of a ball at the origin and a ring on the floor."""

    ball: Any
    ring: Any
    thickness: Any
    blend: Any

    def distance(self, point):
        """Lower bound of the distance to the surface."""
        axis2 = point[0] * point[0] + point[2] * point[2]
        out, up = safe_sqrt(axis2) - self.ring, point[1] - (self.thickness + GROUND)
        ball = safe_sqrt(axis2 + point[1] * point[1]) - self.ball
        return soft_min(ball, safe_sqrt(out * out + up * up) - self.thickness, self.blend)

    def gradient(self, point):
        """Gradient of `distance`."""
        return self.gradient_and_share(point)[0]

    def gradient_and_share(self, point):
        """Gradient of `distance`, and the weight of the ring in it."""
        x, y, z = point
        axis2 = x * x + z * z
        axis, radius = safe_sqrt(axis2), safe_sqrt(axis2 + y * y)
        out, up = axis - self.ring, y - (self.thickness + GROUND)
        tube = safe_sqrt(out * out + up * up)
        share = logistic(((radius - self.ball) - (tube - self.thickness)) / self.blend)
        of_ball, of_ring = (1.0 - share) / radius, share / tube
        outwards = of_ball + of_ring * out / axis
        return (x * outwards, y * of_ball + up * of_ring, z * outwards), share


def sdf_scene(x, y, p):
    """The image at positions, shape `(*x.shape, 3)`; `p` holds the parameters by name."""
    solid = BallInRing(p["ball"], p["ring"], p["thickness"], p["blend"])
    eye, ray = _orbit(x, y, p)
    towards = unit(tuple(p["light"]))
    near, hit = first_hit(solid, eye, ray, BOUND)
    far, hit_again = first_hit(solid, eye, ray, BOUND, after=near)
    colours = _floor(solid, eye, ray, towards, p)
    for t, found in ((far, hit_again), (near, hit)):
        point, normal, share = _surface(solid, eye, t, ray)
        light = _light(solid, point, normal, towards, p)
        colours = _painted(colours, found, light, normal, share, ray, towards, p)
    return _exposed(colours, p)


@jax.jit
def _orbit(x, y, p):
    """Eye and unit view directions."""
    rise, turn = p["elevation"] * (math.pi / 180), p["azimuth"] * (math.pi / 180)
    back = (jnp.cos(rise) * jnp.sin(turn), jnp.sin(rise), jnp.cos(rise) * jnp.cos(turn))
    right = (jnp.cos(turn), -jnp.sin(turn))
    up = (-jnp.sin(rise) * jnp.sin(turn), jnp.cos(rise), -jnp.sin(rise) * jnp.cos(turn))
    reach = jnp.tan(p["view"] * (math.pi / 360))
    x, y = x * reach, y * reach
    ray = (
        x * right[0] + y * up[0] - back[0],
        y * up[1] - back[1],
        x * right[1] + y * up[2] - back[2],
    )
    return tuple(each * p["distance"] for each in back), unit(ray)


def _light(solid, point, normal, towards, p):
    """Light of the lamp and of the sky that arrives at a surface."""
    seen = light_seen(solid, point, towards, p["penumbra"])
    return _arriving(seen, openness(solid, point, normal), normal, towards, p)


@jax.jit
def _arriving(seen, opened, normal, towards, p):
    sun = soft_relu(dot(normal, towards), 0.05)
    sky = p["ambient"] * (0.6 + 0.4 * normal[1])
    return sun * seen, sky * opened


@jax.jit
def _surface(solid, eye, t, ray):
    """A point of the surface, its normal, and the weight of the ring."""
    point = along(eye, t, ray)
    gradient, share = solid.gradient_and_share(point)
    return point, unit(gradient), share


@jax.jit
def _painted(behind, found, light, normal, share, ray, towards, p):
    """Light from a point of the surface over what is behind it."""
    sun, sky = light
    facing = jnp.minimum(dot(normal, ray), 0.0)
    half = unit(tuple(a - b for a, b in zip(towards, ray, strict=True)))
    shine = sun * jnp.exp(p["gloss"] * (dot(normal, half) - 1.0))
    upwards = ray[1] - 2.0 * facing * normal[1]
    fresnel = 0.06 + 0.7 * (1.0 + facing) ** 3
    shine = shine + sky * (fresnel * logistic(9.0 * upwards))
    ball, ring = p["ball_colour"], p["ring_colour"]
    paint = [ball[i] + share * (ring[i] - ball[i]) for i in range(3)]
    front = [c * (sun + sky * s) + shine for c, s in zip(paint, SKY, strict=True)]
    cover = found * soft_step((facing / p["softness"]) ** 2)
    return [c + cover * (f - c) for c, f in zip(behind, front, strict=True)]


def _floor(solid, eye, ray, towards, p):
    """Light from the floor, which the haze turns into the backdrop."""
    reach, point, flat = _ground(eye, ray)
    return _hazy(reach, ray, *_light(solid, point, flat, towards, p))


@jax.jit
def _ground(eye, ray):
    reach = (eye[1] - GROUND) / jnp.maximum(-ray[1], 1e-2)
    flat = (jnp.zeros_like(ray[1]), jnp.ones_like(ray[1]), jnp.zeros_like(ray[1]))
    return reach, along(eye, reach, ray), flat


@jax.jit
def _hazy(reach, ray, sun, sky):
    clear = jnp.exp(-((reach / HAZE) ** 2))
    height = logistic(8.0 * ray[1] + 1.0)
    backdrop = [d + height * (s - d) for s, d in zip(SKY, DUSK, strict=True)]
    floor = [f * (sun + sky * s) for s, f in zip(SKY, FLOOR, strict=True)]
    return [b + clear * (f - b) for b, f in zip(backdrop, floor, strict=True)]


@jax.jit
def _exposed(colours, p):
    gain = -jnp.exp2(p["exposure"])
    return jnp.stack([1.0 - jnp.exp(gain * c) for c in colours], axis=-1)
