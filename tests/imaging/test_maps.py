import numpy as np
import pytest

from app.imaging import (
    MIXED_UNITS,
    InvalidMapError,
    MapData,
    Maps,
    Style,
    TooManyPanelsError,
    heatmap,
)

IMAGE = np.linspace(0, 1, 24).reshape(4, 6, 1)


def _map(name: str, components: tuple[int, ...] = (), **words: object) -> MapData:
    return MapData(values=np.ones((4, 6, 1, *components)), image=IMAGE, name=name, **words)


def test_one_map_is_called_what_it_was_called() -> None:
    data = _map("light", (3,), title="d(image)/d(light)", unit="per W", labels=("a", "b", "c"))
    maps = Maps((data,))
    assert not maps.several
    assert maps.caption == "d(image)/d(light) per W"
    assert (maps.labels, maps.components, maps.columns) == (("a", "b", "c"), 3, None)
    assert Maps((_map("r"),)).labels == ()


def test_several_maps_label_each_panel_by_its_entry() -> None:
    maps = Maps((_map("radius"), _map("light", (2,)), _map("pose[1]")))
    assert maps.labels == ("radius", "light[0]", "light[1]", "pose[1]")
    assert maps.components == len(maps.labels)


def test_a_matrix_keeps_its_columns_while_it_is_alone() -> None:
    assert Maps((_map("m", (2, 5)),)).columns == 5
    assert Maps((_map("m", (2, 5)), _map("r"))).columns is None


@pytest.mark.parametrize(
    ("units", "said"),
    [
        (("per m", "per m"), "per m"),
        (("per m", "per s"), MIXED_UNITS),
        (("per m", ""), MIXED_UNITS),
        (("", ""), ""),
    ],
)
def test_one_unit_is_claimed_only_where_it_is_that_of_all(
    units: tuple[str, str], said: str
) -> None:
    one, other = (_map(name, unit=unit) for name, unit in zip("ab", units, strict=True))
    assert Maps((one, other), title="t").caption == f"t {said}".strip()


def test_titles_are_joined_where_no_common_one_is_given() -> None:
    assert Maps((_map("a", title="A"), _map("b"), _map("c", title="C"))).title == "A, C"


def test_an_equal_image_is_the_same_image_even_with_holes() -> None:
    holed = np.where(IMAGE > 0.5, np.nan, IMAGE)
    ones = np.ones(IMAGE.shape)
    Maps(tuple(MapData(values=ones, image=holed.copy(), name=name) for name in "ab"))


@pytest.mark.parametrize(
    "entries",
    [
        (),
        (_map("a"), _map("a")),
        (_map("a"), _map("")),
        (_map("a"), MapData(values=np.ones((4, 5, 1)), name="b")),
        (_map("a"), MapData(values=np.ones((4, 6, 1)), name="b", image=IMAGE, channels="y")),
        (_map("a"), MapData(values=np.ones((4, 6, 1)), name="b", image=1 - IMAGE)),
        (_map("a"), MapData(values=np.ones((4, 6, 1)), name="b")),
    ],
    ids=["none", "twice", "unnamed", "size", "channels", "image", "no image"],
)
def test_maps_that_do_not_belong_together_are_refused(entries: tuple[MapData, ...]) -> None:
    with pytest.raises(InvalidMapError) as caught:
        Maps(entries)
    assert caught.value.code == "invalid_map"


def test_the_panels_of_all_maps_are_counted_together() -> None:
    assert heatmap(Maps((_map("a", (32,)), _map("b", (4, 8))))).panels == 64
    with pytest.raises(TooManyPanelsError, match="65"):
        heatmap(Maps((_map("a", (33,)), _map("b", (4, 8)))))


