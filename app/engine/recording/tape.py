"""Recording: every operation that reaches torch's kernels is noted, while it runs.

Forward mode, batching and reverse mode have done their part before: what arrives are operations on
plain tensors. A recording holds for other values of its inputs, and for other numbers of positions,
if nothing was done to a value outside of torch; where that shows, the tape refuses.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.weak import WeakTensorKeyDictionary

from app.engine.recording.errors import UnrecordableError
from app.engine.recording.graph import Argument, Constant, Graph, Input, Output, Size, Step, leaves

aten = torch.ops.aten
# What may answer with its first argument; the second row in memory of its own.
REPEATING = frozenset(
    {
        aten.alias.default, aten.detach.default, aten.expand.default, aten.view.default,
        aten._unsafe_view.default, aten.lift_fresh.default,
    }
)  # fmt: skip
COPYING = frozenset({aten.clone.default, aten._to_copy.default, aten.lift_fresh_copy.default})
# Each answers with as many tensors as an axis is long, or as it has parts of some length.
CUTTING = frozenset({aten.split.Tensor, aten.unbind.int})


class Tape(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes operations on plain tensors while it is active.

    Args:
        inputs: the tensors that will be others at replay.
        size: the number of positions; every whole multiple of it among an operation's arguments
            is taken to be one, so it should be a number that nobody would write down.
        limit: how many steps it may become.
    """

    def __init__(self, inputs: Sequence[Tensor], size: int, limit: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.size = size
        self.limit = limit
        self.refusal: UnrecordableError | None = None
        self._inputs = len(inputs)
        self._steps: list[Step] = []
        self._constants: list[Tensor] = []
        self._known: dict[int, Tensor] = {}
        self._pieces = 0
        self._names = WeakTensorKeyDictionary()
        self._given: set[int] = set()
        for number, tensor in enumerate(inputs):
            self._given.add(self._call_it(tensor, Input(number), self._piece()))

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # Else the first operation under the mode loads torch's compiler, which takes seconds.
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Do as asked, and note it."""
        answer = func(*args, **(kwargs or {}))
        if self.refusal is None:
            try:
                self._note(func, args, kwargs or {}, answer)
            except UnrecordableError as refusal:
                # The renderer might catch it: it is told at the end.
                self.refusal = refusal
        return answer

    def graph(self, results: Iterable[Tensor]) -> Graph:
        """What was noted.

        Raises:
            UnrecordableError: something happened that a replay would not repeat.
        """
        if self.refusal is not None:
            raise self.refusal
        found = tuple(self._argument(result) for result in results)
        return Graph(
            self._inputs, tuple(self._steps), tuple(self._constants), found, dict(self._known)
        )

    def _note(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], answer: Any) -> None:
        taken = self._argument(tuple(args))
        named = tuple((name, self._argument(value)) for name, value in kwargs.items())
        depends = any(self._varies(leaf) for leaf in leaves((taken, named)))
        _refuse(func, args, depends)
        if func in CUTTING and args[0].shape[_axis(func, args, kwargs)] % self.size == 0:
            raise UnrecordableError("cuts", f"It cuts the positions into parts ({func}).")
        tensors = [answer] if isinstance(answer, Tensor) else answer
        if not (isinstance(tensors, list | tuple) and tensors):
            return
        if not all(isinstance(tensor, Tensor) for tensor in tensors):
            return
        pieces = self._pieces_of((args, kwargs))
        writes = self._written(func, args, kwargs)
        made = [self._memory_of(tensor, pieces) for tensor in tensors]
        step = Step(
            op=func,
            args=taken,
            kwargs=named,
            parts=None if isinstance(answer, Tensor) else len(tensors),
            repeats=_repeats(func, args, answer),
            copies=func in COPYING,
            memory=frozenset(pieces.values()) | frozenset(made),
            writes=writes,
        )
        if len(self._steps) >= self.limit:
            raise UnrecordableError("postponed", f"It has more than {self.limit} operations.")
        number = len(self._steps)
        self._steps.append(step)
        if not depends and step.parts is None and not writes:
            self._known[number] = answer
        for part, (tensor, piece) in enumerate(zip(tensors, made, strict=True)):
            if tensor not in self._names:
                self._call_it(tensor, Output(number, None if step.parts is None else part), piece)

    def _varies(self, leaf: Argument) -> bool:
        """Whether an argument may be another at replay."""
        if isinstance(leaf, Output):
            return leaf.part is not None or leaf.step not in self._known
        return isinstance(leaf, Input | Size)

    def _argument(self, value: Any) -> Argument:
        """An argument of an operation as plain data."""
        if isinstance(value, Tensor):
            if value not in self._names:
                # Nobody made it under the tape: weights, volumes, numbers of the renderer's code.
                self._constants.append(value)
                self._given.add(
                    self._call_it(value, Constant(len(self._constants) - 1), self._piece())
                )
            return self._names[value][0]
        if isinstance(value, list | tuple):
            return tuple(self._argument(part) for part in value)
        if type(value) is int and value and value % self.size == 0:
            return Size(value // self.size)
        return value

    def _call_it(self, tensor: Tensor, name: Argument, piece: int) -> int:
        self._names[tensor] = (name, piece)
        return piece

    def _piece(self) -> int:
        self._pieces += 1
        return self._pieces

    def _pieces_of(self, given: Any) -> dict[int, int]:
        """Pieces of memory of the tensors given, by torch's address of each."""
        if isinstance(given, Tensor):
            return {address(given): self._names[given][1]}
        found: dict[int, int] = {}
        parts = given.values() if isinstance(given, dict) else given
        for part in parts if isinstance(given, dict | list | tuple) else ():
            found |= self._pieces_of(part)
        return found

    def _memory_of(self, tensor: Tensor, pieces: dict[int, int]) -> int:
        """The piece of memory of an answer: that of an argument for a view, else one of its own."""
        where = address(tensor)
        if where not in pieces:
            pieces[where] = self._piece()
        return pieces[where]

    def _written(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> frozenset[int]:
        if not func._schema.is_mutable:
            return frozenset()
        written = set()
        for declared, value in zip(func._schema.arguments, args, strict=False):
            if declared.alias_info and declared.alias_info.is_write:
                written |= set(self._pieces_of([value]).values())
        for declared in func._schema.arguments:
            if declared.name in kwargs and declared.alias_info and declared.alias_info.is_write:
                written |= set(self._pieces_of([kwargs[declared.name]]).values())
        if written & self._given:
            raise UnrecordableError(
                "writes_in_place", f"It writes in place into what it is given or keeps ({func})."
            )
        return frozenset(written)


def address(tensor: Tensor) -> int:
    """Which piece of memory a tensor lies in, while it lives."""
    try:
        return int(tensor.untyped_storage()._cdata)
    except (NotImplementedError, RuntimeError) as error:
        raise UnrecordableError(
            "foreign_tensors", "It has tensors of a kind of its own."
        ) from error


def _axis(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    """The axis along which a tensor is cut."""
    place = 2 if func is aten.split.Tensor else 1
    return int(kwargs.get("dim", args[place] if len(args) > place else 0))


def _repeats(func: Any, args: tuple[Any, ...], answer: Any) -> bool:
    """Whether the answer is the first argument, element by element and in the same layout."""
    if func not in REPEATING and func not in COPYING:
        return False
    first: Tensor = args[0]
    return bool(
        answer.shape == first.shape
        and answer.stride() == first.stride()
        and answer.dtype == first.dtype
        and answer.device == first.device
    )


def _refuse(func: Callable[..., Any], args: tuple[Any, ...], depends: bool) -> None:
    """Refuse what a replay would not repeat.

    Raises:
        UnrecordableError: the operation draws numbers, or lets a value decide what comes next.
    """
    tags = func.tags  # type: ignore[attr-defined]
    if torch.Tag.nondeterministic_seeded in tags:
        raise UnrecordableError("random", f"It draws random numbers ({func}).")
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


def _by_numbers(func: Any, args: tuple[Any, ...]) -> bool:
    """Whether an index is made of whole numbers alone, so that it decides no shape."""
    if func is not aten.index.Tensor:
        return False
    return all(index is None or index.dtype not in (torch.bool, torch.uint8) for index in args[1])
