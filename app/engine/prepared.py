"""One tile: a renderer differentiated at some rows of a frame, along some directions."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from app.engine.compiled import UncompilableError, near
from app.engine.directions import Directions
from app.engine.evaluate import evaluate, flattened
from app.engine.frame import Band, Window, window
from app.engine.ladder import Verdict
from app.engine.memory import out_of_memory
from app.engine.recording import Recording, Replay, UnrecordableError, same_image
from app.engine.rendering import rendering
from app.engine.standing import undivided
from app.engine.strategies import Strategy
from app.engine.task import Task
from app.engine.tile import Tile
from app.engine.trial import spread
from renderers import Loaded, Pixels

Pieces = tuple[Float[Tensor, "n rows width some"], ...]
"""A band's tangents: of all channels together, or of one after another."""


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A task made ready on the device: its parameters placed, its strategy chosen.

    Attributes:
        loaded: the renderer on its device.
        task: what is asked.
        params: every parameter, on the device, in the renderer's dtype.
        directions: what the maps are taken along.
        strategy: how it is differentiated; None for an image alone.
        replay: the recording that does the same; None where the renderer itself is run.
    """

    loaded: Loaded
    task: Task
    params: dict[str, Tensor]
    directions: Directions
    strategy: Strategy | None
    replay: Replay | None = None

    @classmethod
    def prepare(
        cls, loaded: Loaded, task: Task, verdict: Verdict, recording: Recording | None = None
    ) -> "Prepared":
        """Place a task's parameters on the renderer's device, in its dtype."""
        device, dtype = loaded.device, loaded.dtype
        directions = task.directions
        if verdict.whole:
            loaded = undivided(loaded)
        params = {name: value.to(device, dtype) for name, value in task.params.items()}
        strategy = verdict.resolve(directions) if task.subject else None
        replay = recording.bind(params, directions) if recording else None
        return cls(loaded, task, params, directions, strategy, replay)

    @property
    def whole(self) -> bool:
        """Whether the frame must be evaluated in one piece."""
        return self.loaded.spec.halo is None

    def rows(self, chunk: slice) -> Float[Tensor, "k size"]:
        """Some of the directions written out, on the device."""
        return self.directions.rows(chunk, self.loaded.device, self.loaded.dtype)

    def hold(self) -> None:
        """See that a replay has the renderer's own image at these values, at some pixels.

        Raises:
            UncompilableError: what is compiled has another.
            UnrecordableError: what is recorded has another.
        """
        if self.replay is None:
            return
        device, dtype = self.loaded.device, self.loaded.dtype
        few = spread(self.task.width, self.task.height, device, dtype)
        tile = Tile(self.loaded, flattened(few), self.params, self.task.moving, self.task.seed)
        if self.replay.recording.kernel:
            if not same_image(self.replay, tile, near):
                raise UncompilableError("Compiled, its image differs at these values.")
        elif not same_image(self.replay, tile):
            raise UnrecordableError("differs", "Replayed at these values, its image differs.")

    def evaluate(
        self, band: Band, chunk: slice
    ) -> tuple[Float[Tensor, "rows width channels"], Pieces]:
        """The band's image `(rows, width, channels)`, and its tangents, where there are any.

        Raises:
            RenderError: the renderer raised.
            RendererError: the renderer answered with no image.
            UnrecordableError: a recording does not hold here; the renderer itself may.
        """
        if self.replay is not None:
            return self._replayed(self.replay, band, chunk)
        with rendering(self.loaded):
            return self._evaluate(band, chunk)

    def _window(self, band: Band) -> Window:
        task, loaded = self.task, self.loaded
        size = (task.width, task.height)
        return window(loaded.spec, *size, band, loaded.device, loaded.dtype, task.stride)

    def _replayed(self, replay: Replay, band: Band, chunk: slice) -> tuple[Tensor, Pieces]:
        asked = self._window(band)
        assert isinstance(asked.where, Pixels)  # noqa: S101 - nothing else is recorded
        shape, count = asked.where.shape, asked.where.x.numel()
        try:
            flat = flattened(asked.where, apart=replay.recording.gradient > 0)
            image, tangents = replay(flat, chunk)
        except Exception as error:
            known = isinstance(error, UnrecordableError | UncompilableError)
            if known or out_of_memory(error):
                raise
            raise UnrecordableError("fails", f"Replayed, it raised {error!r}.") from error
        image = image[:count].reshape(*shape, -1)
        return image, tuple(part[:, :count].reshape(len(part), *shape, -1) for part in tangents)

    def _evaluate(self, band: Band, chunk: slice) -> tuple[Tensor, Pieces]:
        task, loaded, asked = self.task, self.loaded, self._window(band)
        if self.strategy is None:
            with torch.no_grad():
                image = evaluate(loaded, asked.where, self.params, task.seed)
                return image[asked.keep], ()
        tile = Tile(loaded, asked.where, self.params, task.moving, task.seed)
        if self.strategy.gradient and self.directions.matrix is None:
            image, planes = self.strategy.gradient(tile)
            pieces = tuple(self.directions.applied(plane, chunk)[..., None] for plane in planes)
        else:
            image, tangents = self.strategy.differentiate(tile, self.rows(chunk))
            pieces = (tangents,)
        return image[asked.keep], tuple(piece[:, asked.keep] for piece in pieces)
