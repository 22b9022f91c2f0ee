import numpy as np
import pytest
from numpy.testing import assert_array_equal

from app.imaging import (
    MapData,
    Maps,
    MissingImageError,
    Style,
    Sweep,
    TooManyPanelsError,
    animation,
    heatmap,
    robust_rescale,
)
from app.imaging.lettering import line_height, text_width, write
from app.imaging.palette import BACKGROUND, NAN

RNG = np.random.default_rng(0)
SIZES = (1.0, 30.0, 0.1, 3.0)


def _sweep(components: tuple[int, ...] = (), *, image: bool = True) -> Sweep:
    frames = []
    for number, size in enumerate(SIZES):
        values = size * RNG.standard_normal((12, 16, 3, *components))
        values[number, 2] = np.nan
        primal = RNG.random((12, 16, 3)) if image else None
        data = MapData(values=values, image=primal, channels="rgb", name="r", title="d(image)/d(r)")
        frames.append(Maps((data,)))
    return Sweep(frames=tuple(frames), parameter="r", values=(9.5, 10.0, 10.5, 11.0), unit="m")


def _pixels(sweep: Sweep, style: Style, *, lines: bool) -> list[np.ndarray]:
    return [np.asarray(frame) for frame in animation(sweep, style, lines=lines).pictures()]


@pytest.mark.parametrize(
    "style",
    [
        Style(),
        Style(norm="symlog"),
        Style(norm="abs", symmetric=False),
        Style(channel="luminance", overlay=0.5),
        Style(colormap_name="viridis"),
    ],
    ids=["plain", "symlog", "abs", "overlay", "sequential"],
)
def test_every_frame_is_the_heatmap_of_its_map_in_the_range_of_all(style: Style) -> None:
    sweep = _sweep()
    drawn = animation(sweep, style, lines=False)
    ends = (drawn.choices.rescale.low, drawn.choices.rescale.high)
    fixed = Style(
        colormap_name=drawn.choices.colormap.name,
        rescale=ends,
        norm=style.norm,
        channel=style.channel,
        overlay=style.overlay,
    )
    for frame, picture in zip(sweep.frames, drawn.pictures(), strict=True):
        assert_array_equal(np.asarray(picture), np.asarray(heatmap(frame, fixed).picture))


def test_the_range_is_the_one_found_over_all_frames_together() -> None:
    sweep = _sweep()
    layers = np.stack([frame.entries[0].values[..., 0] for frame in sweep.frames])
    drawn = animation(sweep, Style(channel="r"))
    assert drawn.choices.rescale == robust_rescale(layers)
    outside = int((np.abs(layers) > drawn.choices.rescale.high).sum())
    assert drawn.choices.clipped == outside
    assert outside > 0
    own = [heatmap(frame).rescale.high for frame in sweep.frames]
    assert min(own) < max(own) / 100


def test_a_range_that_is_asked_for_is_that_of_every_frame() -> None:
    drawn = animation(_sweep(), Style(rescale=(-2.0, 2.0)))
    assert drawn.facts["rescale"] == "[-2.0, 2.0]"
    assert drawn.facts["frames"] == "4"


@pytest.mark.parametrize("components", [(), (3,), (2, 2)])
@pytest.mark.parametrize("colorbar", [False, True])
@pytest.mark.parametrize("overlay", [0.0, 0.5])
def test_frames_differ_in_their_panels_and_their_line_alone(
    components: tuple[int, ...], colorbar: bool, overlay: float
) -> None:
    sweep = _sweep(components)
    style = Style(colorbar=colorbar, overlay=overlay)
    drawn = animation(sweep, style)
    pictures = list(drawn.pictures())
    assert len({(picture.mode, picture.size) for picture in pictures}) == 1
    assert len({bytes(picture.getpalette() or ()) for picture in pictures}) == 1
    pixels = np.stack([np.asarray(picture) for picture in pictures])
    moves = (pixels != pixels[0]).reshape(*pixels.shape[:3], -1).any(axis=(0, 3))
    assert moves.any()
    for top, left in drawn.layout.corners:
        assert moves[top : top + 12, left : left + 16].mean() > 0.9  # some are alike by chance
        moves[top : top + 12, left : left + 16] = False
    assert drawn.layout.line is not None
    row = drawn.layout.line[0]
    assert moves[row : row + 16].any()
    moves[row : row + 16] = False
    assert not moves.any()


