"""Where hard edges are suspected, and by how many calls of the renderer that is found out."""

import pytest
import torch
from torch import Tensor

from app.engine.jumps import moving_jumps
from app.engine.tile import Tile
from renderers import Frame, Pixels, Renderer, param, renderer

SIDE = 24
CALLS: list[int] = []


def counted(pixels: Pixels) -> Tensor:
    """The distance from the centre; notes down how many positions were asked for."""
    CALLS.append(pixels.x.numel())
    return torch.sqrt(pixels.x**2 + pixels.y**2)


@renderer(channels="grey")
def soft(pixels: Pixels, r: Tensor = param(0.61, low=0.1, high=1.0)) -> Tensor:
    return torch.sigmoid((r - counted(pixels)) / 0.1)


@renderer(channels="grey")
def hard(pixels: Pixels, r: Tensor = param(0.61, low=0.1, high=1.0)) -> Tensor:
    return (counted(pixels) < r).to(pixels.x.dtype) + 0.1 * pixels.x


@renderer(channels="grey")
def still(pixels: Pixels, r: Tensor = param(0.61, low=0.1, high=1.0)) -> Tensor:
    return r * (counted(pixels) < 0.61)


@renderer(channels="grey")
def holed(pixels: Pixels, r: Tensor = param(0.61, low=0.1, high=1.0)) -> Tensor:
    return r * pixels.x + torch.where(counted(pixels) < 0.61, torch.nan, 0.0)


def suspected(source: Renderer, r: float = 0.61) -> tuple[Tensor, int]:
    """Which pixels of a frame are suspected, `(SIDE, SIDE)`, and the number of calls."""
    frame = Frame(SIDE, SIDE, 0, SIDE, torch.device("cpu"), torch.float64).pixels()
    where = Pixels(frame.x.reshape(-1), frame.y.reshape(-1), SIDE, SIDE)
    values = {name: value.double() for name, value in source.spec.bind({"r": r}).items()}
    tile = Tile(source.load("cpu", torch.float64), where, values, ("r",))
    CALLS.clear()
    found = moving_jumps(tile, torch.ones(1, dtype=torch.float64), step=1e-4, span=1.0)
    return found.reshape(SIDE, SIDE), len(CALLS)


def test_one_call_tells_that_an_image_is_smooth() -> None:
    found, calls = suspected(soft)
    assert not found.any()
    assert calls == 1


@pytest.mark.parametrize(("r", "most"), [(0.61, 3), (1.0, 3)], ids=["within bounds", "at a bound"])
def test_a_moving_edge_is_seen_from_the_left_and_from_above(r: float, most: int) -> None:
    found, calls = suspected(hard, r)
    middle = (torch.arange(SIDE + 1, dtype=torch.float64) + 0.5) * 2 / SIDE - 1
    inside = middle[:, None] ** 2 + middle**2 < r**2
    here = inside[:-1, :-1]
    assert torch.equal(found, (here != inside[:-1, 1:]) | (here != inside[1:, :-1]))
    assert calls <= most


@pytest.mark.parametrize("source", [still, holed])
def test_an_edge_that_rests_is_no_suspect(source: Renderer) -> None:
    found, calls = suspected(source)
    assert not found.any()
    assert calls <= 4
