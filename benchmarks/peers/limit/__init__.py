"""The limit: dual numbers written by hand in C++, a kernel a picture, compiled for this machine.

What a person with time would write instead of using this project: the arithmetic of the renderer on
as many pixels at once as a register holds, nothing spent on tangents that are zero, both arrays
written once. Every step of a search is taken, as in the renderers. Beside it stands a bound that no
kernel can pass: the time to write as many bytes.
"""

import ctypes
import hashlib
import shutil
import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import torch

from app.engine import Arrays
from renderers import Loaded

HERE = Path(__file__).parent
BUILT = HERE.parents[1] / "out" / "limit"
# The derivative that each kernel was written for.
PICTURES = {"sphere": "radius", "sdf_scene": "ball"}
# `-ffast-math` is left out: errors grow with it. Of what it holds, two are harmless here: nobody
# reads `errno`, nobody traps floating-point exceptions, and both keep square roots and selections
# from being vector instructions.
FLAGS = (
    "-std=c++20", "-O3", "-march=native", "-ffp-contract=fast", "-fno-math-errno",
    "-fno-trapping-math", "-fopenmp", "-fPIC", "-shared", "-Wno-psabi",
)  # fmt: skip


def compiler() -> str | None:
    """The C++ compiler, where there is one."""
    return shutil.which("g++")


@cache
def library() -> ctypes.CDLL:
    """The kernels, compiled when their sources or the machine have changed.

    Raises:
        RuntimeError: there is no compiler, or it refuses.
    """
    found = compiler()
    if found is None:
        raise RuntimeError("There is no g++ here.")
    sources = sorted(HERE.glob("*.cpp"))
    shown = [found, *FLAGS, "-Q", "--help=target"]
    target = subprocess.run(shown, capture_output=True, check=True).stdout
    read = (path.read_bytes() for path in (*sources, *sorted(HERE.glob("*.hpp"))))
    digest = hashlib.sha256(b"".join((*read, " ".join(FLAGS).encode(), target))).hexdigest()
    path = BUILT / f"{digest[:16]}.so"
    if not path.exists():
        BUILT.mkdir(parents=True, exist_ok=True)
        command = [found, *FLAGS, *map(str, sources), "-o", str(path)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"g++ refused the kernels:\n{done.stderr}")
    return ctypes.CDLL(str(path))


def numbers(loaded: Loaded) -> torch.Tensor:
    """All parameters at their defaults, one after another in the order of their declaration."""
    return torch.cat([value.float().ravel() for value in loaded.spec.bind({}).values()])


def fill(loaded: Loaded, out: Arrays, threads: int) -> None:
    """Write the image and the map for which a kernel was written."""
    given = numbers(loaded).numpy()
    height, width, _ = out.image.shape
    kernel = getattr(library(), f"map_{loaded.spec.name}")
    kernel(_floats(given), width, height, threads, _floats(out.image), _floats(out.maps[0]))


def write(out: Arrays, threads: int) -> None:
    """Write as many bytes, with nothing in them."""
    size = ctypes.c_size_t(out.image.nbytes)
    library().write_bytes(_floats(out.image), _floats(out.maps[0]), size, threads)


def _floats(array: np.ndarray) -> ctypes.c_void_p:
    assert array.dtype == np.float32 and array.flags.c_contiguous
    return ctypes.c_void_p(array.ctypes.data)
