"""Sphere tracing against the analytic meeting of a ray and a ball."""

from typing import NamedTuple, Self

import pytest
import torch
from torch import Tensor

from renderers import Pixels
from renderers._tracing import first_hit, light_seen
from renderers._vectors import Vector, dot, scaled, unit
from renderers.sdf_scene import BallInRing, sdf_scene
from tests.tolerances import FINITE_DIFFERENCES, SILHOUETTE_IN_A_64TH


class Ball(NamedTuple):
    radius: Tensor

    def distance(self, point: Vector) -> Tensor:
        return torch.sqrt(dot(point, point)) - self.radius

    def gradient(self, point: Vector) -> Vector:
        return unit(point)

    def still(self) -> Self:
        return type(self)(self.radius.detach())


def number(value: float) -> Tensor:
    return torch.tensor(value, dtype=torch.float64)


def rays(count: int = 60) -> tuple[Vector, Vector]:
    eye = Vector(number(0.0), number(0.0), number(3.0))
    slant = torch.linspace(0.0, 0.9, count, dtype=torch.float64)
    return eye, unit(Vector(slant, 0.3 * slant, torch.full_like(slant, -3.0)))


def test_hit_and_its_radius_derivative_are_those_of_the_quadratic() -> None:
    eye, ray = rays()

    def depth(radius: Tensor) -> tuple[Tensor, Tensor]:
        return first_hit(Ball(radius), eye, ray, 1.5)

    radius = number(0.6)
    (t, hit), (slope, _) = torch.func.jvp(depth, (radius,), (number(1.0),))
    b = dot(eye, ray)
    discriminant = b * b - (dot(eye, eye) - radius**2)
    sure = discriminant.abs() > 1e-2
    assert torch.equal(hit[sure] == 1, discriminant[sure] > 0)
    seen = sure & (discriminant > 0)
    root = torch.sqrt(discriminant[seen])
    torch.testing.assert_close(t[seen], -b[seen] - root, rtol=0, atol=1e-12)
    torch.testing.assert_close(slope[seen], -radius / root, rtol=1e-9, atol=0)


def test_behind_a_grazed_ball_the_ray_goes_free() -> None:
    eye = Vector(number(0.0), number(0.0), number(3.0))
    ray = unit(Vector(*(torch.tensor([v], dtype=torch.float64) for v in (0.595, 0.0, -3.0))))
    ball = Ball(number(0.585))
    near, hit = first_hit(ball, eye, ray, 1.5)
    _, again = first_hit(ball, eye, ray, 1.5, after=near)
    assert hit.item() == 1.0
    assert again.item() == 0.0


@pytest.mark.parametrize(
    ("side", "row", "column"),
    [(300, 171, 83), (300, 174, 85), (300, 179, 87), (512, 337, 155), (512, 345, 154)],
)
def test_no_gap_opens_beside_the_ball_or_within_the_ring(side: int, row: int, column: int) -> None:
    # At the first three a march ran out before the ring, at the others it did not leave the neck.
    columns = torch.arange(column - 3, column + 3, 1 / 64, dtype=torch.float64)
    pitch = 2 / side
    y = torch.full_like(columns, (side / 2 - 0.5 - row) * pitch)
    where = Pixels((columns - (side / 2 - 0.5)) * pitch, y, side, side)
    params = {name: value.double() for name, value in sdf_scene.spec.bind({}).items()}
    image = sdf_scene.load("cpu", torch.float64)(where, params, 0)
    assert float(image.diff(dim=0).abs().max()) < SILHOUETTE_IN_A_64TH


def test_a_shadow_is_full_behind_a_ball_and_none_beside_it() -> None:
    ball = Ball(number(0.5))
    x = torch.tensor([0.0, 0.3, 1.5], dtype=torch.float64)
    below = Vector(x, torch.full_like(x, -1.2), torch.zeros_like(x))
    up = Vector(number(0.0), number(1.0), number(0.0))
    seen = light_seen(ball, below, up, number(0.1))
    assert seen[0] == 0.0
    assert seen[1] == 0.0
    assert seen[2] == 1.0


def test_the_gradient_of_the_field_is_its_derivative() -> None:
    solid = BallInRing(number(0.55), number(0.6), number(0.2), number(0.1))
    draw = torch.Generator().manual_seed(3)
    start = torch.randn(3, 200, generator=draw, dtype=torch.float64)
    gradient = solid.gradient(Vector(*start))
    for axis in range(3):
        change = torch.zeros_like(start)
        change[axis] = 1e-6
        ahead, behind = (solid.distance(Vector(*(start + s * change))) for s in (1, -1))
        numeric = (ahead - behind) / 2e-6
        assert float((gradient[axis] - numeric).abs().max()) < FINITE_DIFFERENCES


def test_the_field_never_overestimates_the_distance() -> None:
    solid = BallInRing(number(0.55), number(0.6), number(0.2), number(0.1))
    draw = torch.Generator().manual_seed(4)
    point = Vector(*torch.randn(3, 500, generator=draw, dtype=torch.float64))
    ball, ring = solid.parts(point)
    assert bool((solid.distance(point) <= torch.minimum(ball, ring)).all())
    slope = solid.gradient(point)
    assert float(dot(slope, slope).max()) <= 1.0 + 1e-12
    assert torch.equal(scaled(slope, number(1.0)).x, slope.x)
