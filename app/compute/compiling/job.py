"""What is handed to a process that compiles: plain data, which also names what comes of it."""

import hashlib
import json
import platform
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from app.engine import COMPILE_SETTINGS as SETTINGS
from app.engine import Recording, Source, pack

# Raised when the same job would now come out as something else.
EDITION = 1


@dataclass(frozen=True, slots=True)
class Job:
    """A tile's work to be compiled.

    Attributes:
        plain: graph, inputs, dtype and device, as JSON knows them.
        name: a digest of that, of torch and of the machine.
    """

    plain: dict[str, Any]
    name: str

    @classmethod
    def of(
        cls, recording: Recording, taken: list[Tensor], dtype: torch.dtype, device: torch.device
    ) -> "Job":
        """The job of a recording.

        Raises:
            UncompilableError: it holds what has no name in torch.
        """  # fmt: skip
        plain = {
            "graph": pack(Source.of(recording).graph),
            "taken": [[list(tensor.shape), _short(tensor.dtype)] for tensor in taken],
            "dtype": _short(dtype),
            "device": device.type,
        }
        told = json.dumps(
            [EDITION, SETTINGS, plain, torch.__version__, machine(device)], sort_keys=True
        )
        return cls(plain, hashlib.sha256(told.encode()).hexdigest()[:32])


def _short(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


@cache
def machine(device: torch.device) -> str:
    """What a package was compiled for; it runs on no other."""
    if device.type == "cuda":
        capability = torch.cuda.get_device_capability(device)
        return f"{torch.cuda.get_device_name(device)} {capability}"
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    flags = next((line for line in lines if line.startswith(("flags", "Features"))), "")
    return f"{platform.machine()} {torch.backends.cpu.get_cpu_capability()} {flags}"
