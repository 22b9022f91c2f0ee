"""A small picture that is itself a parameter, printed: light, soft focus, paper."""

import torch
from torch import Tensor

from renderers import Frame, param, renderer
from renderers._landscape import landscape

WIDTH, HEIGHT = 64, 48  # of the picture
DARKEST, BRIGHTEST = 0.001, 16.0  # light that the picture may hold; paper sees ratios, so never 0
GREY = 0.18  # light that prints to half of white at exposure 0
# Every digit of the picture may be sent in a request, and none beyond these can be seen.
PICTURE = landscape(WIDTH, HEIGHT).clamp(DARKEST, BRIGHTEST).mul(1e4).round().div(1e4)


@renderer(channels="rgb", halo=0)
def darkroom(
    frame: Frame,
    exposure: Tensor = param(-0.3, low=-4.0, high=4.0, unit="EV", help="doublings of light"),
    softness: Tensor = param(0.25, low=0.0, high=1.0, help="part of the light that spreads"),
    contrast: Tensor = param(1.3, low=0.2, high=4.0, help="slope of the paper's curve"),
    picture: Tensor = param(
        PICTURE, low=DARKEST, high=BRIGHTEST, help="linear light: 48 rows of 64 pixels, r, g, b"
    ),
) -> Tensor:
    """A picture of 64 x 48 pixels, which is a parameter, printed through a soft lens.

    With `P` the picture and `B` the 3 x 3 blur of weights `(1 2 1)/4` along rows and columns,
    whose border repeats the last pixel::

        soft  = (1 - softness) P + softness B P                       lens
        print = sigmoid(contrast log(2^exposure soft / 0.18))         paper
        image = print where the frame's pixels lie, linear between    enlarger

    so that in a frame of 64 x 48 pixels, where the image is the print itself, entry for entry::

        d(image)/d(P)        = contrast print (1 - print) / soft * (1 - softness + softness B)
        d(image)/d(exposure) = contrast log(2) print (1 - print)

    There the image has the shape of the parameter. Without softness an entry depends on its own
    entry of the picture alone, so that the Jacobian is diagonal; with it, on 3 x 3 pixels of its
    own channel, of which the middle one weighs `1 - softness + softness / 4`, and 9/16 instead of
    1/4 in a corner, 3/8 along a border. In a frame of any other size the print is interpolated; it
    fills the frame, cropped where the shape differs, and beyond its border its last pixels go on.

    Sources: F. Hurter and V. C. Driffield, "Photochemical investigations", 1890 (print as a
    function of the logarithm of light); the logistic curve is the simplest with a toe and a
    shoulder.

    Smooth in every parameter within the bounds.
    """
    light = torch.exp2(exposure) / GREY * _softened(picture, softness)
    shown = torch.sigmoid(contrast * torch.log(light))
    scale = min(WIDTH / frame.width, HEIGHT / frame.height)
    rows = torch.arange(frame.start, frame.stop, device=frame.device, dtype=frame.dtype)
    columns = torch.arange(frame.width, device=frame.device, dtype=frame.dtype)
    enlarged = _between(shown, (rows - (frame.height - 1) / 2) * scale, 0)
    return _between(enlarged, (columns - (frame.width - 1) / 2) * scale, 1)


def _softened(picture: Tensor, softness: Tensor) -> Tensor:
    spread = _blurred(_blurred(picture, 0), 1)
    return picture + softness * (spread - picture)


def _blurred(picture: Tensor, axis: int) -> Tensor:
    """The mean of each pixel and, half as heavy, its two neighbours along an axis."""
    length = picture.shape[axis]
    first, last = picture.narrow(axis, 0, 1), picture.narrow(axis, length - 1, 1)
    before = torch.cat([first, picture.narrow(axis, 0, length - 1)], axis)
    after = torch.cat([picture.narrow(axis, 1, length - 1), last], axis)
    return 0.5 * picture + 0.25 * (before + after)


def _between(picture: Tensor, position: Tensor, axis: int) -> Tensor:
    """The picture at positions along an axis, counted in its pixels from its middle."""
    length = picture.shape[axis]
    at = torch.clamp(position + (length - 1) / 2, 0.0, length - 1.0)
    index = torch.clamp(torch.floor(at), max=length - 2.0)
    part = (at - index).reshape([-1 if each == axis else 1 for each in range(picture.dim())])
    before = picture.index_select(axis, index.to(torch.int32))
    after = picture.index_select(axis, index.to(torch.int32) + 1)
    return before + part * (after - before)
