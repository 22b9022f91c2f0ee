"""Recording: every operation that reaches torch's kernels is noted, while it runs.

Forward mode, batching and reverse mode have done their part before: what arrives are operations on
plain tensors. A recording holds for other values of its inputs, and for other numbers of positions,
if nothing was done to a value outside of torch; where that shows, the tape refuses.
"""

import sys
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.weak import WeakTensorKeyDictionary

from app.engine.recording.arguments import Arguments
from app.engine.recording.errors import UnrecordableError
from app.engine.recording.graph import (
    Argument,
    Constant,
    Graph,
    Input,
    Output,
    Reference,
    Size,
    Step,
    leaves,
)
from app.engine.recording.refusals import refuse

aten = torch.ops.aten
# What may answer with its first argument; the second row in memory of its own.
REPEATING = frozenset(
    {
        aten.alias.default, aten.detach.default, aten.expand.default, aten.view.default,
        aten._unsafe_view.default, aten.lift_fresh.default,
    }
)  # fmt: skip
COPYING = frozenset({aten.clone.default, aten._to_copy.default, aten.lift_fresh_copy.default})


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
        self._varying: set[int] = set()
        self._names = WeakTensorKeyDictionary()
        self._given: set[int] = set()
        self._arguments = Arguments(size, self._name_of)
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
                self.give_up(refusal)
        return answer

    def give_up(self, refusal: UnrecordableError) -> None:
        """Note no more. A renderer might catch what is raised: it is told at the end."""
        self.refusal = self.refusal or refusal

    def graph(self, results: Iterable[Tensor]) -> Graph:
        """What was noted.

        Raises:
            UnrecordableError: something happened that a replay would not repeat.
        """
        if self.refusal is not None:
            raise self.refusal
        found = tuple(self._name_of(result) for result in results)
        return Graph(
            self._inputs, tuple(self._steps), tuple(self._constants), found, dict(self._known)
        )

    def _note(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], answer: Any) -> None:
        taken, named = self._arguments.of(func, args, kwargs)
        pieces = self._pieces_of((args, kwargs))
        depends = any(self._varies(leaf) for leaf in leaves((taken, named)))
        depends |= not self._varying.isdisjoint(pieces.values())
        refuse(func, args, kwargs, self.size, depends=depends)
        tensors = _tensors(func, answer)
        if not tensors:
            if func._schema.is_mutable:
                raise UnrecordableError("writes_in_place", f"It writes without an answer ({func}).")
            return
        writes = self._written(func, args, kwargs)
        if depends:
            # Whatever is read from there later depends on as much.
            self._varying |= writes
        made = {part: self._memory_of(tensor, pieces) for part, tensor in tensors.items()}
        step = Step(
            op=func,
            args=taken,
            kwargs=named,
            parts=None if isinstance(answer, Tensor) else len(answer),
            shape=self._shape_of(tensors),
            repeats=_repeats(func, args, answer),
            copies=func in COPYING,
            memory=frozenset(pieces.values()) | frozenset(made.values()),
            writes=writes,
        )
        if len(self._steps) >= self.limit:
            raise UnrecordableError("postponed", f"It has more than {self.limit} operations.")
        number = len(self._steps)
        self._steps.append(step)
        if not depends and step.parts is None and not writes:
            self._known[number] = answer
        for part, tensor in tensors.items():
            if tensor not in self._names:
                self._call_it(tensor, Output(number, part), made[part])

    def _shape_of(self, tensors: dict[int | None, Tensor]) -> tuple[Argument, ...] | None:
        """The shape of an answer; None of several that differ."""
        shapes = {tuple(tensor.shape) for tensor in tensors.values()}
        return self._arguments.sizes(*shapes) if len(shapes) == 1 else None

    def _varies(self, leaf: Argument) -> bool:
        """Whether an argument may be another at replay."""
        if isinstance(leaf, Output):
            return leaf.part is not None or leaf.step not in self._known
        return isinstance(leaf, Input | Size)

    def _name_of(self, tensor: Tensor) -> Reference:
        """What a tensor is called; one that nobody made under the tape is a constant."""
        if tensor not in self._names:
            # Weights, volumes, numbers of the renderer's code.
            self._constants.append(tensor)
            name = Constant(len(self._constants) - 1)
            self._given.add(self._call_it(tensor, name, self._piece()))
        known: Reference = self._names[tensor][0]
        return known

    def _call_it(self, tensor: Tensor, name: Reference, piece: int) -> int:
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


def _tensors(func: Any, answer: Any) -> dict[int | None, Tensor]:
    """The tensors of an answer by their place in a sequence; None for one that is alone.

    Raises:
        UnrecordableError: they stand deeper in it.
    """
    if isinstance(answer, Tensor):
        return {None: answer}
    if not isinstance(answer, list | tuple):
        return {}
    if any(isinstance(part, list | tuple | dict) for part in answer):
        raise UnrecordableError("nested", f"It answers with tensors in lists of lists ({func}).")
    return {place: part for place, part in enumerate(answer) if isinstance(part, Tensor)}


def _repeats(func: Any, args: tuple[Any, ...], answer: Any) -> bool:
    """Whether the answer is the first argument, element by element and in the same layout."""
    if func not in REPEATING and func not in COPYING:
        return False
    first = args[0]
    return isinstance(first, Tensor) and bool(
        answer.shape == first.shape
        and answer.stride() == first.stride()
        and answer.dtype == first.dtype
        and answer.device == first.device
    )


def tape_class() -> type[Tape]:
    """The tape; where torch's compiler is loaded, one that it does not look into."""
    return _closed() if "torch._dynamo" in sys.modules else Tape


@cache
def _closed() -> type[Tape]:
    noted = torch._disable_dynamo(Tape.__torch_dispatch__, recursive=True)  # type: ignore[attr-defined]
    return type("ClosedTape", (Tape,), {"__torch_dispatch__": noted})
