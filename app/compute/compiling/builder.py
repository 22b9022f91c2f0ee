"""The process that compiles: `python -m app.compute.compiling.builder FOLDER SECONDS`.

Reads `job.json` in the folder and leaves `tile.pt2` and `needs.json` there.
"""

import json
import os
import resource
import sys
import threading
import time
from pathlib import Path

import torch

from app.engine import build

# Whoever computes comes first.
NICE = 19
WATCH_S = 1.0


def watch(parent: int, seconds: float) -> None:
    """End this process and the compilers it started when nobody waits for it any longer."""
    started = time.monotonic()
    while os.getppid() == parent and time.monotonic() - started < seconds:
        time.sleep(WATCH_S)
    os.killpg(0, 9)


def main(folder: Path, seconds: float) -> None:
    """Compile one job."""
    os.nice(NICE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    threading.Thread(target=watch, args=(os.getppid(), seconds), daemon=True).start()
    job = json.loads((folder / "job.json").read_text())
    needs = build(
        job["graph"],
        [(shape, getattr(torch, dtype)) for shape, dtype in job["taken"]],
        getattr(torch, job["dtype"]),
        torch.device(job["device"]),
        folder / "tile.pt2",
    )
    (folder / "needs.json").write_text(json.dumps({"fixed": needs.fixed, "pixel": needs.pixel}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]))
