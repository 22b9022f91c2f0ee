"""The certificate: what it costs, which pixels it chooses, and what it finds in a tampered map."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from app.engine import Task, sensitivity_map
from app.engine.certificate import Certificate, certify
from app.engine.chosen import SMALL, chosen, steep, telling_rows
from app.engine.differences import central, inwards
from app.engine.extrapolation import LEVELS, estimate
from app.engine.leaps import Way, is_leap
from app.engine.loop import Arrays
from app.engine.prepared import Prepared
from app.engine.tile import Tile
from renderers import Frame, Loaded, Pixels, Renderer, param, renderer
from renderers.sphere import sphere
from tests.engine.conftest import task_of

# Calls that a map which agrees may cost: both sides of a difference, and one look between pixels.
CALLS = 3


@renderer(channels="grey", halo=2)
def blurred(frame: Frame, a: Tensor = param(1.5)) -> Tensor:
    source = torch.sin(4 * a * frame.pixels().y) * frame.pixels().x
    padded = torch.nn.functional.pad(source.T, (2, 2), mode="replicate").T
    parts = [padded[k : k + len(source)] for k in range(5)]
    return torch.stack(parts).mean(0)


def counting(source: Renderer) -> tuple[Loaded, list[int]]:
    """A renderer in float64, and how many positions it was asked for at each call."""
    asked: list[int] = []
    loaded = source.load("cpu", torch.float64)
    function = loaded.function

    def counted(where: Pixels | Frame, **params: Tensor) -> Tensor:
        asked.append(where.x.numel() if isinstance(where, Pixels) else where.stop - where.start)
        return function(where, **params)

    object.__setattr__(loaded, "function", counted)
    return loaded, asked


def untouched(_: Arrays) -> None:
    """A map as it was computed."""


def certified(
    loaded: Loaded, task: Task, tamper: Callable[[Arrays], None] = untouched
) -> Certificate:
    """The certificate of a map that may have been tampered with after it was computed."""
    found = sensitivity_map(loaded, task)
    assert found.values is not None
    out = Arrays(image=found.image.copy(), maps=(found.values.copy(),))
    tamper(out)
    tiles = Prepared.prepare(loaded, task, found.method.verdict)
    return certify(tiles, out, found.method.verdict, found.statistics)


@pytest.mark.parametrize("wrt", ["radius", "light"])
def test_a_map_that_agrees_costs_few_calls_of_few_pixels(wrt: str) -> None:
    loaded, asked = counting(sphere)
    task = task_of(loaded, wrt, size=(512, 512))
    found = sensitivity_map(loaded, task)
    assert found.values is not None
    tiles = Prepared.prepare(loaded, task, found.method.verdict)
    asked.clear()
    certificate = certify(
        tiles,
        Arrays(image=found.image, maps=(found.values,)),
        found.method.verdict,
        found.statistics,
    )
    assert not certificate.findings
    assert certificate.pixels > 100
    assert len(asked) <= CALLS
    assert sum(asked) < 0.05 * 512 * 512


def test_the_rows_of_a_frame_are_asked_for_with_their_halo_alone() -> None:
    loaded, asked = counting(blurred)
    task = task_of(loaded, "a", size=(40, 600))
    found = sensitivity_map(loaded, task)
    assert found.values is not None
    tiles = Prepared.prepare(loaded, task, found.method.verdict)
    asked.clear()
    out = Arrays(image=found.image, maps=(found.values,))
    certificate = certify(tiles, out, found.method.verdict, found.statistics)
    assert not certificate.findings
    assert certificate.pixels >= 40
    assert max(asked) <= 5
    assert sum(asked) <= 0.1 * 600


def block(rows: slice, columns: slice) -> Callable[[Arrays], None]:
    def tamper(out: Arrays) -> None:
        out.maps[0][rows, columns] *= 0.5

    return tamper


@pytest.mark.parametrize(
    "tamper",
    [
        block(slice(None), slice(None)),
        block(slice(300, 330), slice(250, 290)),
        block(slice(290, 291), slice(None)),
        block(slice(None, None, 7), slice(None, None, 11)),
    ],
    ids=["all of it", "a block", "a row", "a pattern"],
)
def test_a_part_of_a_large_map_that_is_wrong_refutes_it(
    loaded: Loaded, tamper: Callable[[Arrays], None]
) -> None:
    task = task_of(loaded, "colour", size=(600, 600))
    assert not certified(loaded, task).refuted
    found = certified(loaded, task, tamper)
    if loaded.dtype is torch.float64 or found.wrong > 0.05 * found.pixels:
        assert found.refuted
        assert {finding.code for finding in found.doubts} == {"partly_detached"}
        assert found.doubts[0].pixels
    else:
        # In float32 a few strays are what rounding and kinks do; they are counted all the same.
        assert found.wrong


@pytest.mark.parametrize("rows", [slice(None), slice(9, 22)])
def test_so_does_one_of_the_map_of_a_frame(rows: slice) -> None:
    loaded = blurred.load("cpu", torch.float64)
    task = task_of(loaded, "a", size=(90, 90))
    assert not certified(loaded, task).refuted
    assert certified(loaded, task, block(rows, slice(None))).refuted


@pytest.mark.parametrize("size", [(1, 1), (1, 7), (2, 300), (7, 5000), (5000, 7), (128, 128)])
def test_chosen_pixels_are_distinct_and_lie_in_the_frame(size: tuple[int, int]) -> None:
    width, height = size
    drawn = np.random.default_rng(1)
    out = Arrays(
        image=drawn.random((height, width, 3)), maps=(drawn.random((height, width, 3, 2)),)
    )
    rows, columns = chosen(out, np.ones(2))
    assert 0 <= int(rows.min()) <= int(rows.max()) < height
    assert 0 <= int(columns.min()) <= int(columns.max()) < width
    pairs = set(zip(rows.tolist(), columns.tolist(), strict=True))
    assert len(pairs) == len(rows)
    assert set(telling_rows(out, 5)) <= set(range(height))


@pytest.mark.parametrize("array", ["image", "map"])
@pytest.mark.parametrize("place", [(0, 0), (31, 31), (40, 32), (63, 127), (17, 96)])
def test_the_one_pixel_that_differs_is_chosen_of_a_small_frame(
    place: tuple[int, int], array: str
) -> None:
    out = Arrays(image=np.zeros((64, 128, 1)), maps=(np.zeros((64, 128, 1)),))
    assert out.image.size <= SMALL
    changed = {"image": out.image, "map": out.maps[0]}[array]
    changed[place] = 1e-3
    rows, columns = chosen(out, np.ones(2))
    assert place in set(zip(rows.tolist(), columns.tolist(), strict=True))


def test_what_is_no_number_is_no_largest_value() -> None:
    image = np.zeros((600, 600, 1))
    values = np.full((600, 600, 1), np.nan)
    values[:, 300:] = 1.0
    values[:, 450:460] = 5.0
    rows, columns = chosen(Arrays(image=image, maps=(values,)), np.ones(1))
    assert int((values[rows, columns] == 5.0).sum()) >= 15


def test_only_pixels_beside_a_change_are_steep() -> None:
    image = np.zeros((8, 8, 1))
    image[4:, :] = 1.0
    rows, columns = (
        axis.flatten() for axis in torch.meshgrid(*[torch.arange(8)] * 2, indexing="ij")
    )
    assert torch.equal(steep(image, rows, columns, 0.5), rows == 3)


@renderer(channels="grey")
def of_a_vector(pixels: Pixels, a: Tensor = param((0.0, 0.5, 1.0), low=0.0, high=1.0)) -> Tensor:
    return a[0] ** 2 + a[0] + torch.sin(a[1]) + a[2] ** 3 + 0 * pixels.x


def tile_at(source: Renderer, x: Tensor, **params: object) -> Tile:
    loaded = source.load("cpu", torch.float64)
    values = loaded.spec.bind(params)
    return Tile(loaded, Pixels(x, 0 * x, 8, 8), values, tuple(values)[:1])


def test_entries_at_either_bound_are_moved_inwards_each_by_itself() -> None:
    tile = tile_at(of_a_vector, torch.zeros(3, dtype=torch.float64))
    direction = torch.ones(3, dtype=torch.float64)
    ahead, behind = inwards(tile, direction, 1e-4)
    assert (ahead[0].tolist(), ahead[1]) == ([1, 1, 0], 1)
    assert (behind[0].tolist(), behind[1]) == ([0, 0, 1], -1)
    found = central(tile, direction, 1e-4)
    assert found[0, 0].item() == pytest.approx(1 + np.cos(0.5) + 3, rel=1e-6)


@renderer(channels="grey")
def waves(pixels: Pixels, a: Tensor = param(1.3)) -> Tensor:
    return torch.exp(torch.sin(a * pixels.x))


@renderer(channels="grey")
def folded(pixels: Pixels, a: Tensor = param(0.0)) -> Tensor:
    return (a - pixels.x).abs() + a


X = torch.arange(-20, 21, dtype=torch.float64) / 20


def test_a_smooth_image_is_moved_by_few_steps_and_a_kinked_one_by_all() -> None:
    one = torch.ones(1, dtype=torch.float64)
    smooth = estimate(tile_at(waves, X), one)
    assert len(smooth.steps) < LEVELS
    right = X * torch.cos(1.3 * X) * torch.exp(torch.sin(1.3 * X))
    assert float((smooth.values[:, 0] - right).abs().max()) <= 1e-8
    assert len(estimate(tile_at(waves, X), one, deep=True).steps) == LEVELS
    # One kink lies beside the value, within the step at which one might stop.
    x = torch.cat([X, torch.full((1,), 1e-4, dtype=torch.float64)])
    kinked = estimate(tile_at(folded, x), one)
    assert len(kinked.steps) > len(smooth.steps)
    assert torch.equal(kinked.creased, x == 0)


@renderer(channels="grey")
def step_at(pixels: Pixels, a: Tensor = param(0.5), width: Tensor = param(0.0)) -> Tensor:
    hard = (a > 0.3217).to(a.dtype)
    soft = torch.sigmoid((a - 0.3217) / width) if width > 0 else hard
    return soft + a * pixels.x + 0.1 * torch.sin(9 * a)


@pytest.mark.parametrize(("width", "leap"), [(0.0, True), (1e-3, False), (1e-4, False)])
def test_a_leap_is_told_from_what_is_only_steep(width: float, leap: bool) -> None:
    tile = tile_at(step_at, X, width=width)
    way = Way(*(torch.tensor([end], dtype=torch.float64) for end in (0.0, 1.0)))
    assert is_leap(tile, way, 7) is leap
    beyond = Way(*(torch.tensor([end], dtype=torch.float64) for end in (0.4, 1.0)))
    assert not is_leap(tile, beyond, 7)
