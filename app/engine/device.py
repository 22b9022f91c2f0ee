"""The device that maps are computed on."""

import re

import torch

from app.engine.errors import DeviceError

NAMES = "cpu, cuda, cuda:N or auto"


def open_device(name: str) -> torch.device:
    """The device that was asked for, or an error: never another one in silence.

    Args:
        name: `cpu`, `cuda`, `cuda:N`, or `auto` for CUDA where torch sees a device.

    Raises:
        DeviceError: the machine does not have it, or cannot compute on it.
    """
    asked = re.fullmatch(r"(cpu|cuda|auto)|cuda:(\d{1,9})", name, re.ASCII)
    if asked is None:
        raise DeviceError(f"There is no device {name!r}: {NAMES}.")
    if name == "cpu" or (name == "auto" and not torch.cuda.is_available()):
        return torch.device("cpu")
    if not torch.cuda.is_available():
        raise DeviceError(f"Device {name!r} was asked for, but {_reason()}.")
    # The number is compared before torch sees it: torch keeps a byte of it, so 256 would be 0.
    index, count = int(asked[2] or 0), torch.cuda.device_count()
    if index >= count:
        raise DeviceError(
            f"Device {name!r} was asked for, but torch sees {count} here, counted from 0."
        )
    device = torch.device("cuda" if asked[2] is None else f"cuda:{index}")
    _try(device)
    return device


def _reason() -> str:
    """Why there is no CUDA device."""
    if torch.version.cuda is None and torch.version.hip is None:
        return "this torch was built for the CPU alone"
    return "torch sees no CUDA device here"


def _try(device: torch.device) -> None:
    """Compute something: a device that is seen may be busy, or newer than this torch knows."""
    try:
        torch.ones(1, device=device).add(1).item()
    except RuntimeError as error:
        why = str(error).partition("\n")[0]
        raise DeviceError(f"Device {str(device)!r} is there but cannot be used: {why}") from error
