"""Work done in this process, for the command line: the same kinds, without a server."""

import numpy as np
import torch

from app.compute.kinds import KINDS, Run
from app.compute.studio import Studio
from app.compute.work import Result, Work
from app.engine import Progress, keep_temporaries
from renderers import Registry, Renderer


def compute(
    source: Renderer,
    work: Work,
    *,
    device: torch.device,
    budget: int,
    options: dict[str, str] | None = None,
    progress: Progress = lambda *_: None,
) -> Result:
    """Do some work on one renderer.

    Raises:
        EngineError: it cannot be computed.
        RendererError: nor rendered.
    """
    keep_temporaries()
    registry = Registry().add(source)
    studio = Studio(registry, device, budget, {source.spec.name: options or {}})
    arrays = {output.name: np.empty(output.shape, output.dtype) for output in work.outputs}
    facts = KINDS[work.kind](studio, work, Run(arrays, progress, lambda: False))
    return Result(work=work, arrays=arrays, facts=facts)
