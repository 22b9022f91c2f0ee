"""A diagonal by its pattern beside a loop over its entries: `python -m benchmarks.diagonal`.

The loop pushes as many unit vectors at once as the same budget allows. It is timed on a part of the
entries and extrapolated, since nobody would wait for the rest.
"""

from collections.abc import Iterator

import torch
from torch import Tensor

from app.engine.diagonal import diagonal, diagonal_of, divergence, operator_of
from app.engine.diagonal.products import Function
from benchmarks import machine
from benchmarks.machine import Row, interleaved, ratios

PART = 256  # entries of the loop that are timed
MILLION = 1e6


def toned(image: Tensor) -> Tensor:
    """A tone curve: every entry its own."""
    return torch.tanh(1.3 * image) + 0.1 * image


def blurred(image: Tensor) -> Tensor:
    """A blur over 3 x 3 pixels of a tone curve."""
    padded = torch.nn.functional.pad(toned(image)[None, None], (1, 1, 1, 1), mode="replicate")
    return torch.nn.functional.avg_pool2d(padded, 3, stride=1)[0, 0]


def unit_vectors(function: Function, point: Tensor) -> None:
    """The loop's work for its part of the entries."""
    operator = operator_of(function, point)
    for group in operator.groups(PART):
        vectors = torch.zeros(len(group), point.numel())
        vectors[torch.arange(len(group)), torch.tensor(list(group))] = 1
        operator.push(vectors)


def of_pattern(name: str, function: Function, side: int, colours: int, repeats: int) -> list[Row]:
    """Passes of a diagonal, and its time beside the loop's; checks are in the time."""
    point = torch.rand(side, side, generator=torch.Generator().manual_seed(1))
    found = diagonal(function, point)
    ours, part = interleaved(
        [
            lambda: diagonal_of(operator_of(function, point)),
            lambda: unit_vectors(function, point),
        ],
        repeats,
    )
    share = point.numel() / PART
    middle, low, high = (MILLION * ratio / share for ratio in ratios(ours, part))
    title = f"divergence of a {name} field, {side}x{side}"
    loop = share * part.median
    return [
        Row(f"{title}: passes", found.passes, colours, "passes",
            note=f"{found.method}; {found.checks} more to find and prove the pattern"),
        Row(f"{title}: time / a loop's over {point.numel()} entries", middle, 10_000, "millionths",
            spread=(low, high),
            note=f"{1e3 * ours.median:.1f} ms / {loop:.0f} s, extrapolated from {PART} entries"),
    ]  # fmt: skip


def of_flow(number: int, width: int) -> Row:
    """Passes of the divergence at all points of a flow."""
    draw = torch.Generator().manual_seed(1)
    first, second = (torch.randn(width, width, generator=draw) for _ in range(2))
    found = divergence(
        lambda x: torch.tanh(x @ first) @ second, torch.randn(number, width, generator=draw)
    )
    return Row(
        f"divergence of a flow at {number} points of {width} coordinates: passes",
        found.passes, width, "passes", note=f"{found.checks} more to prove that rows are their own",
    )  # fmt: skip


def rows(side: int, repeats: int) -> Iterator[Row]:
    """The table of this file."""
    yield from of_pattern("pointwise", toned, side, 1, repeats)
    yield from of_pattern("3 x 3 stencil", blurred, side, 9, repeats)
    yield of_flow(16 * side, 8)


if __name__ == "__main__":
    machine.table(rows(256, 9))
