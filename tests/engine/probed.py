"""What the tests of probes share: renderers made on the spot, and an oracle for any of them."""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.func import jacrev
from torch.nn import functional as F

from app.engine.regions import Mask, Points, Rectangle, Region, weighted
from renderers import Frame, Loaded, Pixels, param, renderer

WIDTH, HEIGHT = 23, 18


def pixel(x: int, y: int, **rest: object) -> Region:
    return Region(area=Points(((x, y),)), **rest)  # type: ignore[arg-type]


def blob() -> Tensor:
    """Weights of all sizes and both signs on about half of the frame."""
    generator = torch.Generator().manual_seed(3)
    weights = torch.randn(HEIGHT, WIDTH, generator=generator, dtype=torch.float64)
    return weights * (torch.rand(HEIGHT, WIDTH, generator=generator) < 0.5)


REGIONS = (
    pixel(11, 8, name="middle"),
    Region(area=Rectangle(3, 2, 14, 12), name="box"),
    Region(area=Rectangle(9, 6, 23, 18), name="overlapping", weight=-2.0, channel=0),
    Region(area=Mask(blob()), name="blob", reduce="sum"),
)


def bound(loaded: Loaded, **values: object) -> dict[str, Tensor]:
    return loaded.spec.bind(values)


def whole_image(loaded: Loaded, params: Mapping[str, Tensor]) -> Tensor:
    """The image `(height, width, channels)`, asked for at once and by nothing of the engine."""
    frame = Frame(WIDTH, HEIGHT, 0, HEIGHT, loaded.device, loaded.dtype)
    return loaded(frame.pixels() if loaded.spec.kind == "pixel" else frame, params)


def weights_of(regions: Sequence[Region], loaded: Loaded) -> Tensor:
    """The regions as images of weights, `(regions, height, width, channels)`, in float64."""
    images = []
    for found in weighted(regions, loaded.spec, WIDTH, HEIGHT):
        flat = torch.zeros(HEIGHT * WIDTH, dtype=torch.float64)
        index, weight = found.area.within(0, HEIGHT, WIDTH)
        flat.index_add_(0, index, weight * found.factor)
        channels = torch.tensor(found.channels, dtype=torch.float64)
        images.append(flat.reshape(HEIGHT, WIDTH, 1) * channels)
    return torch.stack(images)


def oracle(
    loaded: Loaded,
    params: Mapping[str, Tensor],
    regions: Sequence[Region],
    dtype: torch.dtype = torch.float64,
) -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]]]:
    """Values and gradients by `torch.func.jacrev` of the whole image, in float64 by default."""
    exact = loaded.load_as(dtype)
    weights = weights_of(regions, loaded).to(dtype)

    def values(some: dict[str, Tensor]) -> Tensor:
        return torch.einsum("rhwc,hwc->r", weights, whole_image(exact, some))

    given = {name: value.to(dtype) for name, value in params.items()}
    gradients = jacrev(values)(given)
    found = {name: gradient.detach().double().numpy() for name, gradient in gradients.items()}
    return values(given).double().numpy(), found


def off(got: NDArray[np.floating], right: NDArray[np.floating]) -> float:
    """The largest deviation over the largest entry of the right one."""
    assert got.shape == right.shape
    return float(np.abs(got - right).max() / (np.abs(right).max() or 1.0))


TEXTURE = torch.rand(8, 8, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


@renderer(channels="rgb")
def picture(
    pixels: Pixels,
    texels: Tensor = param(TEXTURE),
    turn: Tensor = param(0.3),
    gain: Tensor = param(1.2),
) -> Tensor:
    """A picture that is a parameter, turned, and bent by its own brightness."""
    cos, sin = torch.cos(turn), torch.sin(turn)
    x, y = cos * pixels.x - sin * pixels.y, sin * pixels.x + cos * pixels.y
    grid = torch.stack([x, y], dim=-1).reshape(1, 1, -1, 2)
    planes = (texels**2).permute(2, 0, 1)[None]
    found = F.grid_sample(planes, grid, padding_mode="border", align_corners=True)
    return gain * found[0, :, 0].T.reshape(*pixels.shape, 3)


def _scene(frame: Frame, start: int, stop: int, a: Tensor, texels: Tensor) -> Tensor:
    rows = Frame(frame.width, frame.height, start, stop, frame.device, frame.dtype).pixels()
    return torch.sin(a * rows.x + rows.y**2) * (texels.mean() + rows.x) + texels.sum() * rows.y


@renderer(channels="grey", halo=2)
def blurred(
    frame: Frame, a: Tensor = param(2.0), texels: Tensor = param(((0.2, 0.4), (0.1, 0.9)))
) -> Tensor:
    """Each row is the mean of five, fewer at the ends."""
    image = _scene(frame, frame.start, frame.stop, a, texels)
    rows = image.T[:, None]
    total = F.conv1d(rows, torch.ones(1, 1, 5, dtype=rows.dtype), padding=2)
    count = F.conv1d(torch.ones_like(rows), torch.ones(1, 1, 5, dtype=rows.dtype), padding=2)
    return (total / count)[:, 0].T


@renderer(channels="grey")
def normalised(
    frame: Frame, a: Tensor = param(2.0), texels: Tensor = param(((0.2, 0.4), (0.1, 0.9)))
) -> Tensor:
    """Each pixel depends on all."""
    image = _scene(frame, 0, frame.height, a, texels).exp()
    return image / image.mean()


MADE = (picture, blurred, normalised)
