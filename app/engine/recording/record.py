"""Recording what can be recorded, and saying in words why the rest cannot."""

from dataclasses import replace

import torch

from app.engine.evaluate import LANES, one_thread
from app.engine.recording.clean import cleaned
from app.engine.recording.errors import UnrecordableError
from app.engine.recording.graph import Graph
from app.engine.recording.leaving import Leaving
from app.engine.recording.proof import prove
from app.engine.recording.recording import Recording
from app.engine.recording.stages import Depends, Stages
from app.engine.recording.tape import tape_class
from app.engine.recording.watched import watched
from app.engine.strategies import Strategy
from app.engine.task import Task
from app.engine.tile import Tile
from app.engine.trial import spread
from renderers import Loaded, Pixels

# Few positions, and numbers of which no whole multiple is likely to stand in a renderer's code.
# Where one does, the proof fails, and the other is tried.
SIZES = (13 * LANES, 61 * LANES)
# Operations that are recorded while somebody waits: a few tenths of a second.
PROMPT = 4000
# Operations that are recorded at all: beyond it, the replay's own source would take minutes.
MOST = 60_000


def record(loaded: Loaded, task: Task, strategy: Strategy | None, limit: int) -> Recording:
    """Record a renderer at a task's values, and prove that the replay has its bits.

    Args:
        loaded: the renderer on its device.
        task: what is asked.
        strategy: how it is differentiated; None for the image alone.
        limit: how many operations it may take.

    Raises:
        UnrecordableError: a replay would not do what the renderer does.
    """
    spec = loaded.spec
    if spec.kind != "pixel":
        raise UnrecordableError("frame", "A frame renderer is asked for other rows each time.")
    if spec.halo is None:
        raise UnrecordableError("whole", "Its pixels depend on each other.")
    if spec.random:
        raise UnrecordableError("random", "It draws random numbers.")
    if strategy is not None and not strategy.recordable:
        raise UnrecordableError("foreign", f"Strategy {strategy.name!r} asks the renderer itself.")
    device, dtype = loaded.device, loaded.dtype
    params = {name: value.to(device, dtype) for name, value in task.params.items()}
    where = spread(task.width, task.height, device, dtype)
    tile = Tile(loaded, where, params, task.moving, task.seed)
    with one_thread():
        try:
            return _proven(tile, strategy, SIZES[0], limit)
        except UnrecordableError as refusal:
            if refusal.code not in ("differs", "unproven"):
                raise
        return _proven(tile, strategy, SIZES[1], limit)


def _proven(tile: Tile, strategy: Strategy | None, size: int, limit: int) -> Recording:
    try:
        found = recorded(tile, strategy, size, limit)
        # More positions than were recorded, so that a renderer which cuts them into parts shows.
        prove(found, tile, strategy, 2 * size + 1)
    except UnrecordableError:
        raise
    except Exception as error:  # foreign code may raise anything
        raise UnrecordableError("raises", f"Recording it raised {error!r}.") from error
    return found


def recorded(tile: Tile, strategy: Strategy | None, size: int, limit: int) -> Recording:
    """Record a pixel renderer at a tile's values, by a strategy, or its image alone.

    Args:
        tile: the frame and the parameter values to record at.
        strategy: how it is differentiated; None for the image.
        size: at how many positions; of that number, every whole multiple is taken for one.
        limit: how many operations it may take.

    Raises:
        UnrecordableError: a replay would not do what the renderer does.
    """
    asked: list[str] = []
    graph = cleaned(_taped(tile, strategy, size, limit, asked))
    where = tile.where
    inputs = (Depends.POSITIONS,) * 2 + (Depends.PARAMETERS,) * len(tile.params)
    along = strategy is not None and strategy.gradient is None
    return Recording(
        stages=Stages(graph, inputs + (Depends.DIRECTION,) * along),
        params=tuple(tile.params),
        frame=(where.width, where.height) if asked else None,
        channels=len(tile.loaded.spec.channels),
        steps=len(graph.steps),
        gradient=tile.value.numel() if strategy and strategy.gradient else 0,
    )


def _taped(tile: Tile, strategy: Strategy | None, size: int, limit: int, asked: list[str]) -> Graph:
    where = tile.where
    assert isinstance(where, Pixels)  # noqa: S101 - a window of rows is not recorded
    device, dtype = tile.loaded.device, tile.loaded.dtype
    positions = spread(where.width, where.height, device, dtype, size)
    # Copies, so that no two inputs are one tensor, and none is a view of another.
    params = {name: value.clone() for name, value in tile.params.items()}
    tile = replace(tile, loaded=watched(tile.loaded, asked), where=positions, params=params)
    direction = torch.ones_like(tile.value)[None]
    inputs = [positions.x, positions.y, *params.values()]
    given = [*inputs, direction] if strategy and not strategy.gradient else inputs
    tape = tape_class()(given, size, limit)
    with torch.no_grad(), Leaving(tape), tape:
        if strategy is None:
            results = [tile(tile.value)]
        elif strategy.gradient:
            image, planes = strategy.gradient(tile)
            results = [image, *planes]
        else:
            results = list(strategy.differentiate(tile, direction))
    return tape.graph(results)
