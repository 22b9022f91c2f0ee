"""The maps along a range of one parameter: what there is of it, and how it moves when drawn."""

from dataclasses import dataclass
from itertools import pairwise
from math import isfinite

from app.imaging.errors import InvalidMapError, InvalidStyleError, quote
from app.imaging.lettering import MINUS
from app.imaging.maps import Maps

SHORTEST_MS, LONGEST_MS = 20, 60_000  # browsers slow down what is faster; PNG counts in 16 bits

MOST_LOOPS = 65_535  # WebP counts in 16 bits

_LOST = 0.02  # of the distance of two values: what rounding may take where they are written
_MOST_DECIMALS, _LARGEST = 6, 1e6  # beyond, a number is easier to read with a power of ten


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sweep:
    """The maps of one request at each value of a parameter.

    Attributes:
        frames: The maps at each value, all of the same names, shapes and types.
        parameter: What runs along the range, such as ``radius`` or ``light[2]``.
        values: Its value in each frame, in the order of the frames.
        unit: The parameter's unit, such as ``scene unit``.

    Raises:
        InvalidMapError: No frame, not one value a frame, or frames that differ in more than
            their numbers.
    """

    frames: tuple[Maps, ...]
    parameter: str
    values: tuple[float, ...]
    unit: str = ""

    def __post_init__(self) -> None:
        """Check that there is one value a frame, and that the frames can be stacked."""
        set_field = object.__setattr__  # the one way to complete a frozen instance
        set_field(self, "frames", tuple(self.frames))
        set_field(self, "values", tuple(map(float, self.values)))
        if not self.frames or len(self.frames) != len(self.values):
            raise InvalidMapError(
                "A sweep has at least one frame and a value for each; got "
                f"{len(self.frames)} frames and {len(self.values)} values."
            )
        if not all(map(isfinite, self.values)):
            raise InvalidMapError(
                f"The values of a sweep are finite numbers; got {quote(self.values)}."
            )
        for number, frame in enumerate(self.frames):
            if _kind(frame) != _kind(self.frames[0]):
                raise InvalidMapError(
                    "The frames of a sweep differ in their numbers alone; frame "
                    f"{number} differs from frame 0 in shape, type, name or channels."
                )

    @property
    def lines(self) -> tuple[str, ...]:
        """The value of the parameter in words, a line a frame, as in ``radius = 0.70 m``."""
        return tuple(
            " ".join(part for part in (f"{self.parameter} = {number}", self.unit) if part)
            for number in written(self.values)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Motion:
    """How a sweep moves.

    Attributes:
        milliseconds: How long each frame stands, from 20 to 60000.
        loop: How often it runs; 0 is for ever.
        boomerang: Whether it runs back as well, so that a loop has no jump in it.
        lines: Whether a line over each frame tells the value of the parameter.

    Raises:
        InvalidStyleError: A field outside its range.
    """

    milliseconds: int = 100
    loop: int = 0
    boomerang: bool = False
    lines: bool = True

    def __post_init__(self) -> None:
        """Refuse what cannot be shown, before any work is done."""
        if not SHORTEST_MS <= self.milliseconds <= LONGEST_MS:
            raise InvalidStyleError(
                f"A frame stands for {SHORTEST_MS} to {LONGEST_MS} milliseconds; "
                f"got {quote(self.milliseconds)}."
            )
        if not 0 <= self.loop <= MOST_LOOPS:
            raise InvalidStyleError(
                f"A sweep runs 1 to {MOST_LOOPS} times, or 0 for ever; got {quote(self.loop)}."
            )

    def order(self, frames: int) -> tuple[int, ...]:
        """The number of the frame shown at each step, of this many frames."""
        there = tuple(range(frames))
        return there + there[-2:0:-1] if self.boomerang else there


def written(values: tuple[float, ...]) -> tuple[str, ...]:
    """Numbers with equally many decimals, just enough to tell one from the next.

    Where plain decimals would be too many or too long, all are written with a power of ten.
    """
    largest = max(map(abs, values))
    steps = [abs(after - before) for before, after in pairwise(values) if after != before]
    lost = _LOST * min(steps, default=largest / 100)
    plain = [f".{decimals}f" for decimals in range(_MOST_DECIMALS + 1) if largest < _LARGEST]
    for form in [*plain, *(f".{decimals}e" for decimals in range(17))]:
        texts = tuple(format(value, form) for value in values)
        pairs = zip(texts, values, strict=True)
        if all(abs(float(text) - value) <= lost for text, value in pairs):
            break
    # A value that rounds to zero keeps its sign in Python, where it only puzzles.
    signed = (text.removeprefix("-") if float(text) == 0 else text for text in texts)
    return tuple(text.replace("-", MINUS) for text in signed)


def _kind(frame: Maps) -> tuple[object, ...]:
    """All that frames of one sweep have in common."""
    image = frame.image
    return (
        frame.channels,
        image is None or (image.shape, image.dtype),
        [(entry.name, entry.labels, entry.values.shape, entry.values.dtype, entry.unit)
         for entry in frame.entries],
    )  # fmt: skip
