"""Renderers that go wrong in every way that a renderer can, and one that is right at any pace."""

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from renderers import Pixels, param, renderer

# The trial frames by which the engine measures a renderer are 64 pixels wide.
TRIAL_WIDTH = 64


@renderer(channels="grey")
def paced(
    pixels: Pixels,
    gain: Tensor = param(1.0, low=-10.0, high=10.0, unit="1/m"),
    seconds: Tensor = param(0.0, low=0.0, high=10.0),
) -> Tensor:
    """`gain * x`, after some seconds for every band."""
    if pixels.width != TRIAL_WIDTH:
        time.sleep(float(seconds))
    return gain * pixels.x


@renderer(channels="grey")
def forever(pixels: Pixels, gain: Tensor = param(1.0)) -> Tensor:
    """Never comes back."""
    while pixels.width:
        time.sleep(0.05)
    return gain * pixels.x


@renderer(channels="grey")
def raises(pixels: Pixels, gain: Tensor = param(1.0)) -> Tensor:
    """Raises an error that names a file."""
    raise ValueError(f"no medium in {Path(__file__).resolve()} today")


@renderer(channels="grey")
def integers(pixels: Pixels, gain: Tensor = param(1.0)) -> Tensor:
    """Answers with whole numbers."""
    return (gain * pixels.x * 255).to(torch.int32)


@renderer(channels="rgb")
def wrong_shape(pixels: Pixels, gain: Tensor = param(1.0)) -> Tensor:
    """Answers with one channel where three were declared."""
    return (gain * pixels.x)[..., None]


@renderer(channels="grey")
def nothing(pixels: Pixels, gain: Tensor = param(1.0)) -> Tensor:
    """Answers with None."""


@renderer(channels="grey")
def exits(pixels: Pixels, gain: Tensor = param(1.0)) -> Tensor:
    """Ends the process as a script would."""
    sys.exit(3)


def spots(x: Tensor, y: Tensor) -> Tensor:
    """What `spotted` multiplies: NaN, +infinity and -infinity in three corners."""
    base = torch.where((x < -0.9) & (y > 0.9), torch.nan, x + 2 * y)
    base = torch.where((x > 0.9) & (y > 0.9), torch.inf, base)
    return torch.where((x < -0.9) & (y < -0.9), -torch.inf, base)


@renderer(channels="grey")
def spotted(pixels: Pixels, gain: Tensor = param(1.0)) -> Tensor:
    """A map with values that are no numbers in its corners."""
    return gain * spots(pixels.x, pixels.y)


@renderer(channels="grey", random=True)
def noisy(pixels: Pixels, seed: int, gain: Tensor = param(1.0)) -> Tensor:
    """Noise that is the same for the same seed."""
    return gain * torch.rand(pixels.shape, dtype=pixels.x.dtype) + pixels.x


@renderer(channels="grey")
def image_shaped(pixels: Pixels, texture: Tensor = param([[0.0] * 9] * 9)) -> Tensor:
    """Has more entries than a picture has panels."""
    return texture.sum() * pixels.x


class Dies:
    """Kills its process in the second half of a map: always, or once for each marker file.

    It leaves a child behind that holds the process's sockets open, a minute or as long as there is
    a server.
    """

    def __init__(self, device: Any, dtype: Any, *, marker: str = "") -> None:  # noqa: ARG002
        self.marker = Path(marker) if marker else None

    def render(self, pixels: Pixels, gain: Tensor = param(1.0)) -> Tensor:
        """`gain * x`, for those who live to see it."""
        second_half = pixels.width != TRIAL_WIDTH and float(pixels.y.max()) < 0
        if second_half and not (self.marker and self.marker.exists()):
            if self.marker:
                self.marker.touch()
            server = Path(f"/proc/{os.getppid()}/exe")
            if os.fork() == 0:
                deadline = time.monotonic() + 60
                while server.exists() and time.monotonic() < deadline:
                    time.sleep(0.2)
                os._exit(0)
            os.kill(os.getpid(), signal.SIGKILL)
        return gain * pixels.x


dies_once = renderer(channels="grey", name="dies_once")(Dies)
dies_always = renderer(channels="grey", name="dies_always")(Dies)


@renderer(channels="grey")
class SinglePrecision:
    """Has no state in double precision."""

    def __init__(self, device: Any, dtype: torch.dtype) -> None:  # noqa: ARG002
        if dtype is torch.float64:
            raise FileNotFoundError(f"no table in {Path(__file__).resolve()}")

    def render(self, pixels: Pixels, gain: Tensor = param(1.0)) -> Tensor:
        """`gain * x`."""
        return gain * pixels.x
