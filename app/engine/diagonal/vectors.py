"""Random vectors, the same on every device for the same seed."""

from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor

from app.engine.diagonal.operator import Operator


def generator(seed: int) -> torch.Generator:
    """The source of what is drawn; on the CPU, so that every device gets the same."""
    return torch.Generator().manual_seed(seed)


def normals(operator: Operator, count: int, draw: torch.Generator) -> Float[Tensor, "k n"]:
    """Independent normal entries."""
    drawn = torch.randn(count, operator.size, generator=draw, dtype=torch.float64)
    return drawn.to(operator.device, operator.dtype)


def signs(operator: Operator, count: int, draw: torch.Generator) -> Float[Tensor, "k n"]:
    """Entries 1 and -1: of all independent entries those whose estimates vary least."""
    drawn = torch.randint(0, 2, (count, operator.size), generator=draw, dtype=torch.int8)
    return (2 * drawn - 1).to(operator.device, operator.dtype)


def spheres(operator: Operator, count: int, draw: torch.Generator) -> Float[Tensor, "k n"]:
    """Vectors spread evenly over the sphere of radius `sqrt(n)`."""
    drawn = torch.randn(count, operator.size, generator=draw, dtype=torch.float64)
    drawn *= operator.size**0.5 / drawn.norm(dim=1, keepdim=True)
    return drawn.to(operator.device, operator.dtype)


def signs_in_groups(operator: Operator, count: int, seed: int) -> Iterator[Float[Tensor, "k n"]]:
    """Sign vectors, as many at once as may be held."""
    draw = generator(seed)
    for group in operator.groups(count):
        yield signs(operator, len(group), draw)
