import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from app.imaging import InvalidRescaleError, Rescale, index, norm_for, robust_rescale
from app.imaging.palette import LAST, MIDDLE, NAN
from tests.tolerances import INDEX_LEVELS

magnitudes = st.floats(1e-150, 1e150)
values = st.floats(allow_nan=False)
norms = st.sampled_from(["linear", "symlog"])


def _index(numbers: object, rescale: Rescale, norm: str = "linear", **kwargs: bool) -> np.ndarray:
    return index(np.asarray(numbers, float), rescale, norm=norm_for(norm, rescale.limit), **kwargs)


@given(low=magnitudes, high=magnitudes, norm=norms)
def test_ends_go_to_ends_and_zero_to_the_middle(low: float, high: float, norm: str) -> None:
    drawn = _index([-np.inf, -low, -0.0, 0.0, high, np.inf], Rescale(-low, high), norm)
    assert_array_equal(drawn, [0, 0, MIDDLE, MIDDLE, LAST, LAST])


@given(numbers=st.lists(values, min_size=2), low=values, high=values, norm=norms, d=st.booleans())
def test_index_is_monotone(
    numbers: list[float], low: float, high: float, norm: str, d: bool
) -> None:
    if not (np.isfinite([low, high]).all() and low < high):
        return
    drawn = _index(sorted(numbers), Rescale(low, high), norm, diverging=d)
    assert (np.diff(drawn.astype(int)) >= 0).all()
    assert drawn.max() <= LAST


@given(limit=magnitudes, numbers=st.lists(values, min_size=1), norm=norms)
def test_index_is_symmetric_in_a_symmetric_range(
    limit: float, numbers: list[float], norm: str
) -> None:
    rescale = Rescale(-limit, limit)
    up = _index(numbers, rescale, norm).astype(int)
    down = _index(np.negative(numbers), rescale, norm).astype(int)
    assert_array_equal(up + down, 2 * MIDDLE)


@given(low=magnitudes, high=magnitudes)
def test_a_sequential_map_runs_evenly_from_end_to_end(low: float, high: float) -> None:
    rescale = Rescale(-low, high)
    middle = rescale.low / 2 + rescale.high / 2
    drawn = _index([rescale.low, middle, rescale.high], rescale, diverging=False)
    assert_array_equal(drawn, [0, MIDDLE, LAST])


def test_a_range_on_one_side_of_zero_uses_its_half_of_a_diverging_map() -> None:
    above = _index([-5, 0, 1, 2, 3, 9], Rescale(1.0, 3.0))
    assert_array_equal(above, [MIDDLE, MIDDLE, MIDDLE, round(1.5 * MIDDLE), LAST, LAST])
    below = _index([-9, -3, -1, 0, 5], Rescale(-3.0, -1.0))
    assert_array_equal(below, [0, 0, MIDDLE, MIDDLE, MIDDLE])


@given(st.lists(st.floats(), min_size=1))
def test_nan_and_nothing_else_gets_the_transparent_index(numbers: list[float]) -> None:
    drawn = _index(numbers, Rescale(-1.0, 1.0))
    assert_array_equal(drawn == NAN, np.isnan(numbers))


def test_float32_arithmetic_draws_like_float64() -> None:
    layer = np.random.default_rng(0).standard_normal((400, 400)).astype("f4")
    for norm in ("linear", "symlog"):
        narrow = index(layer, Rescale(-2.0, 2.0), norm=norm_for(norm, 2.0))
        wide = index(layer.astype("f8"), Rescale(-2.0, 2.0), norm=norm_for(norm, 2.0))
        assert np.abs(narrow.astype(int) - wide).max() <= INDEX_LEVELS
        assert (narrow != wide).mean() < 1e-3


def test_index_spans_blocks_and_strides() -> None:
    layer = np.linspace(-1, 1, 3 * 70_001 * 2).reshape(-1, 3, 2)[:, :, 1]
    whole = index(layer, Rescale(-1.0, 1.0))
    assert whole.shape == layer.shape
    assert_array_equal(whole, np.rint(layer * MIDDLE) + MIDDLE)


# The hard maps of tests/cases: what the range must be, and that it never is nothing.

HARD_MAPS = {
    "all zero": (np.zeros((8, 8)), Rescale(-1.0, 1.0)),
    "no number": (np.full((8, 8), np.nan), Rescale(-1.0, 1.0)),
    "only infinities": (np.full((8, 8), np.inf), Rescale(-1.0, 1.0)),
    "all negative": (-np.arange(1.0, 65).reshape(8, 8), Rescale(-63.0, 63.0)),
    "constant": (np.full((8, 8), -5.0), Rescale(-5.0, 5.0)),
    "tiny": (np.full((8, 8), 1e-7), Rescale(-1e-7, 1e-7)),
    "denormal": (np.full((8, 8), 5e-324), Rescale(-5e-324, 5e-324)),
    "huge": (np.full((8, 8), 1e308), Rescale(-1e308, 1e308)),
    "one pixel": (np.full((1, 1), 2.0), Rescale(-2.0, 2.0)),
}


