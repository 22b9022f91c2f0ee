"""Asking renderers in tests: places, values, derivatives by forward mode and by differences."""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from renderers import Frame, Loaded, Pixels

Params = Mapping[str, Tensor]
STEP = 1e-6  # of central differences in float64, for a parameter of size 1: see tolerances


def window(loaded: Loaded, width: int, height: int, rows: slice = slice(None)) -> Pixels | Frame:
    """Rows of a frame, in the form in which the renderer is asked."""
    start, stop, _ = rows.indices(height)
    frame = Frame(width, height, start, stop, loaded.device, loaded.dtype)
    return frame if loaded.spec.kind == "frame" else frame.pixels()


def defaults(loaded: Loaded, **values: object) -> dict[str, Tensor]:
    """The parameters in the renderer's dtype, the given over the defaults."""
    return {name: value.to(loaded.dtype) for name, value in loaded.spec.bind(values).items()}


def forward(
    loaded: Loaded, where: Pixels | Frame, params: Params, name: str, tangent: Tensor
) -> tuple[Tensor, Tensor]:
    """The image and its derivative along a tangent of one parameter, by forward mode."""
    image, derivative = torch.func.jvp(
        lambda value: loaded(where, {**params, name: value}), (params[name],), (tangent,)
    )
    return image, derivative


def difference(
    loaded: Loaded, where: Pixels | Frame, params: Params, name: str, change: Tensor
) -> Tensor:
    """Central difference of the image along a change of one parameter, divided by its size."""
    ahead, behind = (
        loaded(where, {**params, name: params[name] + sign * change}) for sign in (1.0, -1.0)
    )
    return (ahead - behind) / (2.0 * change.abs().max())


def agreement(
    derivative: Tensor, oracle: Callable[[float], Tensor], tolerance: float
) -> tuple[float, float]:
    """How a derivative compares with differences: worst error, and the part of pixels left out.

    Left out are the pixels at which the oracle contradicts itself, its differences at one step
    and at four times the step being apart by more than the tolerance: the image has a kink or an
    edge there. The derivative under test has no say in it.

    Args:
        derivative: what is tested, shape `(*pixels, channels)`.
        oracle: the central difference for a multiple of the step, the same shape.
        tolerance: relative to the largest entry of the oracle.
    """
    near, far = oracle(1.0), oracle(4.0)
    size = float(near.abs().max())
    if not torch.isfinite(derivative).all():
        return float("inf"), 0.0
    unsure = (near - far).abs().amax(-1) > tolerance * size
    error = torch.where(unsure[..., None], 0.0, (derivative - near).abs())
    worst = float(error.max()) / size if size else float(derivative.abs().max())
    return worst, float(unsure.double().mean())
