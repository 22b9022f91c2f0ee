"""The map of the disc against its closed form, and the loop over tiles under stress."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from app.engine import (
    CancelledError,
    Cost,
    DeviceMemoryError,
    Method,
    RenderError,
    Task,
    UnknownStrategyError,
    Verdict,
    sensitivity_map,
)
from app.engine.method import trial_cost
from renderers import Frame, Loaded, OutputError, Pixels, param, renderer
from renderers.disc import disc
from tests.engine.conftest import budget_for, task_of
from tests.tolerances import CLOSED_FORM

FORWARD = Verdict(strategy="forward", step=1e-4)


def costing(cost: Cost) -> Method:
    return Method(FORWARD, cost)


def closed_forms(size: tuple[int, int]) -> dict[str, NDArray[np.float64]]:
    """The derivatives of the default disc by hand, in NumPy's float64: shape (H, W, C, *wrt)."""
    width, height = size
    pitch = 2 / min(size)
    x = (np.arange(width) + 0.5 - width / 2) * pitch
    y = (height / 2 - np.arange(height) - 0.5) * pitch
    x, y = np.meshgrid(x, y)
    radius, softness, colour = 0.5, 0.05, np.array([1.0, 0.4, 0.1])
    distance = np.hypot(x, y)
    coverage = 1 / (1 + np.exp(-(radius - distance) / softness))
    slope = coverage * (1 - coverage) / softness
    with np.errstate(invalid="ignore"):
        towards = np.stack([x / distance, y / distance], -1)
    return {
        "radius": slope[..., None] * colour,
        "softness": (-slope * (radius - distance) / softness)[..., None] * colour,
        "centre": (slope[..., None] * towards)[..., None, :] * colour[:, None],
        "colour": coverage[..., None, None] * np.eye(3),
    }


def relative_error(got: NDArray[np.floating], expected: NDArray[np.floating]) -> float:
    return float(np.abs(got - expected).max() / np.abs(expected).max())


@pytest.mark.parametrize("wrt", ["radius", "softness", "centre", "colour"])
def test_the_map_of_the_disc_is_its_closed_form(loaded: Loaded, wrt: str) -> None:
    size = (34, 28)  # even sides: no pixel lies on the centre, where the disc has a kink
    got = sensitivity_map(loaded, task_of(loaded, wrt, size=size))
    assert got.values is not None
    expected = closed_forms(size)[wrt]
    assert got.values.shape == expected.shape
    assert relative_error(got.values, expected) <= CLOSED_FORM[str(loaded.dtype)[6:]]


def test_a_derivative_that_is_off_by_a_thousandth_would_be_caught(loaded: Loaded) -> None:
    expected = closed_forms((34, 28))["radius"]
    assert relative_error(expected * 1.001, expected) > CLOSED_FORM["float32"]


def test_an_entry_is_a_slice_of_the_whole(loaded: Loaded) -> None:
    whole = sensitivity_map(loaded, task_of(loaded, "colour")).values
    entry = sensitivity_map(loaded, task_of(loaded, "colour[1]")).values
    assert whole is not None and entry is not None
    assert np.array_equal(whole[..., 1], entry)


@pytest.mark.parametrize("wrt", ["radius", "centre", "colour", ""])
@pytest.mark.parametrize("rows", [1, 3, 7, 28, 100])
def test_tiled_equals_untiled_bit_for_bit(loaded: Loaded, wrt: str, rows: int) -> None:
    task = task_of(loaded, wrt, size=(35, 28))
    tiled = sensitivity_map(
        loaded, task, budget=budget_for(rows * 35 * 1000), method=costing(Cost(0.0, 1000.0, 0.0))
    )
    whole = sensitivity_map(loaded, task)
    assert (tiled.plan.rows, whole.plan.rows) == (min(rows, 28), 28)
    assert np.array_equal(tiled.image, whole.image)
    if wrt:
        assert tiled.values is not None and whole.values is not None
        assert np.array_equal(tiled.values, whole.values, equal_nan=True)
    assert tiled.statistics.nan == whole.statistics.nan
    assert tiled.statistics.high == whole.statistics.high


