"""Whether a frame renderer's rows reach no further than its halo: nothing else is asked of bands.

The same rows are asked for twice, in a window with its halo and among many more rows. Where bands
would be joined, at the borders of the frame and between them, they must be the same to rounding.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from app.engine.differences import FIRST, inwards, scale_of
from app.engine.frame import Band, window
from app.engine.trial import SIDE, Trial

# Rows beside the halo that a window keeps; more where a renderer pads by more than its halo.
KEPT = (16, 128)
# Windows of a frame that is asked for whole. Where that is dear, its ends and its middle are left.
WINDOWS = 8
FEWEST = 3
# Pixels that may be asked for in all: a band's.
MOST = 1 << 18
# Beyond rounding: of the image, and of what the parameter moves of it.
SEEN = 1e-5
# Rounding, of the image: a renderer may compute in float32 in its depths, whatever it is given.
ROUNDED = {torch.float32: 1e-5, torch.float64: 1e-6}


@dataclass(frozen=True, slots=True)
class Cut:
    """Some rows of a frame, that are asked for at once and in windows.

    Attributes:
        width: width of the frame in pixels.
        height: height of the frame in pixels.
        rows: what is asked for at once.
        kept: the rows of it that are asked for again, each time with the halo.
    """

    width: int
    height: int
    rows: Band
    kept: tuple[Band, ...]


@torch.no_grad()
def outreached(trial: Trial) -> bool:
    """Whether rows depend on rows beyond the halo, or on the window that they are asked with.

    A narrow frame is looked at whole. In the task's own, where it is not too large, a few windows
    are: what a renderer reaches may grow with its frame, and it may have one that it cannot leave.
    """
    halo = trial.tile.loaded.spec.halo or 0
    width, height = trial.frame
    narrow = (_torn(trial, narrow_frame(width, halo, kept)) for kept in KEPT)
    if next((torn for torn in narrow if torn is not None), False):
        return True
    return any(_torn(trial, cut) for cut in own_frame(width, height, halo))


def narrow_frame(width: int, halo: int, kept: int) -> Cut:
    """A frame as tall as four halos and some rows, in windows from its first row to its last."""
    height, rows = 4 * halo + 3 * kept, halo + kept
    asked = rows + 2 * halo
    narrow = min(width, max(SIDE, 2 * halo + 8), MOST // (height + FEWEST * asked))
    narrow = max(1, narrow)
    count = min(WINDOWS, max(FEWEST, (MOST // narrow - height) // asked))
    return Cut(narrow, height, Band(0, height), _windows(Band(0, height), rows, count))


def own_frame(width: int, height: int, halo: int) -> Iterator[Cut]:
    """Parts of a frame of the task's own size: at its top, in its middle, and at its bottom."""
    part = narrow_frame(width, halo, KEPT[0])
    rows = halo + KEPT[0]
    if width * FEWEST * (part.height + rows + 2 * halo) > MOST or height <= rows:
        return
    if height <= part.height:
        whole = Band(0, height)
        yield Cut(width, height, whole, _windows(whole, rows, FEWEST))
        return
    for at, start in enumerate((0, (height - part.height) // 2, height - part.height)):
        band = Band(start, start + part.height)
        yield Cut(width, height, band, _windows(band, rows, FEWEST)[at : at + 1])


def _windows(band: Band, rows: int, count: int) -> tuple[Band, ...]:
    """Some windows of a band, from its first row to its last."""
    starts = (band.start + (band.rows - rows) * index // (count - 1) for index in range(count))
    return tuple(Band(start, start + rows) for start in starts)


def _torn(trial: Trial, cut: Cut) -> bool | None:
    """Whether some window differs from the rows asked for at once; None where it cannot be asked.

    The image at the task's value, and what moves of it: a parameter at 0 may hide what it scales.
    """
    values = (trial.exact.value, _moved(trial))
    halo = trial.tile.loaded.spec.halo or 0
    try:
        whole = [_rows(trial, cut, cut.rows, 0, value) for value in values]
        for band in cut.kept:
            part = slice(band.start - cut.rows.start, band.stop - cut.rows.start)
            if _differ([_rows(trial, cut, band, halo, value) for value in values], whole, part):
                return True
    except Exception:  # noqa: BLE001 - no frame that this renderer has, or too large a one
        return None
    return False


def _rows(trial: Trial, cut: Cut, band: Band, halo: int, value: Tensor) -> Tensor:
    """Some rows of the image, asked for with a halo; what is no number counts as zero."""
    loaded = trial.exact.loaded
    spec = replace(loaded.spec, halo=halo)
    asked = window(spec, cut.width, cut.height, band, loaded.device, loaded.dtype)
    image = trial.exact.at(asked.where, value)[asked.keep]
    return torch.nan_to_num(image, nan=0.0, posinf=0.0, neginf=0.0)


def _differ(parts: list[Tensor], whole: list[Tensor], rows: slice) -> bool:
    size = float(whole[0].abs().max())
    if _largest(parts[0] - whole[0][rows]) > SEEN * size:
        return True
    moved = whole[1] - whole[0]
    allowed = SEEN * _largest(moved) + ROUNDED.get(moved.dtype, SEEN) * size
    return _largest(parts[1] - parts[0] - moved[rows]) > allowed


def _largest(image: Tensor) -> float:
    return float(image.abs().max())


def _moved(trial: Trial) -> Tensor:
    """The parameter moved along all directions together, as far as it is notable and allowed."""
    exact = trial.exact
    if not exact.value.numel():  # an image alone
        return exact.value
    direction = trial.mixed.to(exact.value.dtype)
    step = FIRST * scale_of(exact, direction)
    moved: Tensor = sum(
        ((side or 1) * step * part for part, side in inwards(exact, direction, step)),
        start=exact.value,
    )
    return moved
