"""How a strategy is to be carried out: many directions at once or not; do the modes agree."""

import torch
from torch import Tensor

from app.engine.strategies import Strategy
from app.engine.trial import Trial


def carried_together(strategy: Strategy, trial: Trial) -> int | None:
    """1 where several directions at once are refused or come out otherwise; None where not."""
    if len(trial.directions) == 1:
        return None
    pair = torch.stack([trial.mixed, trial.along(slice(0, 1))[0]])
    try:
        _, together = strategy.differentiate(trial.tile, pair)
        _, alone = strategy.differentiate(trial.tile, pair[:1])
    except Exception:  # noqa: BLE001 - foreign code may raise anything
        return 1
    size = torch.nan_to_num(alone).abs().max()
    same = bool((torch.nan_to_num(together[0] - alone[0]).abs() <= 1e-3 * size).all())
    return None if same else 1


def modes_differ(trial: Trial, tangent: Tensor, *, unconnected: bool = True) -> bool:
    """Whether reverse mode, where it runs, gives another derivative: `<u, J t>`, `<J'u, t>`.

    Args:
        trial: the renderer on a few pixels.
        tangent: its derivative along the trial's mixed direction.
        unconnected: what to say where reverse mode sees no parameter, though the image moves.
    """
    tile, direction = trial.tile, trial.mixed
    generator = torch.Generator().manual_seed(0)
    # Signs at random, so that an image which is even or odd does not cancel.
    signs = 2 * torch.randint(2, tangent.shape, generator=generator) - 1
    weights = signs.to(tangent.device, tangent.dtype)
    try:
        with torch.enable_grad():
            value = tile.value.detach().clone().requires_grad_()
            image = tile(value)
            if not image.requires_grad:
                return unconnected and bool(tangent.any())
            (gradient,) = torch.autograd.grad(image, value, weights.to(image.dtype))
    except Exception:  # noqa: BLE001 - foreign code may raise anything
        return False
    if not bool(torch.isfinite(gradient).all() & torch.isfinite(tangent).all()):
        # One pixel that is no number makes the sum over all of them none.
        return False
    forward = float((torch.nan_to_num(tangent) * weights).sum())
    reverse = float((gradient * direction).sum())
    size = float(torch.linalg.vector_norm(torch.nan_to_num(tangent)))
    return abs(forward - reverse) > 1e-2 * size
