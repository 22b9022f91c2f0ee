"""What a forward formula costs, against other ways to the same tangent.

`python -m benchmarks.operations [--threads 2] [--rounds 9]` prints one table. Every row is measured
round by round beside the others, and the best round counts: what else the machine does then falls
on all alike. `replayed` is the recorded graph of the same jvp, without torch's Python.
"""

import argparse
import itertools
import platform
import time
from collections.abc import Callable

import torch
from torch import Tensor
from torch.func import jvp, vjp, vmap
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn import functional as F

from app.engine.memory import peak_bytes
from app.engine.operations import ForwardFormulas

Sample = Callable[[Tensor, Tensor], Tensor]
CPU = torch.device("cpu")


def plane(height: int, width: int) -> Tensor:
    """Positions of a turned picture, `(1, height, width, 2)`."""
    y, x = torch.meshgrid(
        torch.linspace(-0.9, 0.9, height), torch.linspace(-0.9, 0.9, width), indexing="ij"
    )
    return torch.stack([x + 0.1 * y, y - 0.1 * x], -1)[None]


def rays(height: int, width: int, steps: int) -> Tensor:
    """Positions along rays, `(1, height, width, steps, 3)`."""
    across = plane(height, width)[..., None, :].expand(-1, -1, -1, steps, -1)
    depth = torch.linspace(-0.9, 0.9, steps)[:, None].expand(*across.shape[:-1], 1)
    return torch.cat([across, depth], -1)


def sampled(texture: Tensor, grid: Tensor) -> Tensor:
    """The operation itself."""
    return F.grid_sample(texture, grid, padding_mode="border", align_corners=True)


def gathered(texture: Tensor, grid: Tensor) -> Tensor:
    """The same from indexing and arithmetic, which forward mode knows."""
    axes = grid.shape[-1]
    sizes = torch.tensor(texture.shape[:1:-1])
    place = torch.minimum(((grid[0] + 1) / 2 * (sizes - 1)).clamp(min=0), sizes - 1.0)
    low = torch.minimum(place.detach().floor().long(), sizes - 2)
    share = place - low
    total = torch.zeros(())
    for corner in itertools.product((0, 1), repeat=axes):
        at = (low + torch.tensor(corner)).unbind(-1)[::-1]
        weights = [s if up else 1 - s for s, up in zip(share.unbind(-1), corner, strict=True)]
        weight = weights[0]
        for each in weights[1:]:
            weight = weight * each
        total = total + texture[0].flatten(1)[:, flat(at, texture)] * weight
    return total[None]


def flat(at: tuple[Tensor, ...], texture: Tensor) -> Tensor:
    """Numbers of texels from their places along the axes, the slowest axis first."""
    number = at[0]
    for place, size in zip(at[1:], texture.shape[3:], strict=True):
        number = number * size + place
    return number


def ways(texture: Tensor, grid: Tensor) -> dict[str, Callable[[], object]]:
    """Every way to the image and its tangents, by name."""
    torch.manual_seed(0)
    seeds = torch.randn(3, *grid.shape)

    def ours(grid: Tensor, seed: Tensor) -> tuple[Tensor, Tensor]:
        with ForwardFormulas():
            image, tangent = jvp(lambda g: sampled(texture, g), (grid,), (seed,))  # type: ignore[misc]
        return image, tangent

    def three(grid: Tensor, seeds: Tensor) -> object:
        return vmap(lambda seed: ours(grid, seed), out_dims=(None, 0))(seeds)  # type: ignore[arg-type]

    def transposed() -> object:
        image, pull = vjp(lambda g: sampled(texture, g), grid)  # type: ignore[misc]
        return image, vjp(pull, torch.zeros_like(image))[1]((seeds[0],))

    one_graph, three_graph = make_fx(ours)(grid, seeds[0]), make_fx(three)(grid, seeds)
    return {
        "primal": lambda: sampled(texture, grid),
        "ours, 1 tangent": lambda: ours(grid, seeds[0]),
        "ours, 1 tangent, replayed": lambda: one_graph(grid, seeds[0]),
        "ours, 3 tangents": lambda: three(grid, seeds),
        "ours, 3 tangents, replayed": lambda: three_graph(grid, seeds),
        "double_vjp, 1 tangent": transposed,
        "gather, 1 tangent": lambda: jvp(lambda g: gathered(texture, g), (grid,), (seeds[0],)),
    }


def best(runs: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Seconds of the best round of each."""
    seconds = dict.fromkeys(runs, float("inf"))
    for _ in range(rounds):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            seconds[name] = min(seconds[name], time.perf_counter() - start)
    return seconds


def scenes() -> dict[str, tuple[Tensor, Tensor]]:
    """Textures and volumes with the positions at which they are asked."""
    torch.manual_seed(1)
    picture, grey = torch.rand(1, 3, 512, 512), torch.rand(1, 1, 512, 512)
    return {
        "texture 3x512x512 at 512x512": (picture, plane(512, 512)),
        "texture 3x512x512 at a band of 128x512": (picture, plane(128, 512)),
        "texture 1x512x512 at 512x512": (grey, plane(512, 512)),
        "volume 1x64^3 at 256x256x32": (torch.rand(1, 1, 64, 64, 64), rays(256, 256, 32)),
    }


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--threads", type=int, default=torch.get_num_threads())
    options.add_argument("--rounds", type=int, default=9)
    chosen = options.parse_args()
    torch.set_num_threads(chosen.threads)
    machine = platform.processor() or platform.machine()
    print(f"{machine}, torch {torch.__version__}, {chosen.threads} threads, float32, bilinear")
    with torch.no_grad():
        for title, (texture, grid) in scenes().items():
            runs = ways(texture, grid)
            seconds = best(runs, chosen.rounds)
            print(f"\n{title:42} {'ms':>8} {'x primal':>9} {'peak MB':>8}")
            for name, run in runs.items():
                ratio = seconds[name] / seconds["primal"]
                peak = peak_bytes(run, CPU) / 1e6
                print(f"  {name:40} {1e3 * seconds[name]:8.2f} {ratio:9.2f} {peak:8.1f}")


if __name__ == "__main__":
    main()
