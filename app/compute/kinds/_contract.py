"""What a kind of work is: a function that fills its arrays, and says what else there is to say."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from app.compute.studio import Studio
from app.compute.work import Arrays, Work
from app.engine import Progress


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One piece of work under way.

    Attributes:
        arrays: what is to be filled, by name.
        progress: told of what is done, and of how much there is.
        cancelled: whether nobody wants it any more.
    """

    arrays: Arrays
    progress: Progress
    cancelled: Callable[[], bool]


Do = Callable[[Studio, Work, Run], dict[str, Any]]
"""Does work on the device; gives facts as plain data, without NaN or infinity.

Raises:
    EngineError: it cannot be computed.
    RendererError: nor rendered.
"""
