"""The `edge` strategy beside closed forms and beside a supersampled difference."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from app.engine.edges import Average, average
from app.engine.edges.interior import POINTS
from app.engine.strategies.forward import forward
from app.engine.tile import Tile
from benchmarks import machine
from benchmarks.machine import Row
from renderers import Frame, Pixels, Renderer, param, renderer

SUPERSAMPLING = 64
CLOSER = 128  # where the image varies: 64 x 64 positions count an edge's motion to 2 to 4 %
VARIES = 0.1  # more than the textures do within a pixel
MOVED = 1 / 16  # of a pixel, to either side, by the supersampled difference


@renderer(channels="grey")
def hard_disc(
    pixels: Pixels,
    radius: Tensor = param(0.5, low=0.05, high=1.5),
    centre: Tensor = param((0.0, 0.0), low=-1.0, high=1.0),
) -> Tensor:
    """A disc without a soft edge."""
    inside = (pixels.x - centre[0]) ** 2 + (pixels.y - centre[1]) ** 2 < radius**2
    return inside.to(pixels.x.dtype)


@renderer(channels="rgb")
def shapes(
    pixels: Pixels,
    shift: Tensor = param(0.1037, low=-1.0, high=1.0),
    turn: Tensor = param(0.3017, low=-3.2, high=3.2),
    size: Tensor = param(0.4531, low=0.1, high=1.0),
) -> Tensor:
    """A disc, a box and a striped triangle, textured, each over the one before."""
    x, y = pixels.x, pixels.y
    image = torch.stack([_texture(x, y, 3), 0.2 + 0 * x, 0.5 + 0.2 * y], dim=-1)
    u, v = x - shift, y - 0.2
    skin = torch.stack([_texture(u, v, 7), _texture(v, u, 5), 0.1 + 0 * x], dim=-1)
    image = torch.where((u * u + v * v < size * size)[..., None], skin, image)
    cos, sin = torch.cos(turn), torch.sin(turn)
    u, v = (x + 0.1) * cos + (y + 0.2) * sin, (y + 0.2) * cos - (x + 0.1) * sin
    skin = torch.stack([_texture(u, v, 6), _texture(v, u, 9), _texture(u, -v, 4)], dim=-1)
    image = torch.where(((u.abs() < 0.9 * size) & (v.abs() < 0.3))[..., None], skin, image)
    left, right = 1.4 * (x + 0.5 - shift), 2.5 * (0.9 - x)
    inside = (y > -0.8) & (y + 0.8 < left) & (y + 0.8 < right)
    stripes = torch.where(torch.sin(9 * (x + 0.3 * y) - 4 * turn) > 0, 0.9, 0.3).to(x.dtype)
    skin = torch.stack([stripes, 0.5 * stripes + 0.1 * _texture(x, y, 5), 0.3 + 0 * x], dim=-1)
    return torch.where(inside[..., None], skin, image)


def _texture(a: Tensor, b: Tensor, frequency: float) -> Tensor:
    return 0.5 + 0.3 * torch.sin(frequency * a + b) * torch.cos(frequency * b - a)


def tile_of(source: Renderer, wrt: str, side: int, dtype: torch.dtype, **params: object) -> Tile:
    """A square frame as one tile."""
    where = Frame(side, side, 0, side, torch.device("cpu"), dtype).pixels()
    values = {name: value.to(dtype) for name, value in source.spec.bind(params).items()}
    return Tile(source.load("cpu", dtype), where, values, (wrt,))


def arcs(side: int, radius: float, centre: tuple[float, float]) -> NDArray[np.float64]:
    """The length of a circle inside each pixel, cut at the lines between the pixels."""
    pitch = 2 / side
    grid = (np.arange(side + 1) - side / 2) * pitch
    across, upwards = (grid - centre[0]) / radius, (grid - centre[1]) / radius
    first = np.arccos(across[np.abs(across) < 1])
    second = np.arcsin(upwards[np.abs(upwards) < 1])
    turn = 2 * np.pi
    ends = np.sort(np.concatenate([[0, turn], first, turn - first, second % turn, np.pi - second]))
    middle, length = (ends[1:] + ends[:-1]) / 2, np.diff(ends) * radius
    column = np.floor((centre[0] + radius * np.cos(middle) + 1) / pitch).astype(int)
    row = np.floor((1 - centre[1] - radius * np.sin(middle)) / pitch).astype(int)
    result = np.zeros((side, side))
    np.add.at(result, (row, column), length)
    return result


def disc_rows(
    side: int, dtype: torch.dtype, radius: float, centre: tuple[float, float]
) -> list[Row]:
    """The boundary part of a hard disc beside the arcs of the circle."""
    tile = tile_of(hard_disc, "radius", side, dtype, radius=radius, centre=list(centre))
    found = average(tile, torch.ones(1, 1, dtype=dtype), forward.differentiate)
    got = found.tangents[0, ..., 0].double().numpy() * (2 / side) ** 2
    wanted = arcs(side, radius, centre)
    on = (wanted > 0) | (got != 0)
    length = 2 * np.pi * radius
    error = np.sqrt(np.mean((got - wanted)[on] ** 2)) / wanted.max()
    name = f"hard disc {side}², r {radius:g}, centre {centre}, {str(dtype)[6:]}"
    renders = _positions(found) / side**2
    return [
        Row(f"{name}: sum beside 2πr", 100 * abs(got.sum() / length - 1), 0.2, "%"),
        Row(f"{name}: RMS of a pixel, of the longest arc", 100 * float(error), 1.5, "%"),
        Row(f"{name}: evaluations", renders, 8, "renders", note=_counts(found)),
    ]


def _positions(found: Average) -> int:
    """How often the renderer was evaluated, with or without tangents."""
    moves = (found.edges.values != 0).any(-1)
    return found.edges.positions + moves[0].numel() + POINTS * int(moves.any(0).sum())


def _counts(found: Average) -> str:
    edges = found.edges
    return (
        f"{edges.pixels} pixels, {edges.crossings} crossings, {edges.vanished} vanished, "
        f"{edges.appeared} appeared, {edges.unfollowed} unfollowed"
    )


def averaged(tile: Tile, value: Tensor, number: int) -> Tensor:
    """The image averaged over `number^2` positions of each pixel, many pixels after another.

    Rows of positions are shifted against each other by multiples of the golden ratio: an edge
    along the grid would otherwise be counted with the same error by all of them.
    """
    where = tile.where
    assert isinstance(where, Pixels)
    step = where.pitch / number
    each = torch.arange(number, dtype=where.x.dtype)
    grid = (each + 0.5) * step - where.pitch / 2
    along = grid[:, None] + (each * 0.6180339887 % 1 - 0.5) * step
    upwards = grid + (each[:, None] * 0.7548776662 % 1 - 0.5) * step
    many = max(1, 2**18 // number**2)
    means = []
    for x, y in zip(torch.split(where.x, many), torch.split(where.y, many), strict=True):
        sub = Pixels(
            x[:, None, None] + along, y[:, None, None] + upwards, where.width, where.height
        )
        means.append(tile.at(sub, value).mean((1, 2)))
    return torch.cat(means)


def supersampled(tile: Tile, step: float, number: int) -> Tensor:
    """The central difference of the averaged image."""
    high, low = (averaged(tile, tile.value + sign * step, number) for sign in (1, -1))
    return (high - low) / (2 * step)


def reference(tile: Tile, step: float) -> tuple[Tensor, Tensor]:
    """The supersampled difference, and one that counts closer where the image varies."""
    where = tile.where
    assert isinstance(where, Pixels)
    flat = replace(tile, where=Pixels(where.x.ravel(), where.y.ravel(), where.width, where.height))
    wanted = supersampled(flat, step, SUPERSAMPLING)
    corners = torch.stack(
        [
            tile.at(replace(where, x=where.x + right, y=where.y + up), tile.value)
            for right in (torch.linspace(-0.5, 0.5, 8) * where.pitch).tolist()
            for up in (torch.linspace(-0.5, 0.5, 8) * where.pitch).tolist()
        ]
    )
    varies = ((corners.amax(0) - corners.amin(0)) > VARIES).any(-1).ravel()
    closer = wanted.clone()
    chosen = Pixels(where.x.ravel()[varies], where.y.ravel()[varies], where.width, where.height)
    closer[varies] = supersampled(replace(tile, where=chosen), step, CLOSER)
    shape = (*where.shape, -1)
    return wanted.reshape(shape), closer.reshape(shape)


def scene_rows(wrt: str, side: int) -> list[Row]:
    """Edges on textures, one behind the other, beside a supersampled central difference."""
    tile = tile_of(shapes, wrt, side, torch.float64)
    coarse, wanted = reference(tile, MOVED * 2 / side)
    one = torch.ones(1, 1, dtype=torch.float64)
    _, interior = forward.differentiate(tile, one)
    found = average(tile, one, forward.differentiate)

    def off(got: Tensor, right: Tensor) -> float:
        return 100 * float((got - right).norm() / right.norm())

    error = found.tangents[0] - wanted
    largest = 100 * float(error.square().mean().sqrt() / wanted.abs().max())
    name = f"textured shapes {side}², {wrt}"
    renders, alone = _positions(found) / side**2, off(interior[0], wanted)
    note = f"{renders:.0f} renders; forward alone {alone:.0f} %; "
    note += f"beside {SUPERSAMPLING}² positions a pixel {off(found.tangents[0], coarse):.1f} %, "
    note += f"which are off themselves by {off(coarse, wanted):.1f} %"
    whole = off(found.tangents[0], wanted)
    return [
        Row(f"{name}: RMS of a pixel, of the largest", largest, 3, "%", note=_counts(found)),
        Row(f"{name}: RMS of the error over RMS of the map", whole, 3, "%", note=note),
    ]


def rows() -> Iterator[Row]:
    """The table of this file."""
    yield from disc_rows(256, torch.float32, 0.5, (0.0, 0.0))
    yield from disc_rows(256, torch.float32, 0.4123, (0.0123, 0.0345))
    for wrt in ("shift", "turn", "size"):
        yield from scene_rows(wrt, 64)


if __name__ == "__main__":
    machine.table(rows())