@pytest.mark.parametrize("name", HARD_MAPS)
def test_a_hard_map_has_the_range_that_is_stated(name: str) -> None:
    layer, expected = HARD_MAPS[name]
    assert robust_rescale(layer) == expected
    drawn = index(layer, expected)
    assert_array_equal(drawn[layer == 0], MIDDLE)
    assert_array_equal(drawn[layer >= expected.high], LAST)
    assert_array_equal(drawn[layer <= expected.low], 0)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_float32_denormals_and_giants_keep_their_sign(dtype: str) -> None:
    info = np.finfo(dtype)
    for size in (info.smallest_subnormal, info.tiny, info.max):
        layer = np.asarray([[-size, 0, size]], dtype)
        rescale = robust_rescale(layer)
        assert rescale.high == size
        assert_array_equal(index(layer, rescale), [[0, MIDDLE, LAST]])


@pytest.mark.parametrize("side", [4, 8, 512])
def test_one_outlier_does_not_flatten_the_picture(side: int) -> None:
    layer = np.ones((side, side), "f4")
    layer[side // 2, 1] = 1e6
    assert robust_rescale(layer) == Rescale(-1.0, 1.0)


@pytest.mark.parametrize("radius", [0.02, 0.1, 0.8])
@pytest.mark.parametrize("tail", [0.0, 1e-9])
def test_a_thin_ring_on_black_is_not_an_outlier(radius: float, tail: float) -> None:
    y, x = np.mgrid[-1:1:512j, -1:1:512j]
    distance = np.abs(np.hypot(x, y) - radius) * 256  # in pixels
    ring = np.maximum(1 - distance / 2, tail).astype("f4")
    limit = robust_rescale(ring).high
    assert 0.5 < limit <= 1
    # The known bad: the percentile over all pixels that are not zero sees the tail alone.
    if tail and radius < 0.5:
        assert np.percentile(ring[ring > 0], 99.5) < 0.5


def test_fireflies_do_not_set_the_range() -> None:
    rng = np.random.default_rng(0)
    layer = rng.standard_normal((256, 256))
    layer[rng.random(layer.shape) < 0.002] *= 50
    assert 2 < robust_rescale(layer).high < 10


@given(st.lists(st.floats(-1e30, 1e30), min_size=1, max_size=50), st.booleans())
def test_every_map_has_a_range(numbers: list[float], symmetric: bool) -> None:
    layer = np.asarray([numbers])
    rescale = robust_rescale(layer, symmetric=symmetric)
    assert rescale.low < rescale.high
    assert rescale.low == -rescale.high or not symmetric
    assert rescale.limit <= max(np.abs(numbers).max(), 5e-324) or rescale == Rescale(-1.0, 1.0)


def test_nan_and_infinities_do_not_change_the_range() -> None:
    layer = np.random.default_rng(0).standard_normal((64, 64))
    holes = np.concatenate([layer, [[np.nan, np.inf] * 32, [-np.inf, np.nan] * 32]])
    for symmetric in (True, False):
        clean = robust_rescale(layer, symmetric=symmetric)
        assert robust_rescale(holes, symmetric=symmetric) == clean


def test_an_asymmetric_range_treats_each_side_by_itself() -> None:
    layer = np.concatenate([np.full(500, -1.0), np.full(500, 7.0), [1e6]]).reshape(1, -1)
    assert robust_rescale(layer, symmetric=False) == Rescale(-1.0, 7.0)
    assert robust_rescale(np.asarray([[2.0, 3.0]]), symmetric=False) == Rescale(2.0, 3.0)
    assert robust_rescale(np.full((2, 2), 3.0), symmetric=False) == Rescale(0.0, 3.0)
    assert robust_rescale(np.full((2, 2), -3.0), symmetric=False) == Rescale(-3.0, 0.0)


@pytest.mark.parametrize(
    ("low", "high"),
    [(1.0, 1.0), (2.0, 1.0), (np.nan, 1.0), (0.0, np.nan), (-np.inf, 1.0), (0.0, np.inf)],
)
def test_a_range_that_nothing_can_be_drawn_in_is_refused(low: float, high: float) -> None:
    with pytest.raises(InvalidRescaleError, match="finite") as caught:
        Rescale(low, high)
    assert caught.value.code == "invalid_rescale"


def test_an_end_at_zero_is_never_minus_zero() -> None:
    found = robust_rescale(np.array([-1.0, -0.5, -0.0]), symmetric=False)
    for rescale in (found, Rescale(-1.0, -0.0), Rescale(-0.0, 1.0)):
        assert "-0.0" not in f"{rescale.low!r}, {rescale.high!r}"
