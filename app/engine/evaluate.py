"""Asking a renderer, so that a pixel has the same bits whatever it is asked together with."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from jaxtyping import Float
from torch import Tensor

from renderers import Frame, Loaded, Pixels

# On the CPU torch computes full SIMD vectors with one approximation and the rest of a thread's
# share, one by one, with another: sigmoid differs in the last bit. Shares that are a multiple of
# the widest unrolled loop (four vectors of sixteen floats) have no rest.
LANES = 64
# Float32 values on a page of memory.
PAGE = 1024


def evaluate(
    loaded: Loaded, where: Pixels | Frame, params: Mapping[str, Tensor], seed: int
) -> Float[Tensor, "*pixels channels"]:
    """The image at `where`.

    Pixel renderers are asked for a flat list of positions, filled up to a multiple of what the
    threads share out, and the filling is cut off again; one that must be whole is asked as it is.
    (With a number of threads that is no power of two, tiles smaller than a thread's least share
    may still differ in the last bit.)
    """
    if loaded.spec.random:
        # Equal seeds in every tile and on both sides of a difference, for what draws from torch.
        torch.manual_seed(seed)
    if isinstance(where, Frame) or loaded.spec.halo is None:
        return loaded(where, params, seed)
    flat = flattened(where)
    image = loaded(flat, params, seed)
    return image[: where.x.numel()].reshape(*where.shape, -1)


def lanes() -> int:
    """Positions of which a multiple leaves no thread with a rest."""
    return LANES * torch.get_num_threads()


def flattened(where: Pixels, *, apart: bool = False) -> Pixels:
    """The positions in a row, filled up to a multiple of `lanes()` by repeating the last.

    Args:
        where: the positions.
        apart: whether rows of so many values are to lie apart in the CPU's caches: of those that
            are a multiple of a page, all first values fall into one set, and push each other out.
    """
    missing = -where.x.numel() % lanes()
    if apart and (where.x.numel() + missing) % PAGE == 0:
        missing += lanes()
    x, y = _filled(where.x, missing), _filled(where.y, missing)
    return Pixels(x, y, where.width, where.height)


def _filled(positions: Tensor, missing: int) -> Tensor:
    flat = positions.reshape(-1)
    return torch.cat([flat, flat[-1:].expand(missing)]) if missing else flat


@contextmanager
def one_thread() -> Iterator[None]:
    """For a few positions: some kernels wake every thread, whatever there is to do.

    On a machine that is busy, waiting for them makes a call ten times slower.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