def test_every_frame_has_its_own_line() -> None:
    same = Maps((MapData(values=np.ones((40, 300, 1)), name="r"),))
    sweep = Sweep(frames=(same,) * 4, parameter="r", values=(9.5, 10.0, 10.5, 9.5))
    first, second, third, again = _pixels(sweep, Style(), lines=True)
    assert (first != second).any()
    assert (second != third).any()
    assert_array_equal(first, again)
    still = _pixels(sweep, Style(), lines=False)
    assert_array_equal(still[0], still[1])


def test_the_longest_line_has_room_beside_the_smallest_map() -> None:
    point = Maps((MapData(values=np.ones((1, 1, 1)), name="r"),))
    sweep = Sweep(frames=(point,) * 3, parameter="r", values=(1.0, -12_345.0, 2.0), unit="m")
    drawn = animation(sweep, Style())
    assert drawn.layout.line is not None
    top, left = drawn.layout.line
    for pixels, line in zip(_pixels(sweep, Style(), lines=True), sweep.lines, strict=True):
        size = drawn.layout.letters
        written = np.full((line_height(size), text_width(line, size) + 1), BACKGROUND, np.uint8)
        write(written, line, left=0, top=0, size=size)
        row = pixels[top : top + line_height(size), left:]
        assert_array_equal(row[:, : written.shape[1]], written)
        assert (row[:, written.shape[1] :] == BACKGROUND).all()


def test_nan_is_transparent_in_every_frame_and_nowhere_else() -> None:
    sweep = _sweep()
    for frame, picture in zip(
        sweep.frames, animation(sweep, Style(), lines=False).pictures(), strict=True
    ):
        assert picture.info["transparency"] == NAN
        missing = np.isnan(frame.entries[0].values).any(axis=2)
        assert_array_equal(np.asarray(picture) == NAN, missing)


def test_a_sweep_of_one_frame_is_the_heatmap() -> None:
    frame = _sweep().frames[0]
    alone = Sweep(frames=(frame,), parameter="r", values=(1.0,))
    for style in (Style(), Style(colorbar=True), Style(overlay=0.7, colorbar=True)):
        (found,) = _pixels(alone, style, lines=False)
        assert_array_equal(found, np.asarray(heatmap(frame, style).picture))


def test_a_sweep_that_cannot_be_drawn_says_so_before_it_is_drawn() -> None:
    with pytest.raises(TooManyPanelsError):
        animation(_sweep((65,)), Style())
    with pytest.raises(MissingImageError):
        animation(_sweep(image=False), Style(overlay=0.5))


def test_frames_of_several_maps_share_one_grid() -> None:
    frames = tuple(
        Maps(
            (
                MapData(values=size * np.ones((12, 16, 1)), name="a"),
                MapData(values=-size * np.ones((12, 16, 1, 2)), name="b"),
            )
        )
        for size in (1.0, 2.0)
    )
    sweep = Sweep(frames=frames, parameter="c", values=(0.0, 1.0))
    drawn = animation(sweep, Style())
    one, two = (np.asarray(picture) for picture in drawn.pictures())
    assert drawn.choices.rescale.high == 2
    shown = [[int(pixels[corner]) for corner in drawn.layout.corners] for pixels in (one, two)]
    # Half of the range is 62.5 of the 125 levels on a side of zero, and rounded to even.
    assert shown == [[188, 62, 62], [250, 0, 0]]
