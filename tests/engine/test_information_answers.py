"""What is said of parameters that an image does not tell apart, and of input that is none."""

import json
import math

import numpy as np
import pytest
import torch

from app.engine.information import (
    MOST_PARAMETERS,
    Accumulator,
    Direction,
    Gaussian,
    Maps,
    NoiseError,
    Poisson,
    TooManyParametersError,
    Variance,
)
from tests.engine.information import angled, columns, informed, random_tangents
from tests.tolerances import FISHER_BOUNDS

DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)


@DTYPES
def test_two_that_are_nearly_alike_are_named_with_their_correlation(dtype: torch.dtype) -> None:
    angle = math.pi - math.acos(0.9997)
    got = informed(angled(angle, dtype), labels=("focal_length", "distance"))
    assert got.correlations[0, 1] == pytest.approx(0.9997, abs=1e-7)
    said = "`focal_length` and `distance` cannot be told apart: correlation 0.9997."
    assert got.words[0] == said
    assert got.findings == ()


def test_less_alike_is_said_in_other_words_and_well_apart_in_one() -> None:
    assert informed(angled(math.acos(0.97))).words == (
        "`a` and `b` are hard to tell apart: correlation -0.97.",
    )
    assert informed(angled(math.acos(0.9))).words == ("All 2 parameters can be told apart.",)


def test_what_moves_nothing_is_said_and_spoils_nothing_else() -> None:
    tangents = random_tangents(3)
    tangents[1] = 0.0
    got, without = informed(tangents, scales=(1.0, 5.0, 1.0)), informed(tangents[[0, 2]])
    assert got.words == ("`b` does not move the image at all.",)
    assert got.bounds[1] is got.bounds_alone[1] is got.uncertainty[1] is None
    assert (got.bounds[0], got.bounds[2]) == pytest.approx(without.bounds, rel=FISHER_BOUNDS)
    assert np.isnan(got.correlations[1]).all()
    assert got.null == (Direction((("b", 5.0),)),)
    assert got.condition is None
    assert got.eigenvalues[0] == 0


def test_a_still_parameter_is_not_called_still_where_pixels_were_left_out() -> None:
    tangents = random_tangents(2)
    tangents[1] = 0.0
    tangents[1, 2, 2, 0] = torch.nan
    said = "`b` does not move the image at any pixel that could be used."
    assert informed(tangents).words == (said,)
    # Nor where it moves what has no weight.
    tangents[1, 2, 2, 0], variance = 1.0, torch.ones(6, 5)
    variance[2, 2] = torch.inf
    assert informed(tangents, noise=Variance(variance)).words == (said,)


@DTYPES
def test_a_singular_matrix_is_answered_with_the_null_direction(dtype: torch.dtype) -> None:
    # a and b change the image alike, b four times as fast; c is another thing.
    t = np.linspace(0, 1, 300)
    jacobian = np.stack([np.sin(5 * t), 4 * np.sin(5 * t), np.cos(3 * t)], axis=1)
    got = informed(columns(jacobian, dtype), noise=Gaussian(0.2))
    assert len(got.null) == 1
    assert dict(got.null[0].parts) == pytest.approx(
        {"a": 4 / math.sqrt(17), "b": -1 / math.sqrt(17)}, rel=1e-5
    )
    assert got.null[0].step is None
    assert got.bounds[:2] == (None, None)
    # c is as well known as with either of the two left out.
    expected = informed(columns(jacobian[:, [0, 2]]), noise=Gaussian(0.2)).bounds[1]
    assert got.bounds[2] == pytest.approx(expected, rel=1e-5)
    assert got.bounds_alone[0] == pytest.approx(0.2 / np.linalg.norm(jacobian[:, 0]), rel=1e-5)
    assert got.condition is None
    assert got.words == (
        "`a` and `b` cannot be told apart at all: along 0.97 `a` - 0.243 `b` the image stays the "
        "same, to the accuracy of the derivatives.",
    )


def test_two_pairs_stay_two_pairs() -> None:
    one, two, three = np.random.default_rng(3).normal(size=(3, 50))
    got = informed(columns(np.stack([one, two, three, one, -two], axis=1)))
    assert sorted(sorted(dict(each.parts)) for each in got.null) == [["a", "d"], ["b", "e"]]
    for each in got.null:
        sizes = [abs(amount) for _, amount in each.parts]
        assert sizes == pytest.approx([math.sqrt(0.5)] * 2, rel=1e-9)
    assert [bound is None for bound in got.bounds] == [True, True, False, True, True]


