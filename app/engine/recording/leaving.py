"""Values that leave torch while a renderer is recorded: what comes back would be baked in."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

from app.engine.recording.errors import UnrecordableError
from app.engine.recording.tape import Tape

# By which a value leaves for Python, NumPy or its bare memory without an operation that is noted.
DOORS = frozenset(
    {
        "numpy", "tolist", "__array__", "__repr__", "__str__", "__format__", "data_ptr", "set_",
        "untyped_storage", "__dlpack__", "__reduce_ex__", "__deepcopy__",
    }
)  # fmt: skip
MAKERS = frozenset({torch.tensor, torch.as_tensor, torch.asarray})


class Leaving(TorchFunctionMode):
    """Tells a tape when a value leaves; what it holds is then of no use."""

    def __init__(self, tape: Tape) -> None:
        super().__init__()
        self.tape = tape

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Do as asked, and note it."""
        del types
        name = getattr(func, "__name__", "")
        if name in DOORS or func is Tensor.data.__set__:  # type: ignore[attr-defined]
            self._note(name)
        elif func in MAKERS and any(isinstance(leaf, Tensor) for leaf in tree_leaves(args)):
            self._note("torch.tensor of a tensor")
        return func(*args, **(kwargs or {}))

    def _note(self, name: str) -> None:
        self.tape.give_up(
            UnrecordableError(
                "leaves_torch", f"A value leaves torch by `{name}`; what becomes of it is not seen."
            )
        )