def test_directions_in_chunks_equal_all_at_once(loaded: Loaded) -> None:
    task = task_of(loaded, "colour", size=(35, 28))
    # Tangents so dear that the budget holds the frame with one direction, not with three.
    chunked = sensitivity_map(
        loaded, task, budget=budget_for(2000 * 980), method=costing(Cost(0.0, 500.0, 1500.0))
    )
    at_once = sensitivity_map(loaded, task)
    assert (chunked.plan.tangents, at_once.plan.tangents) == (1, 3)
    assert chunked.values is not None and at_once.values is not None
    assert relative_error(chunked.values, at_once.values) <= CLOSED_FORM[str(loaded.dtype)[6:]]


def test_the_pixel_on_the_kink_is_nan_and_counted(loaded: Loaded) -> None:
    got = sensitivity_map(loaded, task_of(loaded, "centre", size=(5, 5)))
    assert got.values is not None
    assert np.isnan(got.values[2, 2]).all()
    assert got.statistics.nan == np.isnan(got.values).sum() == 6


def test_the_image_alone_comes_without_a_map(loaded: Loaded) -> None:
    alone = sensitivity_map(loaded, task_of(loaded, ""))
    beside = sensitivity_map(loaded, task_of(loaded, "radius"))
    assert alone.values is None
    assert np.array_equal(alone.image, beside.image)


