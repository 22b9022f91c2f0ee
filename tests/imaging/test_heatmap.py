import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from app.imaging import (
    COLORMAPS,
    NORMS,
    InvalidMapError,
    InvalidStyleError,
    MapData,
    MissingImageError,
    Style,
    TooManyPanelsError,
    UnknownNameError,
    heatmap,
    lookup,
)
from app.imaging.palette import BACKGROUND, LAST, MIDDLE, NAN, palette_of

SIGNED = np.linspace(-1, 1, 48, dtype="f4").reshape(6, 8, 1)


def _pixels(data: MapData, **style: object) -> np.ndarray:
    return np.asarray(heatmap(data, Style(**style)).picture)


def test_a_bare_heatmap_has_a_pixel_for_a_pixel() -> None:
    drawn = heatmap(MapData(values=SIGNED))
    assert drawn.picture.mode == "P"
    assert drawn.picture.size == (8, 6)
    expected = np.rint(SIGNED[:, :, 0] / drawn.rescale.high * 125).clip(-125, 125) + 125
    assert_array_equal(np.asarray(drawn.picture), expected)


def test_the_range_is_reported_and_what_lies_beyond_is_counted() -> None:
    drawn = heatmap(MapData(values=SIGNED), Style(rescale=(-0.5, 0.25)))
    assert drawn.facts["rescale"] == "[-0.5, 0.25]"
    assert drawn.clipped == ((SIGNED < -0.5) | (SIGNED > 0.25)).sum()
    assert drawn.facts["clipped"] == str(drawn.clipped)


def test_a_given_range_makes_two_maps_comparable() -> None:
    one = _pixels(MapData(values=SIGNED), rescale=(-2.0, 2.0))
    half = _pixels(MapData(values=SIGNED / 2), rescale=(-1.0, 1.0))
    assert_array_equal(one, half)
    assert (one != _pixels(MapData(values=SIGNED / 2), rescale=(-2.0, 2.0))).any()


def test_one_nan_pixel_is_transparent_and_leaves_the_rest_alone() -> None:
    y, x = np.mgrid[-1:2, -1:2].astype("f4")
    with np.errstate(invalid="ignore"):
        values = (x / np.hypot(x, y))[:, :, None]
    whole = np.nan_to_num(values)
    drawn, clean = heatmap(MapData(values=values)), heatmap(MapData(values=whole))
    assert drawn.rescale == clean.rescale
    expected = np.asarray(clean.picture).copy()
    expected[1, 1] = NAN
    assert_array_equal(np.asarray(drawn.picture), expected)
    assert drawn.picture.info["transparency"] == NAN


def test_magnitudes_run_from_zero_through_a_sequential_map() -> None:
    for style in (Style(norm="abs"), Style(channel="norm")):
        drawn = heatmap(MapData(values=SIGNED), style)
        assert drawn.rescale.low == 0
        assert drawn.colormap.kind == "sequential"
    outer = np.asarray(heatmap(MapData(values=SIGNED), Style(norm="abs")).picture)[[0, -1], [0, -1]]
    assert_array_equal(outer, LAST)


def test_symlog_reports_its_threshold() -> None:
    facts = heatmap(MapData(values=SIGNED), Style(norm="symlog", rescale=(-1.0, 1.0))).facts
    assert facts["linthresh"] == "0.001"


def test_components_become_panels_in_one_range() -> None:
    values = np.stack([SIGNED, 3 * SIGNED], axis=-1)
    drawn = heatmap(MapData(values=values, labels=("a", "b")))
    assert drawn.panels == 2
    assert 2.5 < drawn.rescale.high <= 3
    pixels = np.asarray(drawn.picture)
    found = sum(
        _contains(
            pixels,
            _pixels(
                MapData(values=scale * SIGNED), rescale=(drawn.rescale.low, drawn.rescale.high)
            ),
        )
        for scale in (1, 3)
    )
    assert found == 2


def _contains(pixels: np.ndarray, panel: np.ndarray) -> bool:
    windows = np.lib.stride_tricks.sliding_window_view(pixels, panel.shape)
    return bool((windows == panel).all(axis=(2, 3)).any())


@pytest.mark.parametrize("shape", [(1, 1), (8, 8), (1, 4000), (4000, 1), (97, 31)])
@pytest.mark.parametrize("components", [(), (3,), (2, 2)])
def test_a_colour_bar_never_resamples_the_map(
    shape: tuple[int, int], components: tuple[int, ...]
) -> None:
    values = np.random.default_rng(0).standard_normal((*shape, 1, *components)).astype("f4")
    data = MapData(values=values, title="d(image)/d(x)", unit="per unit")
    drawn = heatmap(data, Style(colorbar=True, rescale=(-2.0, 2.0)))
    pixels = np.asarray(drawn.picture)
    assert drawn.picture.mode == "P"
    first = values.reshape(*shape, -1)[..., :1]
    assert _contains(pixels, _pixels(MapData(values=first), rescale=(-2.0, 2.0)))
    assert pixels[0, 0] == pixels[-1, -1] == BACKGROUND
    assert pixels.shape[0] * pixels.shape[1] < 40 * (values.size + 40_000)


def test_the_bar_shows_every_colour_from_end_to_end() -> None:
    data = MapData(values=np.zeros((300, 300, 1), "f4"))
    pixels = _pixels(data, colorbar=True)
    assert set(range(LAST + 1)) <= set(np.unique(pixels).tolist())


