"""A photograph that nobody took: mountains at sunset, in linear light."""

import torch
from torch import Tensor

SUN = (0.32, 0.20)  # to the right and up, as parts of the picture's half width and half height


def landscape(width: int, height: int) -> Tensor:
    """Scene-linear picture of shape `(height, width, 3)`, float64; the sun is brighter than 1."""
    x = torch.linspace(-1.0, 1.0, width, dtype=torch.float64)[None, :].expand(height, width)
    y = torch.linspace(1.0, -1.0, height, dtype=torch.float64)[:, None].expand(height, width)
    picture = _sky(x, y)
    for layer in range(5):
        near = layer / 4
        ridge = 0.12 - 0.85 * near**1.25 + (0.20 + 0.06 * near) * _ridge(x, layer)
        inside = torch.sigmoid((ridge - y) * height / 2.5)[..., None]
        picture = picture + inside * (_hill(x, y, ridge, near) - picture)
    grain = torch.randn(height, width, 1, generator=torch.Generator().manual_seed(5)).double()
    return torch.clamp(picture * (1.0 + 0.01 * grain), min=0.0)


def _colour(*entries: float) -> Tensor:
    return torch.tensor(entries, dtype=torch.float64)


def _sky(x: Tensor, y: Tensor) -> Tensor:
    up = torch.clamp(0.5 + 0.5 * y, 0.0, 1.0)[..., None]
    sky = _colour(0.95, 0.42, 0.16) * (1 - up) ** 1.5 + _colour(0.07, 0.16, 0.42) * up
    away = torch.sqrt((1.5 * (x - SUN[0])) ** 2 + (y - SUN[1]) ** 2)
    disc = torch.sigmoid((0.085 - away) * 120.0) * 5.0 + 0.9 * torch.exp(-4.5 * away)
    clouds = _clouds(x, y) * torch.exp(-(((y - 0.45) / 0.4) ** 2))
    return (
        sky
        + disc[..., None] * _colour(1.0, 0.62, 0.28)
        + (clouds[..., None] * _colour(0.55, 0.26, 0.20))
    )


def _clouds(x: Tensor, y: Tensor) -> Tensor:
    """Streaks: octaves of waves, each bent by the one before."""
    total, bend = torch.zeros_like(x), torch.zeros_like(x)
    for octave in range(6):
        f = 1.9**octave
        bend = torch.sin(f * (2.3 * x + 0.7 * octave) + 2.0 * bend + f * 5.1 * y)
        total = total + bend / f**0.75
    return torch.clamp(0.35 + 0.4 * total, min=0.0)


def _ridge(x: Tensor, layer: int) -> Tensor:
    """Outline of a chain of hills: sharp octaves far away, round ones near."""
    total = torch.zeros_like(x)
    for octave in range(7):
        f = 2.0**octave
        wave = torch.sin(f * (1.7 + 0.31 * layer) * x + 1.3 * layer * (octave + 1) + 0.9 * octave)
        total = total + (1.0 - 1.6 * torch.abs(wave) if layer < 3 else 0.6 * wave) / f
    return 0.5 * total


def _hill(x: Tensor, y: Tensor, ridge: Tensor, near: float) -> Tensor:
    """Paint of one chain: hazy and warm far away, dark green near, lit along its edge."""
    depth = torch.clamp(ridge - y, min=0.0)[..., None]
    far, close = _colour(0.62, 0.30, 0.20), _colour(0.012, 0.020, 0.014)
    paint = far * (1 - near) ** 1.7 + close
    texture = torch.sin(37 * x + 9 * torch.sin(23 * y)) * torch.sin(61 * y + 7 * torch.sin(31 * x))
    haze = (1 - near) * torch.clamp(0.5 * depth, max=0.3) * _colour(1.0, 0.6, 0.4)
    edge = 0.30 * torch.exp(-depth * 60.0) * torch.exp(-(((x - SUN[0]) / 0.5) ** 2))[..., None]
    paint = paint * (1.0 + 0.12 * near * texture[..., None])
    lit: Tensor = paint + haze + edge * _colour(1.0, 0.5, 0.2)
    return lit
