"""Loads, under another name than its file's, and takes the process down on the device."""

import ctypes
from typing import Any

from torch import Tensor

from renderers import Pixels, param, renderer


@renderer(channels="grey", name="heavy")
class Heavy:
    """Has state that cannot be placed."""

    def __init__(self, device: Any, dtype: Any) -> None:  # noqa: ARG002
        ctypes.string_at(0)

    def render(self, pixels: Pixels, gain: Tensor = param(1.0)) -> Tensor:
        """`gain * x`."""
        return gain * pixels.x
