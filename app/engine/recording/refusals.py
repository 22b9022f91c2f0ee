"""What a replay would not repeat: operations that draw, branch, or count the positions."""

from collections.abc import Callable
from typing import Any

import torch

from app.engine.recording.errors import UnrecordableError

aten = torch.ops.aten
# Each answers with as many tensors as an axis is long, or as it has parts of some length.
CUTTING = frozenset({aten.split.Tensor, aten.unbind.int})


def refuse(
    func: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    size: int,
    *,
    depends: bool,
) -> None:
    """Refuse what a replay would not repeat.

    Args:
        func: the operation.
        args: what it is called with, in order.
        kwargs: what it is called with by name.
        size: the number of positions.
        depends: whether any of it may be otherwise at replay.

    Raises:
        UnrecordableError: the operation draws numbers, lets a value decide what comes next, or
            answers with as many tensors as there are positions.
    """
    tags = func.tags  # type: ignore[attr-defined]
    if torch.Tag.nondeterministic_seeded in tags:
        raise UnrecordableError("random", f"It draws random numbers ({func}).")
    if torch.Tag.inplace_view in tags:
        raise UnrecordableError("writes_in_place", f"It changes a shape in place ({func}).")
    if not depends:
        return
    if torch.Tag.data_dependent_output in tags:
        raise UnrecordableError(
            "reads_values", f"It reads a number out of a tensor, as a branch or `.item()` does "
            f"({func})."
        )  # fmt: skip
    if torch.Tag.dynamic_output_shape in tags and not _by_numbers(func, args):
        raise UnrecordableError(
            "shaped_by_values", f"It has a shape that depends on values, as a mask used for an "
            f"index has ({func})."
        )  # fmt: skip
    if func in CUTTING and args[0].shape[_axis(func, args, kwargs)] % size == 0:
        raise UnrecordableError("cuts", f"It cuts the positions into parts ({func}).")


def _by_numbers(func: Any, args: tuple[Any, ...]) -> bool:
    """Whether an index is made of whole numbers alone, so that it decides no shape."""
    if func is not aten.index.Tensor:
        return False
    return all(index is None or index.dtype not in (torch.bool, torch.uint8) for index in args[1])


def _axis(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    """The axis along which a tensor is cut."""
    place = 2 if func is aten.split.Tensor else 1
    return int(kwargs.get("dim", args[place] if len(args) > place else 0))
