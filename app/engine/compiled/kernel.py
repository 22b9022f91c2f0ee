"""A compiled tile: a package in the memory of this process, proven before it is used."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from app.engine.compiled.errors import UncompilableError
from app.engine.compiled.source import Source
from app.engine.memory import out_of_memory
from app.engine.recording import Recording
from app.engine.recording.graph import Output

Package = Callable[..., Sequence[Tensor]]


def load_package(path: Path, device: torch.device) -> Package:
    """A package as a function of the positions and of what its source takes."""
    index = -1 if device.index is None else device.index
    # What `aoti_load_package` wraps; its walk over nested arguments takes as long as a small tile.
    loader = torch._C._aoti.AOTIModelPackageLoader(str(path), "model", False, 1, index)

    def package(*tensors: Tensor) -> Sequence[Tensor]:
        found: Sequence[Tensor] = loader.boxed_run(list(tensors))
        return found

    return package


@dataclass(frozen=True, slots=True, eq=False)
class Kernel:
    """The work of a recording on a tile, compiled.

    Attributes:
        source: what was compiled.
        package: what came of it.
    """

    source: Source
    package: Package

    def given(
        self, recording: Recording, inputs: Sequence[Tensor], known: Mapping[Output, Any]
    ) -> list[Tensor]:
        """What it takes beside positions."""
        return self.source.given(recording, inputs, known)

    def __call__(self, x: Tensor, y: Tensor, taken: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """The image and its tangents at flat positions, a multiple of `LANES`.

        Raises:
            UncompilableError: the package raised.
        """
        try:
            return tuple(self.package(x, y, *taken))
        except Exception as error:
            if out_of_memory(error):
                raise
            raise UncompilableError(f"Compiled, it raised {error!r}.") from error
