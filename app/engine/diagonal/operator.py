"""A square Jacobian that is known by its products with vectors alone."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from app.engine.diagonal.errors import NotSquareError
from app.engine.diagonal.products import Function, Products, pulling, pushing
from app.engine.errors import DeviceMemoryError, EngineError, RenderError, StrategyError
from app.engine.failures import explain
from app.engine.memory import out_of_memory, peak_bytes
from app.engine.plan import DEFAULT_BUDGET, PLANNED
from app.engine.text import without_paths
from renderers import RendererError

# What whoever asks holds beside the work, in float64: vectors, products, and their moments.
HELD = 8
Vectors = Float[Tensor, "k n"]
"""Vectors in the parameter's space, flattened in C order."""


@dataclass(slots=True, eq=False)
class Operator:
    """A square matrix `(n, n)`, the Jacobian of an image by a parameter of its shape.

    Not frozen: it counts what it is asked, and learns how many vectors fit.

    Attributes:
        shape: shape of the parameter, whose entries number `n`.
        dtype: dtype of the vectors.
        device: where they are.
        products: from `(k, n)` to `J v` of each.
        transposed: from `(k, n)` to `J^T v` of each, where there is a way.
        mode: which of the two modes `products` is by; by `reverse` it is the transposed Jacobian,
            which has the same diagonal.
        budget: bytes of working memory.
        together: vectors that are pushed at once; measured by the first push.
        passes: products that were asked for.
    """

    shape: tuple[int, ...]
    dtype: torch.dtype
    device: torch.device
    products: Products
    transposed: Products | None = None
    mode: str = "forward"
    budget: int = DEFAULT_BUDGET
    together: int = 0
    passes: int = 0

    @property
    def size(self) -> int:
        """The number `n` of entries."""
        return math.prod(self.shape)

    @property
    def precision(self) -> float:
        """Relative rounding error of a product's arithmetic."""
        return torch.finfo(self.dtype).eps

    def push(self, vectors: Vectors) -> Vectors:
        """The products with `(k, n)`, as many at once as the budget holds.

        Raises:
            DeviceMemoryError: not even one fits.
        """
        return self._through(self.products, vectors)

    def pull(self, vectors: Vectors) -> Vectors:
        """The transposed products with `(k, n)`.

        Raises:
            StrategyError: there is no way to get them.
        """
        if self.transposed is None:
            raise StrategyError("Transposed products are needed, and only one mode is known here.")
        try:
            return self._through(self.transposed, vectors)
        except EngineError:
            raise
        except Exception as error:
            raise StrategyError(f"Reverse mode: {explain(error)}") from error

    def groups(self, count: int) -> Iterator[range]:
        """The numbers below `count` in groups of as many vectors as may be held at once."""
        start = 0
        while start < count:
            stop = min(count, start + self._room())
            yield range(start, stop)
            start = stop

    def _room(self) -> int:
        if not self.together:
            probe = torch.zeros(1, self.size, dtype=self.dtype, device=self.device)
            peak = peak_bytes(lambda: self.products(probe), self.device)
            each = max(1, peak + HELD * 8 * self.size)
            self.together = max(1, int(PLANNED * self.budget) // each)
        return self.together

    def _through(self, products: Products, vectors: Vectors) -> Vectors:
        vectors = vectors.to(self.device, self.dtype)
        done: list[Tensor] = []
        start = 0
        while start < len(vectors):
            part = vectors[start : start + self._room()]
            try:
                done.append(products(part))
            except Exception as error:
                if not out_of_memory(error):
                    raise
                if len(part) == 1:
                    raise DeviceMemoryError("One product with the Jacobian does not fit.") from None
                self.together = len(part) // 2
                continue
            start += len(part)
        self.passes += len(vectors)
        return torch.cat(done) if done else vectors


def operator_of(
    function: Function, point: Tensor, *, budget: int = DEFAULT_BUDGET, name: str = "the parameter"
) -> Operator:
    """The Jacobian of a function at a point, by forward mode, or by reverse mode where that fails.

    Args:
        function: from a tensor like `point` to an image of its shape; an image `(H, W, 1)` of one
            channel counts as `(H, W)`.
        point: where the derivative is taken; real floating-point numbers.
        budget: bytes of working memory.
        name: how messages call the point.

    Raises:
        NotSquareError: the image has another shape than the parameter.
        RenderError: the function raised.
        StrategyError: neither mode differentiates it.
    """
    if not point.is_floating_point() or not point.numel():
        raise NotSquareError(
            f"A diagonal needs {name} to hold real numbers, at least one; got shape "
            f"{list(point.shape)} of {point.dtype}."
        )
    point = point.detach()
    check_shape(_evaluated(function, point), point, name)
    push, pull = pushing(function, point), pulling(function, point)
    operator = Operator(tuple(point.shape), point.dtype, point.device, push, pull, budget=budget)
    failure = _failure(push, operator)
    if failure is None:
        return operator
    without = _failure(pull, operator)
    if without is None:
        return Operator(operator.shape, point.dtype, point.device, pull, None, "reverse", budget)
    raise StrategyError(
        f"Neither mode differentiates this. Forward: {explain(failure)} Reverse: {explain(without)}"
    ) from failure


def check_shape(image: object, point: Tensor, name: str) -> None:
    """Refuse an image that has not the shape of the parameter."""
    allowed = (tuple(point.shape), (*point.shape, 1))
    if not isinstance(image, Tensor) or tuple(image.shape) not in allowed:
        got = list(image.shape) if isinstance(image, Tensor) else type(image).__name__
        raise NotSquareError(
            f"A diagonal needs an image of the shape of {name}, {list(point.shape)}; got {got}. "
            "Ask for a frame of the parameter's size, or for a sensitivity map of some entries."
        )


def _evaluated(function: Function, point: Tensor) -> object:
    """What the function answers; foreign code may answer anything."""
    try:
        with torch.no_grad():
            return function(point)
    except (RendererError, EngineError):
        raise
    except Exception as error:
        if out_of_memory(error):
            raise DeviceMemoryError("The image does not fit on the device.") from error
        raise RenderError(
            f"The function raised {type(error).__name__}: {without_paths(str(error))}"
        ) from error


def _failure(products: Products, operator: Operator) -> Exception | None:
    """What one product raises."""
    try:
        products(torch.ones(1, operator.size, dtype=operator.dtype, device=operator.device))
    except Exception as error:
        if out_of_memory(error):
            raise DeviceMemoryError("One product with the Jacobian does not fit.") from error
        return error
    return None
