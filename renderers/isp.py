"""A photograph through a camera's image signal processor: lens, exposure, colour, tone."""

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from renderers import Frame, LoadError, param, renderer
from renderers._landscape import landscape

LUMA = (0.2126, 0.7152, 0.0722)  # Rec. 709
BLACK = 1e-4  # linear light below it is shown as it: a power curve has no slope at 0
LARGEST = 64_000_000  # pixels of a photograph


@renderer(channels="rgb", halo=0)
class Isp:
    """A photograph developed from linear light.

    With `r` the position in the frame (half the diagonal is 1) and `I` the photograph::

        r_source = r (1 + k1 |r|^2 + k2 |r|^4)                           lens distortion
        linear   = 2^exposure gains I(r_source) (1 - vignette |r|^2)^2   sensor
        vivid    = grey + saturation (linear - grey)                     colour
        image    = min(max(vivid, 1e-4), 1)^(1 / gamma)                  tone

    The gains are `2^(warmth / 2)` for red, `2^tint` for green and `2^(-warmth / 2)` for blue. The
    photograph fills the frame, cropped where its shape differs; between its pixels it is linear,
    beyond its border its last pixels go on. A file is taken to be sRGB and is linearised once.
    Without one, the photograph is a landscape made by formula.

    Sources: D. C. Brown, "Decentering distortion of lenses", 1966, and A. E. Conrady,
    "Decentred lens-systems", 1919, doi:10.1093/mnras/79.5.384 (radial terms); IEC 61966-2-1
    (sRGB); ITU-R BT.709 (weights of grey).

    Not differentiable where a channel reaches 1e-4 or 1, beyond which its derivative is 0 (a
    clipped pixel tells nothing); nor, with respect to `k1` and `k2`, where a source position
    lies on a pixel of the photograph: the slope of the interpolation jumps there.
    """

    def __init__(self, device: torch.device, dtype: torch.dtype, *, file: str = "") -> None:
        """Place a photograph on the device.

        Args:
            device: where tiles are computed.
            dtype: dtype of the photograph there.
            file: an image file that Pillow reads, of at most 64 megapixels; a made one without.

        Raises:
            LoadError: a file that is no such image.
        """
        photograph = _read(file) if file else landscape(640, 512)
        self.height, self.width = photograph.shape[:2]
        self.planes = photograph.permute(2, 0, 1).reshape(3, -1).to(device=device, dtype=dtype)

    def render(  # noqa: PLR0913 - the arguments are the declaration
        self,
        frame: Frame,
        exposure: Tensor = param(0.4, low=-4.0, high=4.0, unit="EV", help="doublings of light"),
        warmth: Tensor = param(0.1, low=-2.0, high=2.0, unit="EV", help="red over blue"),
        tint: Tensor = param(0.0, low=-1.0, high=1.0, unit="EV", help="green over the others"),
        saturation: Tensor = param(1.1, low=0.0, high=2.0, help="0 is grey"),
        gamma: Tensor = param(2.2, low=1.0, high=3.0, help="exponent of the tone curve"),
        vignette: Tensor = param(0.25, low=0.0, high=0.9, help="light lost in the corners"),
        k1: Tensor = param(0.08, low=-0.4, high=0.4, help="lens distortion, second order"),
        k2: Tensor = param(0.0, low=-0.2, high=0.2, help="lens distortion, fourth order"),
    ) -> Tensor:
        """The image of the window's rows, shape `(rows, width, 3)`."""
        x, y, r2 = _positions(frame)
        source = self._sample(frame, x, y, 1.0 + r2 * (k1 + r2 * k2))
        light = (1.0 - vignette * r2) ** 2 * torch.exp2(exposure)
        gains = (torch.exp2(0.5 * warmth), torch.exp2(tint), torch.exp2(-0.5 * warmth))
        linear = [light * gain * plane for gain, plane in zip(gains, source, strict=True)]
        grey = LUMA[0] * linear[0] + LUMA[1] * linear[1] + LUMA[2] * linear[2]
        vivid = [grey + saturation * (plane - grey) for plane in linear]
        # By exp and log: `pow` with a tensor for exponent rounds by the size of the window.
        toned = [torch.exp(torch.log(torch.clamp(v, BLACK, 1.0)) / gamma) for v in vivid]
        return torch.stack(toned, dim=-1)

    def _sample(self, frame: Frame, x: Tensor, y: Tensor, stretch: Tensor) -> list[Tensor]:
        """The photograph's three planes, interpolated bilinearly."""
        short = min(frame.width, frame.height)
        scale = 0.5 * short * min(self.width / frame.width, self.height / frame.height)
        column, fx = _cell(0.5 * (self.width - 1) + scale * x * stretch, self.width)
        row, fy = _cell(0.5 * (self.height - 1) - scale * y * stretch, self.height)
        first = (row * self.width + column).reshape(-1)

        def corner(plane: Tensor, offset: int) -> Tensor:
            return plane[offset:].index_select(0, first).reshape(fx.shape)

        def sample(plane: Tensor) -> Tensor:
            a, b = corner(plane, 0), corner(plane, 1)
            c, d = corner(plane, self.width), corner(plane, self.width + 1)
            top = a + fx * (b - a)
            return top + fy * (c + fx * (d - c) - top)

        return [sample(plane) for plane in self.planes.unbind()]


def _positions(frame: Frame) -> tuple[Tensor, Tensor, Tensor]:
    """Positions of the window's pixels, and the square of their distance in half diagonals."""
    pixels = frame.pixels()
    short = min(frame.width, frame.height)
    diagonal2 = (frame.width**2 + frame.height**2) / short**2
    return pixels.x, pixels.y, (pixels.x * pixels.x + pixels.y * pixels.y) / diagonal2


def _cell(position: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Index of the pixel before a position, and how far on towards the next it is, 0 to 1."""
    at = torch.clamp(position, 0.0, count - 1.0)
    index = torch.clamp(torch.floor(at.detach()), max=count - 2.0)
    return index.to(torch.int32), at - index


def _read(file: str) -> Tensor:
    """The file's picture in linear light, shape `(height, width, 3)`."""
    # Imported here: only this renderer, and only with a file, needs Pillow.
    from PIL import Image, ImageOps

    allowed = f"an image file of 2 x 2 to {LARGEST} pixels"
    try:
        with Image.open(Path(file)) as opened:
            if not (min(opened.size) >= 2 and opened.width * opened.height <= LARGEST):
                raise LoadError(
                    f"The photograph must be {allowed}; got {opened.width} x {opened.height}."
                )
            encoded = np.asarray(ImageOps.exif_transpose(opened).convert("RGB"), dtype=np.float64)
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise LoadError(f"The photograph must be {allowed}; it cannot be read as one.") from error
    value = torch.from_numpy(encoded / 255.0)
    return torch.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
