"""Forward formulas of ours: against differences, reverse mode, loops and recordings."""

import itertools
from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.func import jvp, vjp, vmap
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn import functional as F

from app.engine.operations import OPERATIONS, STAND_INS, ForwardFormulas, Operation, merge
from app.engine.operations.grid_sample import INTERPOLATION, PADDING, GridSample

STEP = 1e-6
# Central differences in float64 at this step: rounding of 1e-16 / 1e-6 times values near one, and
# the largest slope of a sample is about ten.
DIFFERENCES = 1e-8
# Both routes are exact to rounding, in another order of sums.
EXACT = 1e-12
SIZES = {2: (8, 9), 3: (5, 6, 7)}
MODES = [
    (axes, mode, padding, align)
    for axes, mode, padding, align in itertools.product((2, 3), INTERPOLATION, PADDING, (0, 1))
    if (axes, mode) != (3, "bicubic")  # torch has none
]
NORMS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, float("inf"))
every_mode = pytest.mark.parametrize(("axes", "mode", "padding", "align"), MODES)

Run = Callable[..., Tensor]


def within(run: Run) -> Run:
    def inside(*inputs: Tensor) -> Tensor:
        with ForwardFormulas():
            return run(*inputs)

    return inside


def sampler(mode: str, padding: str, align: bool) -> Run:
    return lambda texture, grid: F.grid_sample(
        texture, grid, mode=mode, padding_mode=padding, align_corners=bool(align)
    )


def scene(axes: int, batch: int = 2, dtype: torch.dtype = torch.float64) -> tuple[Tensor, ...]:
    """A texture, positions up to 1.6 times its size, and a tangent of each."""
    torch.manual_seed(3)
    texture = torch.rand(batch, 3, *SIZES[axes], dtype=dtype)
    grid = torch.rand(batch, *(4, 5, 2)[:axes], axes, dtype=dtype) * 3.2 - 1.6
    return texture, grid, torch.randn_like(texture), torch.randn_like(grid)


def smooth(grid: Tensor, align: bool) -> Tensor:
    """Where no coordinate is near a texel's centre or edge: there samples bend."""
    sizes = torch.tensor(SIZES[grid.shape[-1]][::-1], dtype=grid.dtype)
    pixels = (grid + 1) / 2 * (sizes - 1) if align else ((grid + 1) * sizes - 1) / 2
    halves = 2 * pixels
    return ((halves - halves.round()).abs() > 0.02).all(-1)


def tangent_of(run: Run, inputs: tuple[Tensor, ...], tangents: tuple[Tensor, ...]) -> Tensor:
    tangent: Tensor = jvp(run, inputs, tangents)[1]
    return tangent


def double_vjp(run: Run, inputs: tuple[Tensor, ...], tangents: tuple[Tensor, ...]) -> Tensor:
    """The transpose of reverse mode, torch's own."""
    pull = vjp(run, *inputs)[1]
    push = vjp(pull, torch.zeros_like(run(*inputs)))[1]
    pushed: Tensor = push(tangents)[0]
    return pushed


def differences(run: Run, inputs: tuple[Tensor, ...], tangents: tuple[Tensor, ...]) -> Tensor:
    ahead = run(*(a + STEP * t for a, t in zip(inputs, tangents, strict=True)))
    behind = run(*(a - STEP * t for a, t in zip(inputs, tangents, strict=True)))
    return (ahead - behind) / (2 * STEP)


def close(actual: Tensor, expected: Tensor, bound: float) -> bool:
    assert torch.isfinite(expected).all()
    scale = max(1.0, float(expected.abs().max()))
    return actual.shape == expected.shape and bool((actual - expected).abs().max() <= bound * scale)


@every_mode
def test_samples_agree_with_differences(axes: int, mode: str, padding: str, align: bool) -> None:
    texture, grid, texture_t, grid_t = scene(axes)
    run = sampler(mode, padding, align)
    tangent = tangent_of(within(run), (texture, grid), (texture_t, grid_t))
    expected = differences(run, (texture, grid), (texture_t, grid_t))
    keep = smooth(grid, align)[:, None].expand_as(tangent)
    assert keep.float().mean() > 0.5
    assert close(tangent[keep], expected[keep], DIFFERENCES)


