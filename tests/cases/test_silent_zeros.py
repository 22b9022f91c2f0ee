"""C3, C4, C22 and C23: derivatives that are lost without an error, in whole or in part."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from app.engine import DisagreementError
from renderers import Frame, Pixels, Renderer, param, renderer
from tests.cases.asking import DTYPES, READS_NUMBERS, Formula, bound, codes, error, mapped

pytestmark = READS_NUMBERS
Case = tuple[Renderer, Formula]


@renderer(channels="grey")
def detached_square(pixels: Pixels, a: Tensor = param(2.0)) -> Tensor:
    """C3."""
    return 3 * a + a.detach() ** 2 + 0 * pixels.x


@renderer(channels="grey")
def detached_shade(pixels: Pixels, a: Tensor = param(2.0)) -> Tensor:
    return a * torch.sin(a.detach() * pixels.x + pixels.y)


@renderer(channels="grey")
def number_on_the_way(pixels: Pixels, a: Tensor = param(2.0)) -> Tensor:
    return a**2 * pixels.x + torch.tensor(a.tolist(), dtype=a.dtype) ** 3


@renderer(channels="grey")
def detached_frame(frame: Frame, a: Tensor = param(2.0)) -> Tensor:
    pixels = frame.pixels()
    return a * pixels.x + (a**3).detach() * pixels.y


@renderer(channels="grey")
def detached_on_the_right(pixels: Pixels, a: Tensor = param(1.3)) -> Tensor:
    return torch.where(pixels.x > 0.9, a.detach() ** 2, a**2) * (1 + pixels.y**2)


def rare(pixels: Pixels) -> Tensor:
    """One pixel of 97, in no pattern that the eye would see."""
    column, row = torch.floor((pixels.x + 4) * 200), torch.floor((pixels.y + 4) * 200)
    return (column * 13 + row * 29) % 97 < 1


@renderer(channels="grey")
def detached_here_and_there(pixels: Pixels, a: Tensor = param(1.3)) -> Tensor:
    return torch.where(rare(pixels), a.detach() ** 2, a**2) * (1 + pixels.y**2)


PARTLY: list[Case] = [
    (detached_square, lambda x, y: 7 + 0 * x),
    (detached_shade, lambda x, y: np.sin(2 * x + y) + 2 * x * np.cos(2 * x + y)),
    (number_on_the_way, lambda x, y: 4 * x + 12),
    (detached_frame, lambda x, y: x + 12 * y),
    (detached_on_the_right, lambda x, y: 2.6 * (1 + y**2)),
    (detached_here_and_there, lambda x, y: 2.6 * (1 + y**2)),
]


@renderer(channels="grey")
def made_anew(pixels: Pixels, a: Tensor = param(2.0)) -> Tensor:
    """C4."""
    return torch.ones_like(pixels.x) * torch.tensor(float(a), dtype=pixels.x.dtype)


@renderer(channels="grey")
def item(pixels: Pixels, a: Tensor = param(2.0)) -> Tensor:
    return pixels.x * a.item()


@renderer(channels="grey")
def detached(pixels: Pixels, a: Tensor = param(2.0)) -> Tensor:
    return torch.sin(a.detach() * pixels.x)


@renderer(channels="grey")
def cached_number(frame: Frame, a: Tensor = param(2.0)) -> Tensor:
    return frame.pixels().x * float(a) ** 2


def middle(pixels: Pixels) -> Tensor:
    """The one pixel whose lower left corner is the middle of the frame."""
    inside = (pixels.x > 0) & (pixels.x < pixels.pitch)
    return inside & (pixels.y > 0) & (pixels.y < pixels.pitch)


@renderer(channels="grey")
def one_detached_pixel(pixels: Pixels, a: Tensor = param(1.5)) -> Tensor:
    return torch.where(middle(pixels), a.detach() ** 2, torch.zeros_like(a))


def one_pixel(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    pitch = 2 / min(x.shape)
    return 3.0 * ((x > 0) & (x < pitch) & (y > 0) & (y < pitch))


LOST: list[Case] = [
    (made_anew, lambda x, y: 1 + 0 * x),
    (item, lambda x, y: x),
    (detached, lambda x, y: x * np.cos(2 * x)),
    (cached_number, lambda x, y: 4 * x),
    (one_detached_pixel, one_pixel),
]


@DTYPES
@pytest.mark.parametrize(
    ("source", "right", "code"),
    [(*case, "partly_detached") for case in PARTLY] + [(*case, "tangent_lost") for case in LOST],
)
class TestADerivativeThatIsLost:
    SIZE = (96, 64)

    def test_is_found_by_differences_and_said_to_be(
        self, source: Renderer, right: Formula, code: str, dtype: torch.dtype
    ) -> None:
        found = mapped(source, "a", size=self.SIZE, dtype=dtype)
        assert found.strategy == "finite_difference"
        assert codes(found) == {code}
        assert "forward" in dict(found.method.verdict.passed_over)
        assert error(found, right) <= bound(found)

    def test_is_refused_where_the_wrong_way_is_asked_for(
        self, source: Renderer, right: Formula, code: str, dtype: torch.dtype
    ) -> None:
        with pytest.raises(DisagreementError) as caught:
            mapped(source, "a", size=self.SIZE, dtype=dtype, strategy="forward")
        assert caught.value.code == "strategy_disagrees"

    def test_is_given_all_the_same_where_nobody_wants_it_compared(
        self, source: Renderer, right: Formula, code: str, dtype: torch.dtype
    ) -> None:
        found = mapped(source, "a", size=self.SIZE, dtype=dtype, strategy="forward", certify=False)
        assert found.certificate is None
        assert error(found, right) > 0.1


def test_a_rare_wrong_pixel_is_found_in_a_large_frame() -> None:
    found = mapped(detached_here_and_there, "a", size=(1200, 900))
    assert codes(found) == {"partly_detached"}
    assert error(found, lambda x, y: 2.6 * (1 + y**2)) <= bound(found)


@DTYPES
@pytest.mark.parametrize(
    "image",
    [
        lambda pixels, a: torch.sin(9 * pixels.x),
        lambda pixels, a: torch.sin(9 * pixels.x) + 0 * a,
        lambda pixels, a: (pixels.x + pixels.y > 0).to(pixels.x.dtype) * torch.sign(a**2 + 1),
    ],
)
def test_an_image_that_does_not_depend_on_it_has_a_map_of_zeros_and_no_finding(
    image: Callable[[Pixels, Tensor], Tensor], dtype: torch.dtype
) -> None:
    @renderer(channels="grey")
    def still(pixels: Pixels, a: Tensor = param(2.0)) -> Tensor:
        return image(pixels, a)

    found = mapped(still, "a", size=(64, 48), dtype=dtype)
    assert found.values is not None
    assert not found.values.any()
    assert codes(found) == set()


@renderer(channels="grey")
def sine_by_numpy(pixels: Pixels, a: Tensor = param(0.3)) -> Tensor:
    """C22."""
    return torch.from_numpy(np.asarray(np.sin(a.numpy()))) + 0 * pixels.x


@renderer(channels="grey")
def picture_by_numpy(pixels: Pixels, a: Tensor = param(0.3)) -> Tensor:
    return torch.from_numpy(np.exp(pixels.x.numpy() * a.numpy()))


@renderer(channels="grey")
def in_part_by_numpy(frame: Frame, a: Tensor = param(0.3)) -> Tensor:
    blurred = np.cos(a.detach().numpy()) * np.ones((frame.stop - frame.start, frame.width))
    return torch.from_numpy(blurred).to(a.dtype) + a


@DTYPES
@pytest.mark.parametrize(
    ("source", "right"),
    [
        (sine_by_numpy, lambda x, y: np.cos(0.3) + 0 * x),
        (picture_by_numpy, lambda x, y: x * np.exp(0.3 * x)),
        (in_part_by_numpy, lambda x, y: 1 - np.sin(0.3) + 0 * x),
    ],
)
def test_foreign_code_that_reads_storage_never_gives_zero(
    source: Renderer, right: Formula, dtype: torch.dtype
) -> None:
    found = mapped(source, "a", dtype=dtype)
    assert found.strategy == "finite_difference"
    assert error(found, right) <= bound(found)


class Holds:
    """C23: a setter that does nothing where the value is unchanged."""

    def __init__(self, device: torch.device, dtype: torch.dtype) -> None:
        self.held = torch.tensor(3.0, dtype=dtype)

    def render(self, pixels: Pixels, a: Tensor = param(3.0)) -> Tensor:
        if self.held != a:
            self.held = a
        return self.held**2 * (1 + pixels.x)


class Remembers:
    """What follows from the value is kept until the value changes."""

    def __init__(self, device: torch.device, dtype: torch.dtype) -> None:
        self.key: float | None = None
        self.kept = torch.zeros((), dtype=dtype)

    def render(self, pixels: Pixels, a: Tensor = param(3.0)) -> Tensor:
        if self.key != float(a):
            self.key, self.kept = float(a), a**2
        return self.kept * (1 + pixels.x)


class RemembersInPart(Remembers):
    """The same beside a part that follows the value."""

    def render(self, pixels: Pixels, a: Tensor = param(3.0)) -> Tensor:
        kept = super().render(pixels, a)
        return kept + a


@DTYPES
@pytest.mark.parametrize(
    ("kind", "right"),
    [
        (Holds, lambda x, y: 6 * (1 + x)),
        (Remembers, lambda x, y: 6 * (1 + x)),
        (RemembersInPart, lambda x, y: 6 * (1 + x) + 1),
    ],
)
def test_a_setter_that_ignores_an_unchanged_value_does_not_cost_the_derivative(
    kind: type, right: Formula, dtype: torch.dtype
) -> None:
    loaded = renderer(channels="grey")(kind).load("cpu", dtype)
    for _ in range(2):  # the second time, the object holds the value from the first on
        found = mapped(loaded, "a")
        assert error(found, right) <= bound(found)


@renderer(channels="grey")
def lost_above_one(pixels: Pixels, a: Tensor = param(0.4)) -> Tensor:
    return a.detach() ** 2 * pixels.x if a > 1 else a**3 * pixels.x


@renderer(channels="grey")
def lost_above_one_in_a_frame(frame: Frame, a: Tensor = param(0.4)) -> Tensor:
    x = frame.pixels().x
    return a.detach() ** 2 * x if a > 1 else a**3 * x


@renderer(channels="grey")
def partly_lost_above_one(pixels: Pixels, a: Tensor = param(0.4)) -> Tensor:
    return (a + a.item() if a > 1 else a**3) * pixels.x * (2 * a if a > 1 else 1)


@renderer(channels="grey")
def raises_in_forward_mode_above_one(pixels: Pixels, a: Tensor = param(0.4)) -> Tensor:
    return torch.from_numpy(a.numpy() ** 2 * pixels.x.numpy()) if a > 1 else a**3 * pixels.x


@DTYPES
@pytest.mark.parametrize(
    ("source", "slope"),
    [
        (lost_above_one, 4.0),
        (lost_above_one_in_a_frame, 4.0),
        (partly_lost_above_one, 16.0),
        (raises_in_forward_mode_above_one, 4.0),
    ],
)
def test_a_method_that_was_found_at_other_values_is_not_believed(
    source: Renderer, slope: float, dtype: torch.dtype
) -> None:
    earlier = mapped(source, "a", dtype=dtype)
    assert earlier.strategy == "forward"
    assert error(earlier, lambda x, y: 0.48 * x) <= bound(earlier)
    found = mapped(source, "a", dtype=dtype, method=earlier.method, a=2.0)
    assert found.strategy == "finite_difference"
    assert "forward" in dict(found.method.verdict.passed_over)
    assert error(found, lambda x, y: slope * x) <= bound(found)
