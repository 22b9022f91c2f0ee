"""The worker as a process: what it may know of where it was started, and why it ended."""

import os
import signal
from pathlib import Path

# What the worker may know of the server's environment: nothing that could be a secret.
KEPT = ("PATH", "HOME", "LANG", "LC_", "TMP", "TEMP", "LD_", "PYTHON", "VIRTUAL_ENV", "OMP_",
        "MKL_", "OPENBLAS_", "CUDA_", "NVIDIA_", "TORCH_", "PYTORCH_", "SYSTEMROOT",
        "GOMP_", "CXX")  # fmt: skip


def cause_of(status: int) -> str:
    """Why a process ended; real-time signals have numbers alone."""
    if status >= 0:
        return f"status {status}"
    known = -status in set(signal.Signals)
    return f"signal {signal.Signals(-status).name if known else -status}"


def environment() -> dict[str, str]:
    """The worker's environment: the paths and tunables it needs, and the way to these packages."""
    kept = {key: value for key, value in os.environ.items() if key.startswith(KEPT)}
    root = str(Path(__file__).resolve().parents[3])
    paths = [root, *filter(None, [kept.get("PYTHONPATH")])]
    return {**kept, "PYTHONPATH": os.pathsep.join(paths)}