@every_mode
@pytest.mark.parametrize("batch", [1, 2])
def test_samples_agree_with_the_transpose_of_reverse_mode(
    axes: int, mode: str, padding: str, align: bool, batch: int
) -> None:
    texture, grid, texture_t, grid_t = scene(axes, batch)
    run = sampler(mode, padding, align)
    assert torch.equal(within(run)(texture, grid), run(texture, grid))
    both = tangent_of(within(run), (texture, grid), (texture_t, grid_t))
    expected = double_vjp(run, (texture, grid), (texture_t, grid_t))
    assert close(both, expected, EXACT)
    by_grid = tangent_of(within(lambda g: run(texture, g)), (grid,), (grid_t,))
    by_texture = tangent_of(within(lambda x: run(x, grid)), (texture,), (texture_t,))
    assert close(by_grid, double_vjp(lambda g: run(texture, g), (grid,), (grid_t,)), EXACT)
    assert close(by_texture, run(texture_t, grid), EXACT)


@every_mode
def test_many_tangents_are_the_loop_over_them(
    axes: int, mode: str, padding: str, align: bool
) -> None:
    texture, grid, _, _ = scene(axes, batch=1)
    seeds = torch.randn(3, *grid.shape, dtype=grid.dtype)
    run = within(lambda g: sampler(mode, padding, align)(texture, g))

    def push(seed: Tensor) -> Tensor:
        return tangent_of(run, (grid,), (seed,))

    assert close(vmap(push)(seeds), torch.stack([push(seed) for seed in seeds]), EXACT)


@every_mode
def test_batched_positions_are_the_loop_over_them(
    axes: int, mode: str, padding: str, align: bool
) -> None:
    texture, grid, _, _ = scene(axes)
    grids = torch.stack([grid, grid.flip(0)], 1)
    seeds = torch.randn_like(grids)
    run = sampler(mode, padding, align)
    batched = vmap(within(lambda g: run(texture, g)), in_dims=1)
    tangent = tangent_of(batched, (grids,), (seeds,))
    looped = [
        tangent_of(within(lambda g: run(texture, g)), (g,), (t,))
        for g, t in zip(grids.unbind(1), seeds.unbind(1), strict=True)
    ]
    assert close(tangent, torch.stack(looped), EXACT)


@every_mode
def test_a_recording_replays_at_other_values(
    axes: int, mode: str, padding: str, align: bool
) -> None:
    texture, grid, _, grid_t = scene(axes)
    run = within(lambda g: sampler(mode, padding, align)(texture, g))

    def push(grid: Tensor, seeds: Tensor) -> tuple[Tensor, Tensor]:
        tangents = vmap(lambda seed: tangent_of(run, (grid,), (seed,)))(seeds)
        return run(grid), tangents

    seeds = torch.stack([grid_t, -2 * grid_t])
    recorded = make_fx(push)(grid, seeds)
    for replayed, expected in zip(
        recorded(0.9 * grid, 3 * seeds), push(0.9 * grid, 3 * seeds), strict=True
    ):
        assert torch.equal(replayed, expected)


@every_mode
def test_reverse_mode_is_unchanged(axes: int, mode: str, padding: str, align: bool) -> None:
    texture, grid, texture_t, grid_t = scene(axes)
    run = sampler(mode, padding, align)
    cotangent = torch.randn_like(run(texture, grid))
    ours, theirs = (vjp(each, texture, grid)[1](cotangent) for each in (within(run), run))
    assert all(torch.equal(a, b) for a, b in zip(ours, theirs, strict=True))
    twice = double_vjp(within(run), (texture, grid), (texture_t, grid_t))
    assert close(twice, double_vjp(run, (texture, grid), (texture_t, grid_t)), EXACT)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("axes", [2, 3])
def test_the_dtype_is_kept(axes: int, dtype: torch.dtype) -> None:
    texture, grid, _, grid_t = scene(axes, dtype=dtype)
    run = within(lambda g: F.grid_sample(texture, g, align_corners=False))
    assert {each.dtype for each in jvp(run, (grid,), (grid_t,))} == {dtype}


