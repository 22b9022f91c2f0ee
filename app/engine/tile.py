"""One tile: a renderer differentiated at some rows of a frame, along some directions."""

import re
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from app.engine import strategies
from app.engine.errors import RenderError
from app.engine.evaluate import evaluate
from app.engine.frame import Band, window
from app.engine.memory import out_of_memory
from app.engine.strategies import Strategy, Tile
from app.engine.task import Task
from renderers import Loaded, RendererError

PATH = re.compile(r"(?:[A-Za-z]:)?[\\/](?:[\w .\-]+[\\/])+[\w.\-]*")


@dataclass(frozen=True, slots=True, eq=False)
class Tiles:
    """A task made ready on the device: its parameters placed, its strategy chosen."""

    loaded: Loaded
    task: Task
    params: dict[str, Tensor]
    directions: Tensor
    strategy: Strategy

    @classmethod
    def prepare(cls, loaded: Loaded, task: Task) -> "Tiles":
        """Place a task's parameters on the renderer's device, in its dtype."""
        device, dtype = loaded.device, loaded.dtype
        return cls(
            loaded,
            task,
            {name: value.to(device, dtype) for name, value in task.params.items()},
            task.directions(device, dtype),
            strategies.choose(task.strategy),
        )

    def evaluate(
        self, band: Band, chunk: slice
    ) -> tuple[Float[Tensor, "rows width channels"], Float[Tensor, "n rows width channels"] | None]:
        """The band's image `(rows, width, channels)` and its tangents `(n, rows, width, channels)`.

        Raises:
            RenderError: the renderer raised.
            RendererError: the renderer answered with no image.
        """
        try:
            return self._evaluate(band, chunk)
        except RendererError:
            raise
        except Exception as error:
            if out_of_memory(error):
                raise
            raise RenderError(
                f"Renderer {self.loaded.spec.name!r} raised {type(error).__name__}: "
                f"{without_paths(str(error))}"
            ) from error

    def _evaluate(self, band: Band, chunk: slice) -> tuple[Tensor, Tensor | None]:
        task, loaded = self.task, self.loaded
        asked = window(loaded.spec, task.width, task.height, band, loaded.device, loaded.dtype)
        if loaded.spec.random:
            torch.manual_seed(task.seed)
        if task.wrt is None:
            with torch.no_grad():
                image = evaluate(loaded, asked.where, self.params, task.seed)
                return image[asked.keep], None
        tile = Tile(loaded, asked.where, self.params, task.wrt.name, task.seed)
        image, tangents = self.strategy.differentiate(tile, self.directions[chunk])
        return image[asked.keep], tangents[:, asked.keep]


def without_paths(message: str) -> str:
    """A message with file paths taken out: they are the operator's, not the caller's."""
    return PATH.sub("<path>", message).strip()
