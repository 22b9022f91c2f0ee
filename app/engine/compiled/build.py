"""Compiling a tile's work with Inductor into a package: C++ on the CPU, Triton on CUDA.

Slow (tens of seconds, minutes for thousands of operations) and busy with Python all the while:
meant for a process of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from app.engine.compiled.kernel import load_package
from app.engine.compiled.portable import Plain, unpack
from app.engine.evaluate import LANES
from app.engine.memory import peak_bytes
from app.engine.recording.program import program

# At how many positions it is traced; the package takes any multiple of `LANES`.
TRACED = 32 * LANES
# At how many its memory is measured.
MEASURED = (64 * LANES, 256 * LANES)
SETTINGS = {
    # The number of threads is chosen anew by whoever calls, not once by whoever compiles.
    "cpp.dynamic_threads": True,
    # A product and a sum round once: a twentieth faster, and nearer to the truth.
    "cpp.enable_floating_point_contract_flag": "fast",
    # One loop, whose values stay in registers and on the stack: by default a loop has at most 64
    # nodes, and what goes from one to the next through memory is twenty times the outputs.
    "max_fusion_size": 1 << 16,
}


@dataclass(frozen=True, slots=True)
class Needs:
    """Working memory of a compiled tile, its outputs included: `fixed + pixel * positions`."""

    fixed: float
    pixel: float


class _Tiled(nn.Module):
    """A graph as a module, which is what torch exports."""

    def __init__(self, plain: Plain) -> None:
        super().__init__()
        graph = unpack(plain)
        self.replay = program(graph, range(len(graph.steps)), graph.results).function

    def forward(self, x: Tensor, y: Tensor, *taken: Tensor) -> tuple[Tensor, ...]:
        """The image and its tangents at positions `x`, `y`."""
        return self.replay(x.shape[0], (x, y, *taken), ())


def build(
    plain: Plain,
    taken: Sequence[tuple[Sequence[int], torch.dtype]],
    dtype: torch.dtype,
    device: torch.device,
    path: Path,
) -> Needs:
    """Compile a packed graph into a package for this machine; how much memory that takes.

    Args:
        plain: what `pack` made.
        taken: shape and dtype of each input behind the positions.
        dtype: that of the positions.
        device: where it is to run.
        path: where the package goes, `*.pt2`.
    """
    import torch._inductor.config as settings  # loads the compiler, which takes seconds

    def positions(count: int) -> list[Tensor]:
        return [torch.zeros(count, dtype=dtype, device=device) for _ in "xy"]

    others = [torch.zeros(tuple(shape), dtype=kind, device=device) for shape, kind in taken]
    # A multiple leaves no rest that a kernel would have to do in another way than the others.
    count = LANES * torch.export.Dim("count")
    shapes: tuple[Any, ...] = ({0: count}, {0: count}, (None,) * len(others))
    with torch.no_grad():
        exported = torch.export.export(
            _Tiled(plain), (*positions(TRACED), *others), dynamic_shapes=shapes, strict=False
        )
        with settings.patch(SETTINGS):
            torch._inductor.aoti_compile_and_package(exported, package_path=str(path))
        run = load_package(path, device)
        small, large = (
            _peak(lambda count=count: run(*positions(count), *others), device)
            - 2 * count * dtype.itemsize
            for count in MEASURED
        )
    pixel = max(1.0, (large - small) / (MEASURED[1] - MEASURED[0]))
    return Needs(max(0.0, large - pixel * MEASURED[1]), pixel)


def _peak(run: Any, device: torch.device) -> int:
    """Bytes at the peak of a call. What a package takes is seen by torch's profiler alone."""
    if device.type == "cuda":
        return peak_bytes(run, device)
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        run()
    results = profiler.profiler.kineto_results
    events = [event for event in results.events() if event.name() == "[memory]"]
    live = peak = 0
    for event in sorted(events, key=lambda event: event.start_ns()):
        live += event.nbytes()
        peak = max(peak, live)
    return peak
