"""Maps with pixels left out: of which renderers, and by which strategies."""

from app.engine.errors import StrideError
from app.engine.strategies.edge import edge
from app.engine.task import Task
from renderers import Loaded


def sparse(loaded: Loaded, task: Task) -> None:
    """See that pixels can be left out, where a task leaves some out.

    Raises:
        StrideError: they cannot.
    """
    spec = loaded.spec
    if task.stride == 1:
        return
    if spec.kind != "pixel" or spec.halo is None:
        raise StrideError(
            f"`stride` is {task.stride}, but no pixel of {spec.name!r} is computed without others: "
            "it renders whole rows, or its pixels depend on each other. Ask for a smaller frame."
        )
    if task.strategy == edge.name:
        raise StrideError(
            f"`stride` is {task.stride}, but strategy {edge.name!r} follows edges from a pixel to "
            "the next. Ask for `auto`, or with a stride of 1."
        )
