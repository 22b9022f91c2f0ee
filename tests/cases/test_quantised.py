"""C19: images of whole numbers, and of real numbers that are whole at heart."""

import numpy as np
import pytest
import torch
from torch import Tensor

from renderers import Frame, OutputError, Pixels, Renderer, param, renderer
from tests.cases.asking import DTYPES, codes, mapped, numbers
from tests.tolerances import QUANTISED_MEAN


@renderer(channels="grey")
def bytes_of_pixels(pixels: Pixels, a: Tensor = param(0.42)) -> Tensor:
    """C19."""
    return (a * 255 * (0.5 + pixels.x / 4)).to(torch.uint8)


@renderer(channels="grey")
def bytes_of_a_frame(frame: Frame, a: Tensor = param(0.42)) -> Tensor:
    return (a * 255 * torch.ones(frame.stop - frame.start, frame.width)).to(torch.uint8)


@renderer(channels="grey")
def truths(pixels: Pixels, a: Tensor = param(0.42)) -> Tensor:
    return pixels.x < a


@DTYPES
@pytest.mark.parametrize("strategy", ["auto", "forward", "finite_difference"])
@pytest.mark.parametrize("source", [bytes_of_pixels, bytes_of_a_frame, truths])
def test_whole_numbers_are_refused(source: Renderer, strategy: str, dtype: torch.dtype) -> None:
    with pytest.raises(OutputError) as caught:
        mapped(source, "a", dtype=dtype, strategy=strategy)
    assert caught.value.code == "quantised_output"


@renderer(channels="grey")
def rounded(pixels: Pixels, a: Tensor = param(0.42)) -> Tensor:
    return torch.round(a * (1 + pixels.x) * 255) / 255


@renderer(channels="grey")
def through_bytes(pixels: Pixels, a: Tensor = param(0.42)) -> Tensor:
    return (a * (1 + pixels.x) * 127).to(torch.uint8).to(pixels.x.dtype) / 127


@renderer(channels="grey")
def rounded_frame(frame: Frame, a: Tensor = param(0.42)) -> Tensor:
    return torch.floor(a * (1 + frame.pixels().x) * 255) / 255


@renderer(channels="grey")
def by_numpy(pixels: Pixels, a: Tensor = param(0.42)) -> Tensor:
    return torch.from_numpy(np.round(a.numpy() * (1 + pixels.x.numpy()), 2))


@renderer(channels="grey")
def rounded_parameter(pixels: Pixels, a: Tensor = param(0.42)) -> Tensor:
    return torch.round(a * 50) / 50 * (1 + 0 * pixels.x)


@DTYPES
@pytest.mark.parametrize(
    "source", [rounded, through_bytes, rounded_frame, by_numpy, rounded_parameter]
)
def test_real_numbers_in_steps_are_flagged_and_answered_across_the_steps(
    source: Renderer, dtype: torch.dtype
) -> None:
    found = mapped(source, "a", size=(64, 48), dtype=dtype)
    assert found.strategy == "finite_difference"
    assert codes(found) == {"quantised_output"}
    assert numbers(found).mean() == pytest.approx(1, rel=QUANTISED_MEAN)


@DTYPES
def test_so_they_are_for_a_vector(dtype: torch.dtype) -> None:
    @renderer(channels="rgb")
    def colours(pixels: Pixels, a: Tensor = param((0.42, 0.3, 0.7))) -> Tensor:
        return torch.round(a * (1 + pixels.x[..., None]) * 255) / 255

    found = mapped(colours, "a", size=(64, 48), dtype=dtype)
    assert codes(found) == {"quantised_output"}
    assert found.values is not None
    assert np.abs(found.values.mean((0, 1)) - np.eye(3)).max() <= QUANTISED_MEAN


@pytest.mark.parametrize("source", [rounded, through_bytes, rounded_frame, rounded_parameter])
def test_the_derivative_that_torch_carries_is_given_to_who_asks_for_it_with_the_flag(
    source: Renderer,
) -> None:
    found = mapped(source, "a", size=(64, 48), strategy="forward")
    assert codes(found) == {"quantised_output"}
    assert not numbers(found).any()


@DTYPES
def test_a_few_large_steps_are_edges(dtype: torch.dtype) -> None:
    @renderer(channels="grey")
    def posterised(pixels: Pixels, a: Tensor = param(0.42)) -> Tensor:
        return torch.round(a * (1 + pixels.x) * 6) / 6

    found = mapped(posterised, "a", size=(96, 96), dtype=dtype)
    assert found.strategy == "edge"
    assert "edges_suspected" in codes(found)
    # The average of the derivative over the frame is what the edges sweep.
    assert numbers(found).mean() == pytest.approx(1, rel=0.2)


@renderer(channels="grey")
def rounded_beside(pixels: Pixels, a: Tensor = param(0.42)) -> Tensor:
    return a * pixels.x + torch.round(a * (1 + pixels.x) * 255) / 255


@renderer(channels="grey")
def bytes_beside(pixels: Pixels, a: Tensor = param(0.42)) -> Tensor:
    whole = (a * (1 + pixels.x) * 500).to(torch.int16).to(pixels.x.dtype) / 500
    return whole + torch.sin(a) * pixels.y


@renderer(channels="grey")
def frame_beside(frame: Frame, a: Tensor = param(0.42)) -> Tensor:
    x = frame.pixels().x
    return torch.floor(a * (1 + x) * 255) / 255 + a**2 * x


@DTYPES
@pytest.mark.parametrize("source", [rounded_beside, bytes_beside, frame_beside])
def test_steps_beside_a_smooth_part_are_flagged_and_answered_across_the_steps(
    source: Renderer, dtype: torch.dtype
) -> None:
    found = mapped(source, "a", size=(64, 48), dtype=dtype)
    assert found.strategy == "finite_difference"
    assert codes(found) == {"quantised_output"}
    # The smooth parts are odd in x or y, and the steps rise by 1 + x.
    assert numbers(found).mean() == pytest.approx(1, rel=QUANTISED_MEAN)


@renderer(channels="grey")
def softly_rounded(pixels: Pixels, a: Tensor = param(0.42)) -> Tensor:
    """What is used in training in place of rounding: steep, and with a derivative everywhere."""
    level = a * (1 + pixels.x) * 255
    return a * pixels.x + (level - torch.sin(2 * torch.pi * level) / (2 * torch.pi)) / 255


@renderer(channels="grey")
def kinked_beside(pixels: Pixels, a: Tensor = param(0.42)) -> Tensor:
    level = a * (1 + pixels.x) * 255
    return a * pixels.x + (torch.frac(level + 1000) - 0.5).abs() / 255


@DTYPES
@pytest.mark.parametrize("source", [softly_rounded, kinked_beside])
def test_what_only_looks_like_steps_is_not_flagged(source: Renderer, dtype: torch.dtype) -> None:
    found = mapped(source, "a", size=(64, 48), dtype=dtype)
    assert found.strategy == "forward"
    assert codes(found) == set()
