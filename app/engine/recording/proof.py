"""Proving a recording: it must give the bits of the renderer itself, where it was not recorded."""

from collections.abc import Callable

import torch
from torch import Tensor

from app.engine.directions import Directions
from app.engine.evaluate import flattened
from app.engine.recording.errors import UnrecordableError
from app.engine.recording.recording import Recording, Replay
from app.engine.strategies import Gradient, Strategy
from app.engine.tile import Tile
from app.engine.trial import spread
from renderers import Param, Pixels

# How far parameters are moved, as a part of the way to an inner point of their range.
MOVED = 0.05
INNER = 0.37
# Parts of their ranges to which parameters are moved for a look at the image alone, at few pixels.
FAR = (0.1, 0.9)
FEW = 64

Same = Callable[[Tensor, Tensor], bool]


def prove(recording: Recording, tile: Tile, strategy: Strategy | None, count: int) -> None:
    """Compare a recording with the renderer at the tile's values, and at others.

    Args:
        recording: what is to be proven.
        tile: the frame and the parameter values.
        strategy: how it is differentiated; None for the image.
        count: at how many positions, at least.

    Raises:
        UnrecordableError: they differ in a bit, or could not be compared.
    """
    there = positions(tile, count)
    fresh = {
        name: moved(value, tile.loaded.spec.params[name]) for name, value in tile.params.items()
    }
    for params in (dict(tile.params), fresh):
        other = Tile(tile.loaded, there, params, tile.moving, tile.seed)
        try:
            same = _same(recording, other, strategy)
        except Exception as error:
            raise UnrecordableError(
                "unproven", f"It could not be compared with the renderer. ({error})"
            ) from error
        if not same:
            raise UnrecordableError(
                "differs", "Replayed at other values, it differs from the renderer."
            )
    for part in FAR:
        params = {
            name: far(value, tile.loaded.spec.params[name], part)
            for name, value in tile.params.items()
        }
        few = Tile(tile.loaded, positions(tile, FEW), params, tile.moving, tile.seed)
        if not same_image(recording.bind(params, _some_direction(tile, strategy)), few):
            raise UnrecordableError("differs", "Replayed at far values, it differs.")


def positions(tile: Tile, count: int) -> Pixels:
    """Pixels all over a tile's frame, in a row that threads can share."""
    where = tile.where
    assert isinstance(where, Pixels)  # noqa: S101 - a window of rows is not recorded
    device, dtype = tile.loaded.device, tile.loaded.dtype
    return flattened(spread(where.width, where.height, device, dtype, count))


def same_image(replay: Replay, tile: Tile, same: Same | None = None) -> bool:
    """Whether a replay has the image of the renderer itself, where that has one.

    Args:
        replay: a recording at the tile's values.
        tile: a few positions.
        same: what is taken for the same; to the bit by default.
    """
    assert isinstance(tile.where, Pixels)  # noqa: S101
    try:
        with torch.no_grad():
            wanted = tile(tile.value)
    except Exception:  # noqa: BLE001 - a renderer may refuse values
        return True
    image, _ = replay(tile.where, slice(0, 1))
    return (same or _equal)(image, wanted)


def _same(recording: Recording, tile: Tile, strategy: Strategy | None) -> bool:
    assert isinstance(tile.where, Pixels)  # noqa: S101
    if strategy is None:
        image, _ = recording.bind(tile.params, _some_direction(tile, None))(tile.where, slice(0, 1))
        with torch.no_grad():
            return _equal(image, tile(tile.value))
    # Two at once take another way through a recording than one.
    generator = torch.Generator().manual_seed(0)
    directions = torch.randn((2, *tile.value.shape), generator=generator, dtype=torch.float64)
    directions = directions.to(tile.loaded.device, tile.loaded.dtype)
    if strategy.gradient:
        return _same_gradient(recording, tile, strategy.gradient)
    replay = recording.bind(tile.params, Directions.written(directions))
    _, (both,) = replay(tile.where, slice(0, 2))
    for number in (0, 1):
        image, (along,) = replay(tile.where, slice(number, number + 1))
        wanted, right = strategy.differentiate(tile, directions[number : number + 1])
        if not (_equal(image, wanted) and _equal(along, right)):
            return False
        if not _equal(both[number : number + 1], right):
            return False
    return True


def _same_gradient(recording: Recording, tile: Tile, gradient: Gradient) -> bool:
    """Whether a replay has the derivative by every entry."""
    assert isinstance(tile.where, Pixels)  # noqa: S101
    size = tile.value.numel()
    replay = recording.bind(tile.params, Directions.basis(size))
    image, planes = replay(tile.where, slice(0, size))
    wanted, right = gradient(tile)
    return _equal(image, wanted) and all(map(_equal, planes, right))


def _some_direction(tile: Tile, strategy: Strategy | None) -> Directions:
    """One direction, for a look at the image; none where there is no map."""
    return Directions.basis(tile.value.numel() if strategy else 0)


def _equal(found: Tensor, wanted: Tensor) -> bool:
    """Equality to the bit, but for the sign of zeros; NaN is equal to NaN."""
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return False
    return bool(((found == wanted) | (found.isnan() & wanted.isnan())).all())


def moved(value: Tensor, declared: Param) -> Tensor:
    """A value of a parameter a little way off, within its bounds."""
    low, high, exact = declared.low, declared.high, value.to(torch.float64)
    if low is not None and high is not None:
        inner = torch.full_like(exact, low + INNER * (high - low))
        near = (exact - inner).abs() < 0.1 * (high - low)
        target = torch.where(near, low + (1 - INNER) * (high - low), inner)
        return (exact + MOVED * (target - exact)).to(value.dtype)
    away = MOVED * (exact.abs() + 0.2)
    return (exact - away if high is not None else exact + away).to(value.dtype)


def far(value: Tensor, declared: Param, part: float) -> Tensor:
    """A value of a parameter far away, within its bounds."""
    low, high, exact = declared.low, declared.high, value.to(torch.float64)
    if low is not None and high is not None:
        # Not the same for all entries, so that they can be told apart.
        apart = torch.linspace(0, 0.05, value.numel(), dtype=torch.float64, device=value.device)
        shares = part + (0.5 - part) * apart.reshape(value.shape)
        return (low + shares * (high - low)).to(value.dtype)
    away = part * (exact.abs() + 0.2)
    return (exact - away if high is not None else exact + away).to(value.dtype)
