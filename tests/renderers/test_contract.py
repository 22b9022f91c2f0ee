import pytest
import torch
from torch import Tensor

from renderers import (
    DeclarationError,
    Frame,
    OutputError,
    ParameterError,
    Pixels,
    Spec,
    param,
    renderer,
)
from renderers.disc import disc


def pixels(count: int = 5) -> Pixels:
    line = torch.linspace(-1, 1, count)
    return Pixels(line, line, 8, 8)


def test_the_first_argument_tells_the_kind() -> None:
    @renderer(halo=2)
    def shifted(frame: Frame, level: Tensor = param(1.0)) -> Tensor:
        return level.expand(frame.stop - frame.start, frame.width, 3)

    assert (disc.spec.kind, disc.spec.halo) == ("pixel", 0)
    assert (shifted.spec.kind, shifted.spec.halo) == ("frame", 2)


def test_the_signature_is_the_declaration() -> None:
    assert list(disc.spec.params) == ["radius", "centre", "softness", "colour"]
    assert disc.spec.params["centre"].shape == (2,)
    assert disc.spec.summary == "A disc with a soft edge on black."


def test_a_class_holds_state_on_the_device_and_takes_options() -> None:
    @renderer(channels="grey")
    class Level:
        """A level."""

        def __init__(self, device: torch.device, dtype: torch.dtype, *, start: str = "1") -> None:
            self.start = torch.tensor(float(start), device=device, dtype=dtype)

        def render(self, pixels: Pixels, gain: Tensor = param(2.0)) -> Tensor:
            return gain * self.start + 0 * pixels.x

    assert Level.spec.name == "level"
    assert Level.options == ("start",)
    loaded = Level.load("cpu", torch.float64, {"start": "3"})
    assert loaded(pixels(), {"gain": torch.tensor(2.0).double()}).unique().tolist() == [6.0]
    with pytest.raises(DeclarationError, match="Did you mean 'start'"):
        Level.load(options={"stat": "3"})


def test_a_random_renderer_is_given_its_seed() -> None:
    @renderer(channels="grey", random=True)
    def noise(pixels: Pixels, level: Tensor = param(1.0), seed: int = 0) -> Tensor:
        return level * seed + 0 * pixels.x

    assert noise.spec.random
    assert noise.load()(pixels(), {"level": torch.tensor(2.0)}, seed=5).unique().tolist() == [10.0]


def no_positions(level: Tensor = param(1.0)) -> Tensor:
    return level


def no_param(pixels: Pixels, level: float = 1.0) -> Tensor:
    return pixels.x


def seed_unasked(pixels: Pixels, seed: int = 0) -> Tensor:
    return pixels.x


@pytest.mark.parametrize(
    ("function", "arguments", "words"),
    [
        (no_positions, {}, "first argument"),
        (no_param, {}, "`param"),
        (seed_unasked, {}, "random=True"),
        (disc.source, {"halo": 1}, "no `halo`"),
        (disc.source, {"channels": ()}, "`channels`"),
        (disc.source, {"channels": ("a", "a")}, "`channels`"),
        (disc.source, {"channels": "rgbq"}, "`channels`"),
        (disc.source, {"name": "My Disc"}, "no name"),
        (disc.source, {"random": True}, "takes an argument named `seed`"),
    ],
)
def test_a_declaration_of_another_form_is_refused(
    function: object, arguments: dict[str, object], words: str
) -> None:
    with pytest.raises(DeclarationError, match=words):
        renderer(**arguments)(function)  # type: ignore[arg-type]


def test_a_single_channel_may_come_without_its_axis() -> None:
    @renderer(channels="grey")
    def plain(pixels: Pixels, level: Tensor = param(1.0)) -> Tensor:
        return level * pixels.x

    assert plain.load()(pixels(5), {"level": torch.tensor(1.0)}).shape == (5, 1)


def test_integers_are_refused_as_quantised() -> None:
    @renderer(channels="grey")
    def quantised(pixels: Pixels, level: Tensor = param(1.0)) -> Tensor:
        return (level * pixels.x * 255).to(torch.uint8)

    with pytest.raises(OutputError) as caught:
        quantised.load()(pixels(), {"level": torch.tensor(1.0)})
    assert caught.value.code == "quantised_output"


def test_binding_fills_in_the_defaults_and_names_the_nearest() -> None:
    bound = disc.spec.bind({"radius": 0.7})
    assert bound["radius"].item() == 0.7
    assert bound["softness"].item() == pytest.approx(0.05)
    with pytest.raises(ParameterError, match="Did you mean 'radius'") as caught:
        disc.spec.bind({"raduis": 0.7})
    assert caught.value.code == "unknown_parameter"


def test_a_description_gives_the_declaration_back() -> None:
    again = Spec.from_description(disc.spec.describe())
    assert again.describe() == disc.spec.describe()