@pytest.mark.parametrize("name", COLORMAPS)
def test_another_colormap_is_another_palette_on_the_same_pixels(name: str) -> None:
    data = MapData(values=SIGNED, title="x")
    other = "vik" if COLORMAPS[name].kind == "diverging" else "viridis"
    one, two = (heatmap(data, Style(colormap_name=n, colorbar=True)) for n in (name, other))
    assert_array_equal(np.asarray(one.picture), np.asarray(two.picture))
    assert_array_equal(np.reshape(one.picture.getpalette(), (256, 3)), palette_of(lookup(name).lut))


def test_more_panels_than_fit_are_refused() -> None:
    heatmap(MapData(values=np.zeros((2, 2, 1, 64), "f4")))
    with pytest.raises(TooManyPanelsError, match="65") as caught:
        heatmap(MapData(values=np.zeros((2, 2, 1, 65), "f4")))
    assert caught.value.code == "too_many_panels"


def test_an_overlay_needs_the_image() -> None:
    with pytest.raises(MissingImageError) as caught:
        heatmap(MapData(values=SIGNED), Style(overlay=0.5))
    assert caught.value.code == "missing_image"


def test_an_overlay_is_the_grey_image_where_the_map_is_zero() -> None:
    image = np.linspace(0, 1, 48, dtype="f4").reshape(6, 8, 1)
    still = _pixels(MapData(values=np.zeros_like(image), image=image), overlay=1.0)
    assert still.shape == (6, 8, 4)
    assert (still[..., :3].max(axis=2) == still[..., :3].min(axis=2)).all()
    assert (np.diff(still[..., 0].ravel().astype(int)) >= 0).all()
    assert still[0, 0, 0] < still[-1, -1, 0] < 200


def test_an_overlay_is_the_colour_of_the_map_where_the_map_is_largest() -> None:
    values = np.asarray([-1, 0, 1, np.nan], "f4").reshape(1, 4, 1)
    image = np.full_like(values, 0.5)
    pixels = _pixels(MapData(values=values, image=image), overlay=1.0, rescale=(-1.0, 1.0))
    lut = lookup("berlin").lut
    assert_array_equal(pixels[0, [0, 2], :3], lut[[0, LAST]])
    assert pixels[0, :, 3].tolist() == [255, 255, 255, 0]
    faint = _pixels(MapData(values=values, image=image), overlay=0.5, rescale=(-1.0, 1.0))
    blend = (lut[0].astype(int) + pixels[0, 1, :3]) / 2
    assert np.abs(faint[0, 0, :3] - blend).max() <= 1


HARD = st.sampled_from([0.0, -0.0, 1.0, -1.0, 1e-7, 1e6, 1e38, 1e-45, np.nan, np.inf, -np.inf])


@settings(max_examples=40, deadline=None)
@given(st.lists(HARD, min_size=4, max_size=4), st.sampled_from(sorted(NORMS)), st.booleans())
def test_any_map_can_be_drawn(numbers: list[float], norm: str, symmetric: bool) -> None:
    values = np.asarray(numbers, "f4").reshape(2, 2, 1)
    drawn = heatmap(MapData(values=values), Style(norm=norm, symmetric=symmetric, colorbar=True))
    bare = heatmap(MapData(values=values), Style(norm=norm, symmetric=symmetric))
    pixels = np.asarray(bare.picture)
    assert drawn.rescale == bare.rescale
    assert_array_equal(pixels == NAN, np.isnan(values[:, :, 0]))
    if bare.colormap.diverging:
        assert_array_equal(pixels[values[:, :, 0] == 0], MIDDLE)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"norm": "log"}, "unknown_norm"),
        ({"colormap_name": "jet"}, "unknown_colormap"),
        ({"overlay": 1.5}, "invalid_style"),
        ({"overlay": float("nan")}, "invalid_style"),
        ({"rescale": (1.0, 0.0)}, "invalid_rescale"),
    ],
)
def test_a_style_that_cannot_be_drawn_is_refused_at_once(
    fields: dict[str, object], code: str
) -> None:
    with pytest.raises((UnknownNameError, InvalidStyleError, ValueError)) as caught:
        Style(**fields)
    assert caught.value.code == code


@pytest.mark.parametrize(
    "fields",
    [
        {"values": np.zeros((2, 2))},
        {"values": np.zeros((0, 2, 1))},
        {"values": np.zeros((2, 2, 1), int)},
        {"values": np.zeros((2, 2, 1), complex)},
        {"values": np.zeros((2, 2, 1)), "image": np.zeros((2, 2, 3))},
        {"values": np.zeros((2, 2, 3)), "channels": "rg"},
        {"values": np.zeros((2, 2, 2)), "channels": "rr"},
        {"values": np.zeros((2, 2, 1, 3)), "labels": ("a",)},
    ],
)
def test_arrays_that_do_not_fit_are_refused(fields: dict[str, object]) -> None:
    with pytest.raises(InvalidMapError) as caught:
        MapData(**fields)
    assert caught.value.code == "invalid_map"


def test_components_without_labels_are_called_by_their_indices() -> None:
    data = MapData(values=np.zeros((1, 1, 1, 2, 2)))
    assert data.labels == ("[0, 0]", "[0, 1]", "[1, 0]", "[1, 1]")
