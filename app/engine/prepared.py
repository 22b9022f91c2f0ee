"""One tile: a renderer differentiated at some rows of a frame, along some directions."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from app.engine.evaluate import evaluate
from app.engine.frame import Band, window
from app.engine.ladder import Verdict
from app.engine.rendering import rendering
from app.engine.standing import undivided
from app.engine.strategies import Strategy
from app.engine.task import Task
from app.engine.tile import Tile
from renderers import Loaded


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A task made ready on the device: its parameters placed, its strategy chosen."""

    loaded: Loaded
    task: Task
    params: dict[str, Tensor]
    directions: Tensor
    strategy: Strategy | None

    @classmethod
    def prepare(cls, loaded: Loaded, task: Task, verdict: Verdict) -> "Prepared":
        """Place a task's parameters on the renderer's device, in its dtype."""
        device, dtype = loaded.device, loaded.dtype
        directions = task.directions(device, dtype)
        if verdict.whole:
            loaded = undivided(loaded)
        return cls(
            loaded,
            task,
            {name: value.to(device, dtype) for name, value in task.params.items()},
            directions,
            verdict.resolve(directions) if task.wrt else None,
        )

    @property
    def whole(self) -> bool:
        """Whether the frame must be evaluated in one piece."""
        return self.loaded.spec.halo is None

    def evaluate(
        self, band: Band, chunk: slice
    ) -> tuple[Float[Tensor, "rows width channels"], Float[Tensor, "n rows width channels"] | None]:
        """The band's image `(rows, width, channels)` and its tangents `(n, rows, width, channels)`.

        Raises:
            RenderError: the renderer raised.
            RendererError: the renderer answered with no image.
        """
        with rendering(self.loaded):
            return self._evaluate(band, chunk)

    def _evaluate(self, band: Band, chunk: slice) -> tuple[Tensor, Tensor | None]:
        task, loaded = self.task, self.loaded
        asked = window(loaded.spec, task.width, task.height, band, loaded.device, loaded.dtype)
        if task.wrt is None or self.strategy is None:
            with torch.no_grad():
                image = evaluate(loaded, asked.where, self.params, task.seed)
                return image[asked.keep], None
        tile = Tile(loaded, asked.where, self.params, task.wrt.name, task.seed)
        image, tangents = self.strategy.differentiate(tile, self.directions[chunk])
        return image[asked.keep], tangents[:, asked.keep]
