"""A recording whose tiles are compiled takes the place of the recording."""

from dataclasses import replace
from pathlib import Path

from torch import Tensor

from app.engine.calibration import best_band
from app.engine.compiled import Kernel, Needs, Source, UncompilableError, load_package, prove
from app.engine.method import Method
from app.engine.plan import Cost
from app.engine.prepared import Prepared
from app.engine.recording import Recording
from app.engine.task import Task
from app.engine.tile import Tile
from app.engine.trial import spread
from renderers import Loaded


def given_to(loaded: Loaded, task: Task, method: Method, recording: Recording) -> list[Tensor]:
    """What a tile is given beside positions; its shapes are the same for all values."""
    tiles = Prepared.prepare(loaded, task, method.verdict, recording)
    assert tiles.replay is not None  # noqa: S101 - prepared with a recording
    where = spread(task.width, task.height, loaded.device, loaded.dtype, 1)
    return tiles.replay.given(Source.of(recording), where)


def adopt(
    loaded: Loaded, task: Task, method: Method, recording: Recording, path: Path, needs: Needs
) -> Method:
    """The method with a compiled package in place of one of its recordings, proven and calibrated.

    Args:
        loaded: the renderer on its device.
        task: at whose values it is proven.
        method: what is known of the renderer's parameter.
        recording: what was compiled, one of the method's.
        path: the package.
        needs: its working memory.

    Raises:
        UncompilableError: it cannot be loaded, or it is not the recording's equal.
    """
    params = {name: value.to(loaded.device, loaded.dtype) for name, value in task.params.items()}
    few = spread(task.width, task.height, loaded.device, loaded.dtype)
    tile = Tile(loaded, few, params, task.moving, task.seed)
    try:
        kernel = Kernel(Source.of(recording), load_package(path, loaded.device))
        prove(kernel, recording, tile)
        compiled = recording.by(kernel)
        tiles = Prepared.prepare(loaded, task, method.verdict, compiled)
        band = best_band(tiles)
    except UncompilableError:
        raise
    except Exception as error:  # whatever a damaged file makes torch say
        raise UncompilableError(f"Its package does not run. ({error})") from error
    kept = tuple(compiled if each is recording else each for each in method.recordings)
    return replace(method, recordings=kept, cost=_cost(needs, recording, loaded, band))


def _cost(needs: Needs, recording: Recording, loaded: Loaded, band: int) -> Cost:
    """What a tile needs: the package's own, its positions, and a tangent for each direction."""
    size = loaded.dtype.itemsize
    channels = len(loaded.spec.channels)
    if recording.gradient:
        # Of some of the entries, the derivative is copied out.
        return Cost(needs.fixed, 2 * needs.pixel + 2 * size, 0.0, band)
    return Cost(needs.fixed, needs.pixel + 2 * size, float(channels * size), band)
