"""Moving silhouettes against closed forms: arcs of circles, areas of clipped polygons, lengths."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from app.engine.edges import Boundary, PositionsError, Settings, average, boundary
from app.engine.errors import EngineError
from app.engine.strategies.edge import edge
from app.engine.strategies.forward import forward
from app.engine.tile import Tile
from renderers import Frame, Pixels, Renderer, param, renderer
from renderers.disc import disc
from tests.tolerances import (
    EDGE_END,
    EDGE_MEETING,
    EDGE_PIXEL,
    EDGE_SUM,
    EDGE_TIP,
    EDGE_TWO_SIDES,
)

Array = NDArray[np.float64]
CPU = torch.device("cpu")
DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["f32", "f64"])


@renderer(channels="grey")
def half_plane(
    pixels: Pixels, c: Tensor = param(0.05, low=-1, high=1), angle: Tensor = param(0.0)
) -> Tensor:
    inside = pixels.x * torch.cos(angle) + pixels.y * torch.sin(angle) < c
    return inside.to(pixels.x.dtype)


@renderer(channels="grey")
def line_of_eight(pixels: Pixels, c: Tensor = param(0.05, low=-1, high=1)) -> Tensor:
    return (pixels.x / 7 < c).to(pixels.x.dtype)  # a frame of 8 x 1 spans -8 to 8


@renderer(channels="grey")
def hard_disc(
    pixels: Pixels,
    radius: Tensor = param(0.5, low=0.05, high=1.5),
    centre: Tensor = param((0.0123, 0.0345)),
    colour: Tensor = param(1.0),
) -> Tensor:
    inside = (pixels.x - centre[0]) ** 2 + (pixels.y - centre[1]) ** 2 < radius**2
    return inside * colour


CORNERS = np.array([[0.61, 0.07], [-0.32, 0.53], [-0.21, -0.47]])


@renderer(channels="grey")
def triangle(
    pixels: Pixels, angle: Tensor = param(0.2), size: Tensor = param(1.0, low=0.1, high=2.0)
) -> Tensor:
    cos, sin = torch.cos(angle) / size, torch.sin(angle) / size
    x, y = cos * pixels.x + sin * pixels.y, cos * pixels.y - sin * pixels.x
    inside = torch.ones_like(x, dtype=torch.bool)
    for (ax, ay), (bx, by) in zip(CORNERS, np.roll(CORNERS, -1, axis=0), strict=True):
        inside = inside & ((bx - ax) * (y - ay) - (by - ay) * (x - ax) > 0)
    return inside.to(x.dtype)


@renderer(channels="grey")
def two_discs(
    pixels: Pixels, below: Tensor = param(0.5, low=0.1, high=1), above: Tensor = param(0.4)
) -> Tensor:
    first = (pixels.x + 0.2) ** 2 + pixels.y**2 < below**2
    second = (pixels.x - 0.3) ** 2 + pixels.y**2 < above**2
    return torch.where(second, 0.25 * torch.ones_like(pixels.x), first.to(pixels.x.dtype))


@renderer(channels=("a", "b", "c"))
def shaded(pixels: Pixels, c: Tensor = param(0.113, low=-1, high=1)) -> Tensor:
    x, y = pixels.x, pixels.y
    inside = (x + 0.3 * y < c).to(x.dtype)
    shade = torch.sin(3 * x) + 2 * x * y
    return torch.stack([inside + shade, shade - 0.5 * inside, c * shade], dim=-1)


@renderer(channels="grey")
def two_sides(pixels: Pixels, c: Tensor = param(0.113, low=-1, high=1)) -> Tensor:
    return torch.where(pixels.x < c, 2 + 3 * c, -c)


@renderer(channels="grey")
def quarter(pixels: Pixels, c: Tensor = param(0.113), top: Tensor = param(0.1)) -> Tensor:
    return ((pixels.x + 0.3 * pixels.y < c) & (pixels.y < top)).to(pixels.x.dtype)


@renderer(channels="grey")
def wedge(pixels: Pixels, c: Tensor = param(0.105, low=-1, high=1)) -> Tensor:
    x, y = pixels.x, pixels.y - 0.5595
    return ((y < 1.4 * (x - c)) & (y < 1.4 * (0.12 - x))).to(x.dtype)  # its tip is at y = 0.57


@renderer(channels="grey")
def appears(pixels: Pixels, p: Tensor = param(0.5, low=0, high=1)) -> Tensor:
    return ((pixels.x**2 + pixels.y**2 < 0.25) & (p > 0.5)).to(pixels.x.dtype)


@renderer(channels="grey")
def noise(pixels: Pixels, p: Tensor = param(0.5, low=0, high=1)) -> Tensor:
    return torch.frac(1e4 * torch.sin(1e3 * pixels.x + 3e3 * pixels.y)) * p


@renderer(channels="grey")
def whole(frame: Frame, p: Tensor = param(0.5)) -> Tensor:
    return p.expand(frame.stop - frame.start, frame.width)


def tile_of(
    source: Renderer,
    wrt: str,
    *,
    size: tuple[int, int] = (48, 48),
    rows: tuple[int, int] | None = None,
    dtype: torch.dtype = torch.float64,
    **params: object,
) -> Tile:
    start, stop = rows or (0, size[1])
    frame = Frame(*size, start, stop, CPU, dtype)
    where = frame.pixels() if source.spec.kind == "pixel" else frame
    values = {name: value.to(dtype) for name, value in source.spec.bind(params).items()}
    return Tile(source.load(CPU, dtype), where, values, (wrt,))


def unit(tile: Tile) -> Tensor:
    """Every unit direction of the parameter."""
    value = tile.value
    return torch.eye(value.numel(), dtype=value.dtype).reshape(-1, *value.shape)


def found(tile: Tile, **settings: float) -> Boundary:
    return boundary(tile, tile(tile.value), unit(tile), Settings(**settings))  # type: ignore[arg-type]


def values(tile: Tile, index: int = 0) -> Array:
    """What the strategy answers, times the area of a pixel."""
    _, tangents = edge.differentiate(tile, unit(tile))
    assert isinstance(tile.where, Pixels)
    return (tangents[index, ..., 0].double() * tile.where.pitch**2).numpy()


def off(got: Array, wanted: Array) -> float:
    """Root of the mean square over the pixels with an edge, relative to the largest."""
    on = (wanted != 0) | (got != 0)
    return float(np.sqrt(np.mean((got - wanted)[on] ** 2)) / np.abs(wanted).max())


def arcs(size: int, radius: float, centre: tuple[float, float]) -> Array:
    """The length of a circle inside each pixel, cut at the lines between the pixels."""
    pitch = 2 / size
    grid = (np.arange(size + 1) - size / 2) * pitch
    cuts = [np.array([0, 2 * np.pi])]
    across = (grid - centre[0]) / radius
    angle = np.arccos(across[np.abs(across) < 1])
    cuts += [angle, 2 * np.pi - angle]
    across = (grid - centre[1]) / radius
    angle = np.arcsin(across[np.abs(across) < 1])
    cuts += [angle % (2 * np.pi), np.pi - angle]
    ends = np.sort(np.concatenate(cuts))
    middle, length = (ends[1:] + ends[:-1]) / 2, np.diff(ends) * radius
    column = np.floor((centre[0] + radius * np.cos(middle) + 1) / pitch).astype(int)
    row = np.floor((1 - centre[1] - radius * np.sin(middle)) / pitch).astype(int)
    result = np.zeros((size, size))
    np.add.at(result, (row, column), length)
    return result


def clipped_area(corners: Array, box: tuple[float, float, float, float]) -> float:
    """The area of a polygon inside a box: cut by its four sides, then the shoelace formula."""
    for axis, limit, sign in ((0, box[0], 1), (0, box[1], -1), (1, box[2], 1), (1, box[3], -1)):
        kept: list[Array] = []
        for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
            da, db = sign * (a[axis] - limit), sign * (b[axis] - limit)
            if da >= 0:
                kept.append(a)
            if da * db < 0:
                kept.append(a + (b - a) * da / (da - db))
        if len(kept) < 3:
            return 0.0
        corners = np.array(kept)
    x, y = corners.T
    return float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) / 2


def triangle_areas(size: int, angle: float, scale: float) -> Array:
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    corners, pitch = scale * CORNERS @ turn, 2 / size
    rows, columns = np.mgrid[:size, :size]
    return np.array(
        [
            clipped_area(corners, (x, x + pitch, y, y + pitch))
            for x, y in zip(
                -1 + columns.ravel() * pitch, 1 - (rows.ravel() + 1) * pitch, strict=True
            )
        ]
    ).reshape(size, size)


@DTYPES
def test_the_crossing_of_a_line_of_eight_pixels(dtype: torch.dtype) -> None:
    tile = tile_of(line_of_eight, "c", size=(8, 1), dtype=dtype)
    _, tangents = edge.differentiate(tile, unit(tile))
    assert float(tangents.sum()) * 2 / 7 == pytest.approx(1, abs=EDGE_SUM)
    assert tangents[0, 0, :, 0].nonzero().flatten().tolist() == [4]


@pytest.mark.parametrize("angle", [0.0, 0.3, 0.7853981633974483, 1.1, 1.5707963267948966, 2.5, 4.0])
def test_a_half_plane_at_any_angle(angle: float) -> None:
    got = values(tile_of(half_plane, "c", c=0.0503, angle=angle))
    assert got.sum() == pytest.approx(length_inside(0.0503, angle), rel=EDGE_SUM)


def length_inside(c: float, angle: float) -> float:
    """The length of a line inside the square from -1 to 1."""
    normal, along = (
        np.array([np.cos(angle), np.sin(angle)]),
        np.array([-np.sin(angle), np.cos(angle)]),
    )
    low, high = -10.0, 10.0
    for axis in (0, 1):
        if abs(along[axis]) > 1e-12:
            ends = sorted((side - c * normal[axis]) / along[axis] for side in (-1, 1))
            low, high = max(low, ends[0]), min(high, ends[1])
    return high - low


@DTYPES
@pytest.mark.parametrize("centre", [(0.0, 0.0), (0.0123, 0.0345)], ids=["on the grid", "off it"])
def test_the_radius_of_a_disc_gives_the_arc_in_each_pixel(
    centre: tuple[float, float], dtype: torch.dtype
) -> None:
    got = values(tile_of(hard_disc, "radius", size=(64, 64), dtype=dtype, centre=list(centre)))
    assert got.sum() == pytest.approx(np.pi, rel=EDGE_SUM)
    assert off(got, arcs(64, 0.5, centre)) <= EDGE_PIXEL


def test_entries_of_the_centre_move_the_first_moment() -> None:
    tile = tile_of(hard_disc, "centre")
    assert isinstance(tile.where, Pixels)
    x, y = tile.where.x.numpy(), tile.where.y.numpy()
    for index, (along, across) in enumerate(((x, y), (y, x))):
        got = values(tile, index)
        assert abs(got.sum()) <= EDGE_SUM
        assert (got * along).sum() == pytest.approx(np.pi / 4, rel=2 * EDGE_SUM)
        assert abs((got * across).sum()) <= EDGE_SUM


@pytest.mark.parametrize(("wrt", "step"), [("angle", (1e-6, 0)), ("size", (0, 1e-6))])
def test_a_polygon_turns_and_grows(wrt: str, step: tuple[float, float]) -> None:
    got = values(tile_of(triangle, wrt, size=(32, 32)))
    high = triangle_areas(32, 0.2 + step[0], 1 + step[1])
    low = triangle_areas(32, 0.2 - step[0], 1 - step[1])
    wanted = (high - low) / 2e-6
    wanted[np.abs(wanted) < 1e-9] = 0
    assert got.sum() == pytest.approx(wanted.sum(), abs=0.01)
    assert off(got, wanted) <= EDGE_MEETING


def test_discs_that_overlap() -> None:
    # Half of the angle under which the lower circle lies inside the upper one, by cosines.
    inside = np.arccos((0.5**2 + 0.5**2 - 0.4**2) / (2 * 0.5 * 0.5))
    assert values(tile_of(two_discs, "below")).sum() == pytest.approx(
        0.5 * (2 * np.pi - 2 * inside), rel=3 * EDGE_SUM
    )
    under = np.arccos((0.5**2 + 0.4**2 - 0.5**2) / (2 * 0.5 * 0.4))
    expected = 0.4 * (-0.75 * 2 * under + 0.25 * (2 * np.pi - 2 * under))
    assert values(tile_of(two_discs, "above")).sum() == pytest.approx(expected, abs=0.02)


@DTYPES
def test_jumps_on_shading_in_several_channels(dtype: torch.dtype) -> None:
    tile = tile_of(shaded, "c", dtype=dtype)
    assert isinstance(tile.where, Pixels)
    result = found(tile)
    sums = result.values[0].double().sum((0, 1)) * tile.where.pitch**2
    assert sums.tolist() == pytest.approx([2, -1, 0], abs=2 * 2 * EDGE_SUM)
    _, smooth = forward.differentiate(tile, unit(tile))
    _, both = edge.differentiate(tile, unit(tile))
    # A bracket's width of the shading is left in the jump.
    torch.testing.assert_close(both[..., 2], smooth[..., 2], rtol=0, atol=1e-3)
    assert result.vanished == result.appeared == result.unfollowed == 0


@DTYPES
def test_each_side_of_an_edge_counts_by_its_part_of_the_pixel(dtype: torch.dtype) -> None:
    tile = tile_of(two_sides, "c", size=(16, 16), dtype=dtype, c=0.034)
    found = average(tile, unit(tile), forward.differentiate)
    # The edge is at 0.272 of the pixel from 0 to 1/8, whose centre has -1.
    at = found.edges.values[0, :, 8, 0] != 0
    assert bool(at.all())
    inside = (found.tangents - found.edges.values)[0, ..., 0]
    wanted = 3 * 0.272 - (1 - 0.272)
    assert float((inside[:, 8] - wanted).abs().max()) <= EDGE_TWO_SIDES * 4
    assert float((inside[:, 8] - wanted).abs().max()) <= 4 * float(found.standard_error.max())
    assert bool((inside[:, :8] == 3).all())
    assert bool((inside[:, 9:] == -1).all())


@pytest.mark.parametrize("part", [0.05, 0.2, 0.35, 0.5, 0.6, 0.85, 0.97])
def test_an_edge_that_ends_at_another_counts_to_its_end(part: float) -> None:
    pitch = 2 / 16
    got = values(tile_of(quarter, "c", size=(16, 16), top=(2 + part) * pitch)) / pitch
    # Per row the edge moves by one with c; in the row of the top it is as long as that row is full.
    assert got[5].sum() == pytest.approx(part, abs=EDGE_END)
    assert got[6].sum() == pytest.approx(1, abs=EDGE_END)


def test_the_tip_of_a_wedge_between_two_samples_of_a_line_is_seen() -> None:
    pitch = 2 / 16
    tile = tile_of(wedge, "c", size=(16, 16))
    assert isinstance(tile.where, Pixels)
    # The left side alone moves: each row loses as much as the wedge is high in it. In the last row
    # it has left the frame.
    high = np.clip((0.57 - tile.where.y[:, 0].numpy()) / pitch + 0.5, 0, 1)
    got = values(tile).sum(1) / pitch
    np.testing.assert_allclose(got[:-1], -high[:-1], atol=EDGE_TIP)


def test_what_was_met_is_added_up_over_the_tiles_of_a_map() -> None:
    whole, bands = edge.begun(), edge.begun()
    tile = tile_of(triangle, "angle", size=(31, 29))
    whole.differentiate(tile, unit(tile))
    for start in range(0, 29, 10):
        band = tile_of(triangle, "angle", size=(31, 29), rows=(start, min(start + 10, 29)))
        bands.differentiate(band, unit(band))
    one, many = whole.evidence(), bands.evidence()
    assert one is not None
    assert many is not None
    assert dict(one.counts) == dict(many.counts)
    assert one.counts["crossings"] > 0
    assert one.relative == pytest.approx(many.relative)
    assert 0 < one.relative < EDGE_SUM
    assert edge.evidence() is None
    fresh = edge.begun().evidence()
    assert fresh is not None
    assert not any(fresh.counts.values())


def test_edges_that_are_lost_are_a_finding() -> None:
    strategy = edge.begun()
    tile = tile_of(appears, "p", p=0.5)
    strategy.differentiate(tile, unit(tile))
    evidence = strategy.evidence()
    assert evidence is not None
    assert [finding.code for finding in evidence.findings] == ["edges_lost"]
    assert f"{evidence.counts['appeared']} appeared" in evidence.findings[0].message


def test_what_appears_within_the_step_is_counted() -> None:
    result = found(tile_of(appears, "p", p=0.5))
    assert result.appeared > 0
    assert not result.values.any()
    there = found(tile_of(appears, "p", p=0.5 + 1e-12))
    assert there.vanished > 0
    assert not there.values.any()


def test_an_image_without_edges_is_that_of_forward_mode() -> None:
    tile = tile_of(disc, "radius", size=(64, 64), softness=0.3)
    image, tangents = forward.differentiate(tile, unit(tile))
    mine, derivative = edge.differentiate(tile, unit(tile))
    assert torch.equal(image, mine)
    assert torch.equal(tangents, derivative)
    result = found(tile)
    assert result.pixels == result.crossings == 0
    assert result.positions <= 0.6 * 64 * 64


def test_a_parameter_that_moves_no_edge_has_the_interior_alone() -> None:
    tile = tile_of(hard_disc, "colour")
    _, tangents = forward.differentiate(tile, unit(tile))
    assert torch.equal(edge.differentiate(tile, unit(tile))[1], tangents)
    assert found(tile).crossings > 0


@pytest.mark.parametrize("size", [(1, 40), (40, 1), (1, 1), (7, 3)])
def test_odd_frames(size: tuple[int, int]) -> None:
    angle = np.pi / 2 if size[0] == 1 else 0.0
    tile = tile_of(half_plane, "c", size=size, c=0.3, angle=angle)
    assert values(tile).sum() == pytest.approx(2, rel=EDGE_SUM)


@DTYPES
def test_bands_are_the_whole(dtype: torch.dtype) -> None:
    tile = tile_of(triangle, "angle", size=(31, 29), dtype=dtype)
    _, together = edge.differentiate(tile, unit(tile))
    parts = []
    for start in range(0, 29, 5):
        band = tile_of(
            triangle, "angle", size=(31, 29), rows=(start, min(start + 5, 29)), dtype=dtype
        )
        parts.append(edge.differentiate(band, unit(band))[1])
    assert torch.equal(together, torch.cat(parts, dim=1))


def test_edges_everywhere_take_bounded_work_and_are_counted() -> None:
    result = found(tile_of(noise, "p", size=(24, 24)), budget=1.0, least=40_000)
    assert result.unfollowed > 0
    assert result.positions <= 2 * 40_000


def test_the_standard_error_is_that_of_the_velocity() -> None:
    result = found(tile_of(half_plane, "c", c=0.0503, size=(32, 32)))
    at = result.values[0, ..., 0] > 0
    error = (result.values[0, ..., 0][at] * (2 / 32) - 1).abs()
    # All lines through a pixel cross a straight edge alike: their errors do not average out.
    bound = result.standard_error[0, ..., 0][at] * (2 / 32) * Settings().lines ** 0.5
    assert bool((error <= 3 * bound).all())
    assert float(bound.max()) <= EDGE_SUM


def test_a_renderer_of_whole_frames_is_refused() -> None:
    tile = tile_of(whole, "p")
    with pytest.raises(PositionsError, match="whole frames") as refused:
        edge.differentiate(tile, unit(tile))
    assert isinstance(refused.value, EngineError)
    assert refused.value.field == "strategy"
