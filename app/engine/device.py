"""The device that maps are computed on."""

import torch

from app.engine.errors import DeviceError


def open_device(name: str) -> torch.device:
    """The device that was asked for, or an error: never another one in silence.

    Args:
        name: `cpu`, `cuda`, `cuda:N`, or `auto` for CUDA where torch sees a device.

    Raises:
        DeviceError: the machine does not have it.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise DeviceError(f"There is no device {name!r}: cpu, cuda, cuda:N or auto.") from error
    if device.type == "cuda" and not torch.cuda.is_available():
        raise DeviceError(f"Device {name!r} was asked for, but torch sees no CUDA device here.")
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise DeviceError(f"Device {name!r} was asked for; there are {torch.cuda.device_count()}.")
    if device.type not in ("cpu", "cuda"):
        raise DeviceError(f"Device {name!r} is not supported: cpu, cuda, cuda:N or auto.")
    return device
