"""Positions that know whether a renderer has looked at the size of its frame."""

from dataclasses import dataclass, field, replace
from typing import Any

from torch import Tensor

from renderers import Loaded, Pixels


@dataclass(frozen=True, slots=True, eq=False)
class WatchedPixels(Pixels):
    """Positions that note when the size of the frame is looked at."""

    asked: list[str] = field(default_factory=list)

    def __getattribute__(self, name: str) -> Any:
        """Any attribute."""
        if name in ("width", "height"):
            object.__getattribute__(self, "asked").append(name)
        return object.__getattribute__(self, name)


def watched(loaded: Loaded, asked: list[str]) -> Loaded:
    """A renderer that is given watched positions."""

    def function(pixels: Pixels, **params: Any) -> Tensor:
        where = WatchedPixels(pixels.x, pixels.y, pixels.width, pixels.height, asked)
        image: Tensor = loaded.function(where, **params)
        return image

    return replace(loaded, function=function)
