"""Asking a renderer, so that a pixel has the same bits whatever it is asked together with."""

from collections.abc import Mapping

import torch
from jaxtyping import Float
from torch import Tensor

from renderers import Frame, Loaded, Pixels

# On the CPU torch computes full SIMD vectors with one approximation and the rest of a thread's
# share, one by one, with another: sigmoid differs in the last bit. Shares that are a multiple of
# the widest unrolled loop (four vectors of sixteen floats) have no rest.
LANES = 64


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
    count = where.x.numel()
    missing = -count % (LANES * torch.get_num_threads())
    flat = Pixels(_filled(where.x, missing), _filled(where.y, missing), where.width, where.height)
    image = loaded(flat, params, seed)
    return image[:count].reshape(*where.shape, -1)


def _filled(positions: Tensor, missing: int) -> Tensor:
    flat = positions.reshape(-1)
    return torch.cat([flat, flat[-1:].expand(missing)]) if missing else flat