@pytest.mark.parametrize("axes", [2, 3])
def test_nearest_does_not_answer_to_positions(axes: int) -> None:
    texture, grid, _, grid_t = scene(axes)
    run = within(lambda g: F.grid_sample(texture, g, mode="nearest", align_corners=False))
    assert not tangent_of(run, (grid,), (grid_t,)).any()


def test_a_large_grid_is_worked_off_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    texture, grid, _, grid_t = scene(2)
    run = within(lambda g: F.grid_sample(texture, g, align_corners=False))
    whole = tangent_of(run, (grid,), (grid_t,))
    monkeypatch.setattr("app.engine.operations.grid_sample.SAMPLES", 90)
    assert torch.equal(tangent_of(run, (grid,), (grid_t,)), whole)


def calls(texture: Tensor, grid: Tensor) -> dict[str, Callable[[Tensor], Tensor]]:
    volume = texture.dim() == 5
    direct = torch.grid_sampler_3d if volume else torch.grid_sampler_2d
    aten = torch.ops.aten.grid_sampler_3d if volume else torch.ops.aten.grid_sampler_2d
    return {
        "functional": lambda g: F.grid_sample(texture, g, "bilinear", "zeros", False),
        "functional, named": lambda g: F.grid_sample(grid=g, input=texture, align_corners=False),
        "torch": lambda g: torch.grid_sampler(texture, g, 0, 0, False),
        "direct": lambda g: direct(texture, g, 0, 0, False),
        "direct, named": lambda g: direct(
            grid=g, input=texture, interpolation_mode=0, padding_mode=0, align_corners=False
        ),
        "aten": lambda g: aten(texture, g, 0, 0, False),
        "aten, overload": lambda g: aten.default(texture, g, 0, 0, False),
    }


@pytest.mark.parametrize("axes", [2, 3])
@pytest.mark.parametrize("name", calls(*scene(2)[:2]))
def test_every_way_to_call_it_is_met(axes: int, name: str) -> None:
    texture, grid, _, grid_t = scene(axes)
    run = calls(texture, grid)[name]
    tangent = tangent_of(within(run), (grid,), (grid_t,))
    assert close(tangent, double_vjp(run, (grid,), (grid_t,)), EXACT)


def test_no_grad_and_dual_tensors_carry_tangents_too() -> None:
    texture, grid, _, grid_t = scene(2)
    run = within(lambda g: F.grid_sample(texture, g, align_corners=False))
    expected = tangent_of(run, (grid,), (grid_t,))
    with torch.no_grad():
        assert torch.equal(tangent_of(run, (grid,), (grid_t,)), expected)
    with forward_ad.dual_level():
        dual = run(forward_ad.make_dual(grid, grid_t))  # type: ignore[no-untyped-call]
        unpacked = forward_ad.unpack_dual(dual)  # type: ignore[no-untyped-call]
        assert torch.equal(unpacked.tangent, expected)


def test_torch_has_no_formula_outside_the_mode() -> None:
    # Where torch gets one, ours can go.
    texture, grid, _, grid_t = scene(2)
    points = grid[0, 0]
    with ForwardFormulas():
        pass
    with pytest.raises(NotImplementedError, match="grid_sampler_2d"):
        jvp(lambda g: F.grid_sample(texture, g, align_corners=False), (grid,), (grid_t,))
    with pytest.raises(NotImplementedError, match="_cdist_forward"):
        jvp(lambda x: torch.cdist(x, points), (points,), (points,))


def test_torch_refuses_what_it_refuses_outside() -> None:
    texture, grid, _, _ = scene(2)
    with ForwardFormulas(), pytest.raises(ValueError, match="mode"):
        F.grid_sample(texture, grid, mode="cubic", align_corners=False)
    with ForwardFormulas(), pytest.raises(ValueError, match="compute_mode"):
        torch.cdist(grid[0, 0], grid[0, 0], compute_mode="fast")


def test_a_second_derivative_is_refused_rather_than_zero() -> None:
    texture, grid, _, grid_t = scene(2)
    run = within(lambda g: F.grid_sample(texture, g, align_corners=False))
    with pytest.raises(NotImplementedError, match="grid_sampler_2d_backward"):
        jvp(lambda g: tangent_of(run, (g,), (grid_t,)), (grid,), (grid_t,))
    with pytest.raises(NotImplementedError, match="grid_sampler_2d_backward"):
        jvp(lambda g: vjp(run, g)[1](run(g))[0], (grid,), (grid_t,))