def test_progress_tells_every_band_and_ends_with_all_rows(loaded: Loaded) -> None:
    seen: list[tuple[int, int]] = []
    sensitivity_map(
        loaded,
        task_of(loaded, size=(10, 25)),
        budget=budget_for(10 * 10 * 1000),
        method=costing(Cost(0.0, 1000.0, 0.0)),
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen == [(10, 25), (20, 25), (25, 25)]


def test_a_cancelled_map_stops_at_the_next_tile(loaded: Loaded) -> None:
    asked: list[int] = []

    def cancelled() -> bool:
        asked.append(1)
        return len(asked) > 2

    with pytest.raises(CancelledError):
        sensitivity_map(
            loaded,
            task_of(loaded, size=(10, 25)),
            budget=budget_for(10 * 1000),
            method=costing(Cost(0.0, 1000.0, 0.0)),
            cancelled=cancelled,
        )
    assert len(asked) == 3


def hungry(most_rows: int, *, halo: int | None = 0) -> Loaded:
    """A frame renderer whose device holds no more than some rows and one direction."""

    @renderer(channels="grey", halo=halo)
    def picture(frame: Frame, level: Tensor = param((1.0, 2.0))) -> Tensor:
        if frame.stop - frame.start > most_rows:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")
        pixels = frame.pixels()
        return pixels.x * level[0] + pixels.y * level[1] ** 2

    return picture.load("cpu", torch.float64)


def test_out_of_memory_halves_the_band_and_changes_nothing_else() -> None:
    small, large = hungry(5), hungry(1000)
    task = task_of(small, "level", size=(9, 40))
    got = sensitivity_map(small, task, method=costing(Cost(0.0, 1.0, 1.0)))
    expected = sensitivity_map(large, task, method=costing(Cost(0.0, 1.0, 1.0)))
    assert got.plan.rows == 5
    assert got.halvings == 3
    assert got.values is not None and expected.values is not None
    assert np.array_equal(got.values, expected.values)
    assert got.statistics == expected.statistics or got.statistics.size == expected.statistics.size


def test_a_frame_that_does_not_fit_at_all_is_refused_in_words() -> None:
    loaded = hungry(0)
    with pytest.raises(DeviceMemoryError, match="narrower frame"):
        sensitivity_map(
            loaded, task_of(loaded, "level", size=(9, 8)), method=costing(Cost(0.0, 1.0, 1.0))
        )


def test_a_frame_that_must_be_whole_is_not_cut_when_memory_runs_out() -> None:
    loaded = hungry(5, halo=None)
    with pytest.raises(DeviceMemoryError):
        sensitivity_map(
            loaded, task_of(loaded, "level", size=(9, 8)), method=costing(Cost(0.0, 1.0, 1.0))
        )


@pytest.mark.parametrize("rows", [1, 4, 30])
def test_a_blur_with_a_halo_is_the_same_in_bands(rows: int) -> None:
    @renderer(channels="grey", halo=2)
    def blur(frame: Frame, level: Tensor = param(1.5)) -> Tensor:
        source = torch.sin(frame.pixels().y * 7 * level)
        padded = torch.nn.functional.pad(source.T, (2, 2), mode="replicate").T
        return sum(padded[k : k + len(source)] for k in range(5)) / 5  # type: ignore[return-value]

    loaded = blur.load("cpu", torch.float64)
    task = task_of(loaded, "level", size=(6, 30))
    tiled = sensitivity_map(
        loaded, task, budget=budget_for(rows * 6), method=costing(Cost(0.0, 1.0, 0.0))
    )
    whole = sensitivity_map(loaded, task)
    assert tiled.values is not None and whole.values is not None
    assert tiled.plan.rows == rows
    assert np.array_equal(tiled.values, whole.values)


def test_a_renderer_that_raises_is_reported_with_its_message_and_no_path() -> None:
    @renderer(channels="grey")
    def broken(pixels: Pixels, level: Tensor = param(1.0)) -> Tensor:
        raise ValueError("no texture at /srv/someone/secret folder/texture.png")

    loaded = broken.load()
    with pytest.raises(RenderError, match="ValueError: no texture at") as caught:
        sensitivity_map(loaded, task_of(loaded, "level"))
    assert "someone" not in str(caught.value)
    assert "texture.png" not in str(caught.value)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (None, "must return a tensor"),
        (torch.zeros(3), r"must return an image of shape \[256, 3\]"),
        (torch.zeros(256, 3, dtype=torch.uint8), "real numbers"),
    ],
)
def test_what_is_no_image_is_refused_in_words(answer: Tensor | None, words: str) -> None:
    @renderer(channels="rgb")
    def wrong(pixels: Pixels, level: Tensor = param(1.0)) -> Tensor:
        return answer  # type: ignore[return-value]

    loaded = wrong.load()
    with pytest.raises(OutputError, match=words):
        sensitivity_map(loaded, task_of(loaded, "level"))


def test_an_unknown_strategy_is_refused_with_the_choices(loaded: Loaded) -> None:
    task = task_of(loaded)
    wrong = Task(params=task.params, subject=task.subject, width=4, height=4, strategy="forwrd")
    with pytest.raises(UnknownStrategyError, match="Did you mean 'forward'"):
        sensitivity_map(loaded, wrong)


def test_the_measured_cost_is_that_of_the_disc() -> None:
    loaded = disc.load("cpu", torch.float32)
    cost = trial_cost(loaded, task_of(loaded, "radius"), FORWARD)
    # At least the positions, the image and its tangent, and not an image-sized multiple of them.
    assert 8 * 4 <= cost.primal + cost.tangent <= 60 * 4
    assert trial_cost(loaded, task_of(loaded, "colour"), FORWARD).tangent >= 3 * 4
    assert trial_cost(loaded, task_of(loaded, ""), FORWARD).tangent == 0


def test_a_large_captured_volume_is_not_taken_for_the_cost_of_a_tile() -> None:
    volume = torch.zeros(1 << 22)

    @renderer(channels="grey")
    def sampled(pixels: Pixels, level: Tensor = param(1.0)) -> Tensor:
        return level * volume.view(1024, -1)[0, 0] + pixels.x

    loaded = sampled.load()
    assert trial_cost(loaded, task_of(loaded, "level"), FORWARD).fixed < 1 << 20