def test_three_that_only_together_move_little_are_named_by_the_weakest_direction() -> None:
    first, second, other = np.linalg.qr(np.random.default_rng(4).normal(size=(50, 3)))[0].T
    third = -(first + second) / math.sqrt(2) + 1e-3 * other
    got = informed(columns(np.stack([first, second, third], axis=1)), noise=Gaussian(2.0))
    assert got.weakest is not None
    assert {label for label, _ in got.weakest.parts} == {"a", "b", "c"}
    assert dict(got.weakest.parts) == pytest.approx(
        {"a": 0.5, "b": 0.5, "c": math.sqrt(0.5)}, rel=1e-3
    )
    # Along it, the image moves by 1e-3 sqrt(1/2) a step, and the noise is 2.
    assert got.weakest.step == pytest.approx(2.0 / (1e-3 * math.sqrt(0.5)), rel=1e-3)
    assert got.words[-1].startswith("The weakest direction is 0.707 `c` + 0.5 `")


@pytest.mark.parametrize("power", np.arange(1.0, 9.0, 0.5))
def test_a_bound_of_float32_is_right_to_what_is_said_or_not_given(power: float) -> None:
    angle = 10.0**-power
    got = informed(angled(angle, torch.float32))
    # The columns have a length of sqrt(200); the exact bound is 1 / (length sin(angle)).
    exact = 1 / (math.sqrt(200) * math.sin(angle))
    bound, error = got.bounds[0], got.uncertainty[0]
    if bound is None:
        assert angle < 2e-5
        assert len(got.null) == 1
        return
    assert error is not None
    assert bound == pytest.approx(exact, rel=error)
    assert (error > 0.05) == ("unsure_bounds" in [finding.code for finding in got.findings])
    assert angle > 1e-6


def test_a_rough_bound_is_warned_of_and_not_those_beside_it() -> None:
    pair = angled(3e-5, torch.float32)
    tangents = torch.cat([pair, torch.cos(7 * torch.arange(400.0)).reshape(1, 1, 400, 1)])
    got = informed(tangents)
    assert [finding.code for finding in got.findings] == ["unsure_bounds"]
    assert "`a`" in got.findings[0].detail
    assert "`c`" not in got.findings[0].detail
    assert informed(angled(3e-5)).findings == ()


def test_derivatives_of_little_accuracy_decide_less() -> None:
    assert informed(angled(1e-3)).null == ()
    assert len(informed(angled(1e-3), accuracy=1e-2).null) == 1


def test_more_parameters_than_values_leave_the_rest_undetermined() -> None:
    got = informed(random_tangents(7, 1, 1, 3))
    assert len(got.null) == 4
    assert got.bounds == (None,) * 7
    assert got.sums.pixels == 1
    assert sum("cannot be told apart at all" in sentence for sentence in got.words) == 4


def test_one_parameter() -> None:
    got = informed(torch.full((1, 2, 5, 1), 3.0), labels=["radius"], noise=Gaussian(6.0))
    assert got.bounds == got.bounds_alone == pytest.approx((6.0 / (3.0 * math.sqrt(10)),))
    assert got.correlations.tolist() == [[1.0]]
    assert got.condition == 1.0
    assert got.words == ("`radius` can be known to 0.632 (one standard deviation).",)


def test_pixels_that_are_no_numbers_are_left_out_and_counted() -> None:
    tangents, image = random_tangents(3), torch.ones(6, 5, 3, dtype=torch.float64)
    tangents[0, 1, 1, 0], tangents[2, 4, 0, 2], image[5, 4, 1] = torch.nan, -torch.inf, torch.nan
    tangents[1, 0, 0, 0] = 1e200  # its square is no number
    got = informed(tangents, image=image)
    keep = torch.ones(6, 5, dtype=torch.bool)
    for row, column in ((1, 1), (4, 0), (5, 4), (0, 0)):
        keep[row, column] = False
    flat = tangents[:, keep].reshape(3, -1).numpy()
    assert got.fisher == pytest.approx(flat @ flat.T, rel=FISHER_BOUNDS)
    assert (got.sums.pixels, got.sums.left_out) == (26, 4)
    assert [finding.code for finding in got.findings] == ["left_out"]
    assert "4 of 30 pixels" in got.findings[0].message


def test_without_a_pixel_nothing_is_known() -> None:
    got = informed(torch.full((2, 3, 3, 1), torch.nan))
    assert got.words == ("No pixel could be used: nothing is known of any parameter.",)
    assert got.bounds == (None, None)
    assert got.weakest is None
    json.dumps(got.describe(), allow_nan=False)


def test_where_no_photon_is_expected_nothing_is_told() -> None:
    tangents = torch.ones(1, 1, 5, 2, dtype=torch.float64)
    tangents[0, 0, 4] = 0.0
    image = torch.tensor([2.0, 2.0, 0.0, -1.0, 0.0], dtype=torch.float64)[None, :, None]
    image = image.expand(1, 5, 2).clone()
    image[0, 1, 1] = 0.0  # one channel alone
    got = informed(tangents, image=image, noise=Poisson(photons=3.0))
    # Three values of 2 are lit, each of weight photons / 2.
    assert got.fisher[0, 0] == pytest.approx(3 * 3.0 / 2.0)
    assert [finding.code for finding in got.findings] == ["no_light"]
    # The last pixel is dark, but does not move.
    assert got.sums.unweighted == 3
    assert got.sums.pixels == 5
    lit = informed(tangents, image=image, noise=Poisson(photons=3.0, background=4.0))
    assert lit.findings == ()
    assert lit.fisher[0, 0] == pytest.approx(9 * (3 / 10 + 3 / 4 + 2 / 1))


