"""Second derivatives: maps of a first derivative, which is a renderer like any other.

d(image)/d(parameter) at a pixel is a function of the pixel and the parameters, as the image is. So
it is put in the renderer's place, and whatever holds for maps holds for its maps: strategies are
tried and compared with differences (a rule of one's own that is blind to a second derivative is
found out there), tiles are recorded, the result is certified.
"""

from dataclasses import replace
from functools import cache
from typing import Any

import torch
from torch import Tensor

from app.engine.method import Method
from app.engine.search import find_method
from app.engine.standing import undivided
from app.engine.strategies.forward import forward, push
from app.engine.task import Task
from app.engine.tile import Tile
from renderers import Frame, Loaded, Pixels, Subject, Wrt


def first_derivative(loaded: Loaded, task: Task, wrt: Wrt) -> Loaded:
    """A renderer whose image is the derivative of another's by one number.

    Args:
        loaded: the renderer.
        task: where the derivative is taken: how it is best taken is found out there.
        wrt: a scalar parameter, or an entry of one.

    Raises:
        ValueError: `wrt` is more than one number.
        RenderError: the renderer raised.
    """
    if wrt.shape:
        raise ValueError(f"{wrt} has shape {wrt.shape}; an entry is wanted.")
    inner = replace(task, subject=Subject((wrt,)), strategy="auto")
    return _derived(loaded, inner, find_method(loaded, inner))


def _derived(loaded: Loaded, inner: Task, method: Method) -> Loaded:
    whole = undivided(loaded) if method.verdict.whole else loaded
    directions = inner.directions
    strategy = method.verdict.resolve(directions)

    @cache
    def load_as(dtype: torch.dtype) -> Loaded:
        source = whole.load_as(dtype) if dtype != whole.dtype else whole
        rows = directions.rows(slice(0, 1), source.device, dtype)

        def function(where: Pixels | Frame, *, seed: int = 0, **params: Any) -> Tensor:
            tile = Tile(source, where, params, inner.moving, seed)
            if strategy.name == forward.name:
                # Not `differentiate`, which lets nothing through to reverse mode.
                return push(tile, rows[0])[1]
            return strategy.differentiate(tile, rows)[1][0]

        spec = replace(whole.spec, native=False)
        return Loaded(spec, function, source.device, dtype, load_as)

    return load_as(loaded.dtype)
