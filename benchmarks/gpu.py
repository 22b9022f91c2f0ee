"""What a CUDA machine can show, in under five minutes: `python -m benchmarks.gpu`.

The tests marked `gpu` (maps equal to the CPU's, a drill without memory, the budget kept), the table
of peers on the device, and its peak of memory.
"""

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime

import torch

from app.engine import DEFAULT_BUDGET
from benchmarks import machine
from benchmarks.peers.ours import ours
from benchmarks.peers.picture import Picture
from benchmarks.peers.table import beside
from renderers import load

SIDES = {"sphere": (2048, "radius"), "sdf_scene": (512, "ball")}
PEAK_SIDES = (1024, 2048, 4096)
REPEATS = 5
TESTS_SECONDS = 150
MIB = 1 << 20


def tested() -> int:
    """Run the tests marked `gpu`; their exit status."""
    command = [sys.executable, "-m", "pytest", "-q", "-m", "gpu", "tests"]
    return subprocess.run(command, timeout=TESTS_SECONDS).returncode


def picture(name: str, side: int) -> Picture:
    """A shipped renderer on the device."""
    loaded = load(plugins=False).get(name).load("cuda", torch.float32)
    return Picture(loaded, SIDES[name][1], side)


def peaks() -> Iterator[str]:
    """Peak device memory of a map by its side, with the default budget."""
    yield "| `sphere` d/d(radius) | peak device memory | budget |\n|---|---|---|"
    for side in PEAK_SIDES:
        run, _ = ours(picture("sphere", side))
        run()
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        run()
        peak = torch.cuda.max_memory_allocated() - before
        yield f"| {side}x{side} | {peak / MIB:.0f} MiB | {DEFAULT_BUDGET / MIB:.0f} MiB |"


def main() -> int:
    """Test, measure, print."""
    if not torch.cuda.is_available():
        print("There is no CUDA device here: nothing was tested or measured.", file=sys.stderr)
        return 1
    status = tested()
    print(f"\n{datetime.now(UTC):%Y-%m-%d}, {torch.cuda.get_device_name()}, {machine.describe()}")
    for name, (side, wrt) in SIDES.items():
        print(f"\n## `{name}` d/d({wrt}), {side}x{side}, CUDA\n")
        for line in beside(picture(name, side), torch.get_num_threads(), REPEATS):
            print(line, flush=True)
    print("\n## Memory\n")
    for line in peaks():
        print(line, flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
