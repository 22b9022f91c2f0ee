import torch
from hypothesis import given
from hypothesis import strategies as st

from app.engine.frame import Band, bands, window
from renderers import Frame, Pixels, Renderer, param, renderer
from renderers.disc import disc

CPU = torch.device("cpu")


@given(height=st.integers(1, 500), rows=st.integers(1, 600))
def test_bands_cover_the_frame_once_and_in_order(height: int, rows: int) -> None:
    cut = list(bands(height, rows))
    covered = [row for band in cut for row in range(band.start, band.stop)]
    assert covered == list(range(height))
    assert all(band.rows <= rows for band in cut)


def test_the_shorter_side_spans_minus_one_to_one_and_y_points_up() -> None:
    pixels = Frame(4, 2, 0, 2, CPU, torch.float64).pixels()
    assert pixels.pitch == 1.0
    assert pixels.x[0].tolist() == [-1.5, -0.5, 0.5, 1.5]
    assert pixels.y[:, 0].tolist() == [0.5, -0.5]


def test_a_pixel_has_the_same_position_in_every_window() -> None:
    whole = Frame(13, 29, 0, 29, CPU, torch.float32).pixels()
    part = Frame(13, 29, 7, 12, CPU, torch.float32).pixels()
    assert torch.equal(whole.x[7:12], part.x)
    assert torch.equal(whole.y[7:12], part.y)


def test_a_pixel_renderer_is_asked_for_its_band_alone() -> None:
    asked = window(disc.spec, 8, 20, Band(5, 9), CPU, torch.float32)
    assert isinstance(asked.where, Pixels)
    assert asked.where.shape == (4, 8)
    assert asked.keep == slice(0, 4)


def framed(halo: int | None) -> Renderer:
    @renderer(channels="grey", halo=halo)
    def rows(frame: Frame, level: torch.Tensor = param(1.0)) -> torch.Tensor:
        return level.expand(frame.stop - frame.start, frame.width)

    return rows


def test_a_frame_renderer_is_asked_for_its_halo_too_but_not_beyond_the_frame() -> None:
    asked = window(framed(3).spec, 8, 20, Band(1, 9), CPU, torch.float32)
    assert isinstance(asked.where, Frame)
    assert (asked.where.start, asked.where.stop) == (0, 12)
    assert asked.keep == slice(1, 9)


def test_a_frame_renderer_without_a_halo_is_asked_for_everything() -> None:
    asked = window(framed(None).spec, 8, 20, Band(4, 9), CPU, torch.float32)
    assert isinstance(asked.where, Frame)
    assert (asked.where.start, asked.where.stop) == (0, 20)
    assert asked.keep == slice(4, 9)
