import numpy as np
import pytest

from app.imaging import UnknownNameError, channel_choices, reduce_channels
from tests.tolerances import FLOAT32_SUM_RTOL

RGB = ("r", "g", "b")


def _values(dtype: str = "f4") -> np.ndarray:
    return np.random.default_rng(0).standard_normal((40, 30, 3)).astype(dtype)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_reductions_match_their_formulas(dtype: str) -> None:
    values = _values(dtype)
    exact = values.astype("f8")
    expected = {
        "mean": exact.mean(axis=2),
        "luminance": exact @ [0.2126, 0.7152, 0.0722],
        "norm": np.linalg.norm(exact, axis=2),
    }
    for name, layer in expected.items():
        reduced = reduce_channels(values, name, RGB)
        atol = FLOAT32_SUM_RTOL * np.abs(exact).max()
        np.testing.assert_allclose(reduced, layer, rtol=FLOAT32_SUM_RTOL, atol=atol)


@pytest.mark.parametrize("asked", [1, "1", "g"])
def test_a_channel_is_asked_for_by_index_or_by_name(asked: str | int) -> None:
    values = _values()
    np.testing.assert_array_equal(reduce_channels(values, asked, RGB), values[:, :, 1])


def test_the_norm_of_a_single_channel_is_its_magnitude() -> None:
    values = _values()[:, :, :1]
    np.testing.assert_array_equal(reduce_channels(values, "norm", ("0",))[..., None], abs(values))


@pytest.mark.parametrize(
    ("dtype", "size"), [("f4", 1e-30), ("f4", 1e38), ("f8", 1e-200), ("f8", 1e300)]
)
def test_the_norm_neither_overflows_nor_vanishes(dtype: str, size: float) -> None:
    values = np.full((2, 2, 3), size, dtype)
    reduced = reduce_channels(values, "norm", RGB)
    np.testing.assert_allclose(reduced, size * np.sqrt(3), rtol=FLOAT32_SUM_RTOL)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("channel", ["mean", "luminance", "norm"])
def test_nan_in_any_channel_is_nan_in_the_layer(channel: str, dtype: str) -> None:
    values = _values(dtype)
    values[3, 4] = [np.inf, np.nan, 1]
    reduced = reduce_channels(values, channel, RGB)
    assert np.isnan(reduced[3, 4])
    assert np.isnan(reduced).sum() == 1


def test_luminance_ignores_what_is_not_a_colour() -> None:
    values = np.concatenate([_values(), np.full((40, 30, 1), np.nan, "f4")], axis=2)
    expected = reduce_channels(values[:, :, :3], "luminance", RGB)
    np.testing.assert_array_equal(reduce_channels(values, "luminance", (*RGB, "a")), expected)


def test_an_unknown_channel_lists_the_choices() -> None:
    with pytest.raises(UnknownNameError, match="luminance") as caught:
        reduce_channels(_values(), "luminence", RGB)
    assert caught.value.code == "unknown_channel"
    assert caught.value.nearest == "luminance"
    with pytest.raises(UnknownNameError, match="0, 1, 2"):
        reduce_channels(_values(), 3, RGB)
    with pytest.raises(UnknownNameError):
        reduce_channels(_values(), -1, RGB)


def test_luminance_is_offered_for_colours_only() -> None:
    assert "luminance" in channel_choices(RGB)
    assert "luminance" not in channel_choices(("depth",))
