"""A graph as plain data, which a process that compiles it is given, and its name is made of."""

from collections.abc import Callable
from typing import Any

import torch

from app.engine.compiled.errors import UncompilableError
from app.engine.recording.graph import Argument, Graph, Input, Output, Size, Step

# Values of torch that have a name there.
NAMED = (torch.dtype, torch.layout, torch.memory_format)
Plain = Any
"""What JSON knows: lists, dictionaries, numbers, strings, None."""


def pack(graph: Graph) -> Plain:
    """A graph without constants as plain data.

    Raises:
        UncompilableError: it does something that has no name in torch.
    """
    return {
        "inputs": graph.inputs,
        "steps": [_pack_step(step) for step in graph.steps],
        "results": _pack(graph.results),
    }


def unpack(plain: Plain) -> Graph:
    """The graph of `pack`; what steps do to memory is not told."""
    steps = tuple(
        Step(
            _operation(*op), _unpack(args), tuple((name, _unpack(value)) for name, value in kwargs)
        )
        for op, args, kwargs in plain["steps"]
    )
    return Graph(plain["inputs"], steps, (), _unpack(plain["results"]))


def _pack_step(step: Step) -> Plain:
    if not isinstance(step.op, torch._ops.OpOverload):
        raise UncompilableError(f"It does something of its own ({step.op}).")
    space, _, name = step.op._schema.name.partition("::")
    op = [space, name, step.op._overloadname]
    return [op, _pack(step.args), [[key, _pack(value)] for key, value in step.kwargs]]


def _operation(space: str, name: str, overload: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(getattr(getattr(torch.ops, space), name), overload)
    return found


def _pack(argument: Argument) -> Plain:
    if argument is None or type(argument) in (bool, int, float, str):
        return argument
    if isinstance(argument, tuple | list):
        return [_pack(part) for part in argument]
    if isinstance(argument, Input):
        return {"input": argument.number}
    if isinstance(argument, Output):
        return {"output": argument.step, "part": argument.part}
    if isinstance(argument, Size):
        return {"size": argument.times, "parts": argument.parts}
    if isinstance(argument, NAMED):
        return {"torch": str(argument).removeprefix("torch.")}
    if isinstance(argument, torch.device):
        return {"device": str(argument)}
    raise UncompilableError(f"It is called with something of its own ({type(argument).__name__}).")


def _unpack(plain: Plain) -> Argument:
    if isinstance(plain, list):
        return tuple(_unpack(part) for part in plain)
    if not isinstance(plain, dict):
        return plain
    if "input" in plain:
        return Input(plain["input"])
    if "output" in plain:
        return Output(plain["output"], plain["part"])
    if "size" in plain:
        return Size(plain["size"], plain["parts"])
    return torch.device(plain["device"]) if "device" in plain else getattr(torch, plain["torch"])