def sets() -> tuple[Tensor, ...]:
    torch.manual_seed(5)
    points = torch.rand(2, 1, 5, 3, dtype=torch.float64)
    others = torch.rand(4, 3, dtype=torch.float64)
    return points, others, torch.randn_like(points), torch.randn_like(others)


@pytest.mark.parametrize("p", NORMS)
def test_distances_agree_with_differences_both_ways(p: float) -> None:
    points, others, points_t, others_t = sets()

    def run(points: Tensor, others: Tensor) -> Tensor:
        return torch.cdist(points, others, p=p)

    inside, inputs, seeds = within(run), (points, others), (points_t, others_t)
    tangent = tangent_of(inside, inputs, seeds)
    # |u|^0.5 bends most: five times the error of the others.
    assert close(tangent, differences(run, inputs, seeds), 5 * DIFFERENCES)
    assert close(double_vjp(inside, inputs, seeds), tangent, EXACT)
    cotangent = torch.randn_like(tangent)
    ours, theirs = vjp(inside, *inputs)[1](cotangent), vjp(run, *inputs)[1](cotangent)
    assert all(close(a, b, EXACT) for a, b in zip(ours, theirs, strict=True))


@pytest.mark.parametrize("p", [1.5, 2.0, 3.0])
def test_distances_have_a_second_derivative(p: float) -> None:
    points, others, points_t, others_t = sets()
    inputs, seeds = (points, others), (points_t, others_t)

    def slope(points: Tensor, others: Tensor) -> Tensor:
        return tangent_of(within(lambda a, b: torch.cdist(a, b, p=p)), (points, others), seeds)

    # A second derivative of the order of a hundred, from differences of a first one.
    assert close(
        tangent_of(slope, inputs, seeds), differences(slope, inputs, seeds), 10 * DIFFERENCES
    )


@pytest.mark.parametrize("p", NORMS)
def test_points_that_coincide_have_slope_zero(p: float) -> None:
    points = torch.rand(3, 2, dtype=torch.float64)
    tangent = tangent_of(within(lambda x: torch.cdist(x, points, p=p)), (points,), (points,))
    assert not tangent.diagonal().any()
    assert torch.isfinite(tangent).all()


def test_shared_inputs_of_a_batch_collect_their_cotangents() -> None:
    points, others, _, _ = sets()
    batched = vmap(within(torch.cdist), in_dims=(0, None))
    many = points[:, 0]
    cotangent = torch.randn(2, 5, 4, dtype=torch.float64)
    pulled = vjp(batched, many, others)[1](cotangent)
    expected = vjp(torch.cdist, many, others)[1](cotangent)
    assert all(close(a, b, EXACT) for a, b in zip(pulled, expected, strict=True))


def test_stand_ins_are_frozen_and_distinct() -> None:
    assert STAND_INS.keys() == {f for each in OPERATIONS for f in each.stand_ins}
    with pytest.raises(ValueError, match="taken"):
        merge((*OPERATIONS, Operation("twin", {torch.cdist: torch.cdist})))


class Twin(GridSample):
    """Wrong: the axes of the grid exchanged, as of one who takes them for (row, column)."""

    def _jacobian(self, texture: Tensor, grid: Tensor) -> Tensor:
        return super()._jacobian(texture, grid).flip(-1)


@pytest.mark.parametrize("axes", [2, 3])
def test_a_wrong_formula_does_not_pass(axes: int) -> None:
    texture, grid, _, grid_t = scene(axes)
    run = sampler("bilinear", "border", False)
    good, bad = (
        kind(0, PADDING["border"], False).tangent((texture, grid), (None, grid_t), texture)
        for kind in (GridSample, Twin)
    )
    expected = differences(lambda g: run(texture, g), (grid,), (grid_t,))
    keep = smooth(grid, False)[:, None].expand_as(expected)
    assert close(good[keep], expected[keep], DIFFERENCES)
    assert not close(bad[keep], expected[keep], 1e3 * DIFFERENCES)