def _panels(maps: Maps, style: Style) -> list[np.ndarray]:
    """Every window of the grid that is framed, in reading order, found by its corners."""
    pixels = np.asarray(heatmap(maps, style).picture)
    height, width = maps.image_shape[:2]
    windows = np.lib.stride_tricks.sliding_window_view(pixels, (height + 2, width + 2))
    inner = windows[..., 1:-1, 1:-1]
    framed = (windows[..., [0, -1], :] == 253).all((2, 3))
    framed &= (windows[..., [0, -1]] == 253).all((2, 3))
    framed &= (inner < 252).all((2, 3))
    return [inner[row, column] for row, column in np.argwhere(framed)]


@pytest.mark.parametrize("colorbar", [False, True])
def test_all_maps_share_one_range_in_one_grid(colorbar: bool) -> None:
    rng = np.random.default_rng(1)
    weak = MapData(values=rng.standard_normal((20, 30, 1)), name="weak")
    strong = MapData(values=9 * rng.standard_normal((20, 30, 1, 2)), name="strong")
    maps = Maps((weak, strong))
    drawn = heatmap(maps, Style(colorbar=colorbar))
    # What one map of all the numbers would have found.
    joined = np.concatenate([weak.values[..., None], strong.values], axis=3)
    assert drawn.rescale == heatmap(MapData(values=joined)).rescale
    ends = (drawn.rescale.low, drawn.rescale.high)
    layers = np.moveaxis(joined[:, :, 0], 2, 0)
    expected = [np.rint(layer.clip(*ends) / ends[1] * 125) + 125 for layer in layers]
    found = _panels(maps, Style(colorbar=colorbar))
    assert len(found) == 3
    for panel, right in zip(found, expected, strict=True):
        assert np.array_equal(panel, right)


def test_several_maps_are_labelled_and_one_bare_map_is_not() -> None:
    alone = heatmap(Maps((_map("radius"),))).picture
    together = heatmap(Maps((_map("radius"), _map("light")))).picture
    assert alone.size == (6, 4)
    assert 255 in np.asarray(together)


def test_an_overlay_lies_over_the_image_in_every_panel() -> None:
    values = np.zeros((20, 30, 1))
    image = np.linspace(0, 1, 600).reshape(20, 30, 1)
    maps = Maps(tuple(MapData(values=values, image=image, name=name) for name in "abc"))
    pixels = np.asarray(heatmap(maps, Style(overlay=0.5)).picture)[..., :3]
    alone = np.asarray(heatmap(Maps(maps.entries[:1]), Style(overlay=0.5)).picture)[..., :3]
    windows = np.lib.stride_tricks.sliding_window_view(pixels[..., 0], (20, 30))
    assert (windows == alone[..., 0]).all((2, 3)).sum() == 3


def test_a_map_that_is_never_negative_starts_at_zero() -> None:
    values = np.linspace(0.0, 2.0, 600).reshape(20, 30, 1)
    for norm in ("linear", "symlog"):
        positive = heatmap(MapData(values=values, never_negative=True), Style(norm=norm))
        assert positive.rescale.low == 0
        assert positive.colormap.kind == "sequential"
        indices = np.asarray(positive.picture).ravel()
        assert indices[0] == 0
        assert (np.diff(indices.astype(int)) >= 0).all()
    assert heatmap(MapData(values=values)).rescale.low < 0


def test_a_logarithmic_norm_shows_what_is_a_thousand_times_smaller() -> None:
    values = np.tile([0.0, 1e-3, 1e-2, 1e-1, 1.0], (4, 1))[:, :, None]
    data = MapData(values=values, never_negative=True)
    linear, log = (
        np.asarray(heatmap(data, Style(norm=norm, rescale=(0.0, 1.0))).picture)[0].astype(int)
        for norm in ("linear", "symlog")
    )
    assert linear[1] == 0
    assert (np.diff(log) > 20).all()
    # log(1 + 1000 v) / log(1001), from end to end of 251 colours.
    assert np.array_equal(log, np.rint(np.log1p(1000 * values[0, :, 0]) / np.log(1001) * 250))