def test_an_infinite_variance_masks_what_is_no_number_too() -> None:
    tangents, variance = random_tangents(2), torch.ones(6, 5, dtype=torch.float64)
    variance[2], tangents[:, 2, 3] = torch.inf, torch.nan
    image = torch.ones(6, 5, 3, dtype=torch.float64)
    image[2, 1] = torch.nan
    got = informed(tangents, image=image, noise=Variance(variance))
    kept = tangents[:, [0, 1, 3, 4, 5]].reshape(2, -1).numpy()
    assert got.fisher == pytest.approx(kept @ kept.T, rel=FISHER_BOUNDS)
    assert got.findings == ()


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf, 1e-200])
def test_noise_that_is_none_is_refused(bad: float) -> None:
    with pytest.raises(NoiseError, match="`sigma` must be a positive number; got"):
        Gaussian(bad)
    with pytest.raises(NoiseError, match="`photons` must be a positive number; got"):
        Poisson(bad)


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf])
def test_a_background_is_none_below_zero(bad: float) -> None:
    with pytest.raises(NoiseError, match="`background` must be a number of photons"):
        Poisson(1.0, bad)


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan])
def test_a_variance_that_is_not_positive_is_refused(bad: float) -> None:
    image = torch.ones(4, 3)
    image[1, :2] = bad
    with pytest.raises(NoiseError, match="positive everywhere; 2 of its 12 values"):
        Variance(image)


@pytest.mark.parametrize("shape", [(5, 6), (6, 5, 1), (6, 4), (7, 5, 3)])
def test_a_variance_of_another_size_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(NoiseError, match=r"shape \[6, 5\] or \[6, 5, 3\], as the image; got"):
        Accumulator("ab", Variance(torch.ones(shape)), (6, 5, 3))


def test_a_variance_that_is_no_image_is_refused() -> None:
    with pytest.raises(NoiseError, match="must be an image"):
        Variance(torch.ones(30))


def test_what_is_asked_wrongly_is_refused() -> None:
    noise, shape = Gaussian(1.0), (6, 5, 3)
    with pytest.raises(TooManyParametersError, match=f"at most {MOST_PARAMETERS}"):
        Accumulator([str(i) for i in range(MOST_PARAMETERS + 1)], noise, shape)
    for labels in ([], ["a", "a"]):
        with pytest.raises(ValueError, match="a name of its own"):
            Accumulator(labels, noise, shape)
    for scales in ([1.0], [1.0, 0.0], [1.0, math.inf], []):
        with pytest.raises(ValueError, match="Scales must be 2 positive numbers"):
            Accumulator("ab", noise, shape, scales=scales)
    with pytest.raises(ValueError, match="relative error"):
        Accumulator("ab", noise, shape, accuracy=-1.0)
    with pytest.raises(ValueError, match="`dominant` must be"):
        Accumulator("ab", noise, shape, maps=Maps(dominant=np.empty((5, 6), np.int16)))


@pytest.mark.parametrize("rows", [slice(0, 6), slice(-1, 4), slice(4, 9), slice(3, 3)])
def test_a_tile_of_another_frame_is_refused(rows: slice) -> None:
    tangents = random_tangents(2, height=5)
    with pytest.raises(ValueError, match="of a frame of 6 need derivatives of shape"):
        Accumulator("ab", Gaussian(1.0), (6, 5, 3)).add(rows, tangents[0], tangents)


def test_information_beyond_float64_is_refused() -> None:
    with pytest.raises(NoiseError, match="beyond float64"):
        informed(torch.full((1, 2, 5, 1), 1e14, dtype=torch.float64), noise=Gaussian(1e-140))


def test_the_description_is_plain_data() -> None:
    singular = torch.cat([random_tangents(2), random_tangents(2), torch.zeros(1, 6, 5, 3)])
    for tangents in (random_tangents(3), singular, random_tangents(3, 1, 1, 1)):
        said = json.loads(json.dumps(informed(tangents).describe(), allow_nan=False))
        assert len(said["bounds"]) == len(said["fisher"]) == len(tangents)
        assert said["words"]
    assert said["null_directions"] == 2


def test_what_would_fill_pages_is_counted_instead() -> None:
    tangents = torch.zeros(100, 2, 2, 1)
    got = informed(tangents, labels=[f"p{i}" for i in range(100)])
    assert len(got.words) == 9
    assert got.words[-1] == "92 more parameters are not determined."
    assert len(got.null) == 100
    said = got.describe()
    assert said["fisher"] is None
    assert len(said["null"]) == 64
