"""The diagonal of a renderer's frame by a parameter that is an image itself."""

from collections.abc import Mapping

from torch import Tensor

from app.engine.diagonal.answer import Diagonal
from app.engine.diagonal.diagonal import AUTO, PASSES, diagonal
from app.engine.diagonal.errors import NotSquareError
from app.engine.frame import Band, window
from app.engine.plan import DEFAULT_BUDGET
from app.engine.tile import Tile
from renderers import Loaded, Spec


def frame_size(spec: Spec, name: str) -> tuple[int, int]:
    """Width and height of the frame that a parameter has the shape of.

    Raises:
        NotSquareError: it is no image of the renderer's channels.
    """
    shape, channels = spec.params[name].shape, len(spec.channels)
    if shape[2:] == (channels,) or (len(shape) == 2 and channels == 1):
        return shape[1], shape[0]
    images = [other for other in spec.params if _is_image(spec, other)]
    known = f"Of {spec.name!r}, these are: {', '.join(images)}." if images else "None here is."
    raise NotSquareError(
        f"A diagonal is of a parameter that is an image, of shape (height, width, {channels}); "
        f"{name!r} has shape {list(shape)}. {known}"
    )


def _is_image(spec: Spec, name: str) -> bool:
    shape, channels = spec.params[name].shape, len(spec.channels)
    return shape[2:] == (channels,) or (len(shape) == 2 and channels == 1)


def diagonal_of_frame(
    loaded: Loaded,
    params: Mapping[str, Tensor],
    name: str,
    *,
    seed: int = 0,
    method: str = AUTO,
    passes: int = PASSES,
    draw: int = 0,
    budget: int = DEFAULT_BUDGET,
) -> Diagonal:
    """d(image)/d(parameter), each value by the one in its own place; and the sum of these.

    Args:
        loaded: the renderer on its device.
        params: every parameter, as `Spec.bind` gives them.
        name: the parameter, an image of the frame's shape.
        seed: of a random renderer.
        method: one of `METHODS`.
        passes: products that an estimate may take.
        draw: seed of the random vectors.
        budget: bytes of working memory.

    Raises:
        NotSquareError: the parameter is no image.
        EngineError: as for `diagonal`.
    """
    width, height = frame_size(loaded.spec, name)
    placed = {key: value.to(loaded.device, loaded.dtype) for key, value in params.items()}
    asked = window(loaded.spec, width, height, Band(0, height), loaded.device, loaded.dtype)
    tile = Tile(loaded, asked.where, placed, (name,), seed)

    def image(value: Tensor) -> Tensor:
        return tile(value.reshape(-1))

    return diagonal(image, placed[name], method=method, passes=passes, seed=draw, budget=budget)
