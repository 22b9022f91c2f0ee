"""Functions with known Jacobians, and operators that are matrices."""

from collections.abc import Callable

import torch
from torch import Tensor

from app.engine.diagonal import Operator, operator_of

Function = Callable[[Tensor], Tensor]
BLUR = torch.tensor([[1.0, 2.0, 1.0], [3.0, 5.0, 2.0], [1.0, 4.0, 1.0]], dtype=torch.float64) / 20


def draw(*shape: int, seed: int = 1, dtype: torch.dtype = torch.float64) -> Tensor:
    drawn = torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return drawn.to(dtype)


def matrix(values: Tensor) -> Operator:
    """The operator of `x -> values x`."""
    operator = operator_of(lambda x: values @ x, torch.zeros(len(values), dtype=values.dtype))
    operator.together = 64  # small enough that nobody need measure it
    return operator


def jacobian(function: Function, point: Tensor) -> Tensor:
    """The Jacobian `(n, n)` by reverse mode of torch: another way than what is tested."""
    found = torch.autograd.functional.jacobian(function, point)
    return found.reshape(point.numel(), point.numel())


def blurred(image: Tensor) -> Tensor:
    """A lopsided 3 x 3 blur of each channel of `(H, W, C)` or of `(H, W)`."""
    planes = image.reshape(*image.shape[:2], -1).permute(2, 0, 1)[:, None]
    padded = torch.nn.functional.pad(planes, (1, 1, 1, 1), mode="replicate")
    kernel = BLUR.to(image.dtype)[None, None]
    return torch.nn.functional.conv2d(padded, kernel)[:, 0].permute(1, 2, 0).reshape(image.shape)


def toned(image: Tensor) -> Tensor:
    return torch.tanh(1.3 * image) + 0.1 * image


def tone_slope(image: Tensor) -> Tensor:
    return 1.3 / torch.cosh(1.3 * image) ** 2 + 0.1
