"""The information in an image beside whole matrices, SciPy, closed forms and simulated fits."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import curve_fit
from torch import Tensor
from torch.func import jacfwd

from app.engine.information import (
    Accumulator,
    Gaussian,
    Maps,
    Noise,
    Poisson,
    Sums,
    Variance,
    accumulator,
    analyse,
)
from app.engine.memory import peak_bytes
from tests.engine.information import Floats, columns, informed, random_tangents
from tests.tolerances import (
    CURVE_FIT_BOUNDS,
    FISHER_BOUNDS,
    FISHER_SUM,
    MONTE_CARLO,
    SPOT_BOUND,
)

SIZE, CHANNELS = (9, 7), 2
VARIANCE = torch.linspace(0.1, 2.0, 63, dtype=torch.float64).reshape(SIZE)
NOISES = {
    "gaussian": Gaussian(0.3),
    "poisson": Poisson(photons=40.0, background=2.0),
    "variance": Variance(VARIANCE),
    "variance of channels": Variance(torch.stack([VARIANCE, VARIANCE.square()], dim=-1)),
}
SPOT = torch.tensor([3.0, 2.2, 3.9, 1.4, 0.5], dtype=torch.float64)
SPOT_LABELS = ("amplitude", "x", "y", "size", "level")


def spot(values: Tensor) -> Tensor:
    """A spot of light on a level, in two channels of different brightness."""
    amplitude, x, y, size, level = values
    rows, cols = torch.meshgrid(torch.arange(SIZE[0]), torch.arange(SIZE[1]), indexing="ij")
    light = amplitude * torch.exp(-((cols - x) ** 2 + (rows - y) ** 2) / (2 * size**2))
    return torch.stack([light + level, 0.5 * light + level], dim=-1)


def variance_of(noise: Noise, image: Floats) -> Floats:
    """By the definition of each model."""
    if isinstance(noise, Gaussian):
        return np.full_like(image, noise.sigma**2)
    if isinstance(noise, Poisson):
        return (noise.photons * image + noise.background) / noise.photons**2
    assert isinstance(noise, Variance)
    variance = noise.image.numpy()
    return np.broadcast_to(variance if variance.ndim == 3 else variance[..., None], image.shape)


@pytest.mark.parametrize("noise", NOISES.values(), ids=list(NOISES))
def test_the_matrix_and_the_bounds_are_those_of_the_whole_jacobian(noise: Noise) -> None:
    image, jacobian = spot(SPOT), jacfwd(spot)(SPOT)
    got = informed(jacobian.movedim(-1, 0), image=image, labels=SPOT_LABELS, noise=noise, cuts=[4])
    flat = jacobian.numpy().reshape(-1, 5)
    expected = flat.T @ (flat / variance_of(noise, image.numpy()).reshape(-1, 1))
    lengths = np.sqrt(np.diag(expected))
    assert np.abs((got.fisher - expected) / np.outer(lengths, lengths)).max() < FISHER_SUM
    inverse = np.linalg.inv(expected)
    deviations = np.sqrt(np.diag(inverse))
    assert got.bounds == pytest.approx(deviations, rel=FISHER_BOUNDS)
    assert got.bounds_alone == pytest.approx(1 / lengths, rel=FISHER_BOUNDS)
    correlations = inverse / np.outer(deviations, deviations)
    assert got.correlations == pytest.approx(correlations, abs=FISHER_BOUNDS)
    scaled = np.linalg.eigvalsh(expected / np.outer(lengths, lengths))
    assert got.eigenvalues == pytest.approx(scaled, rel=FISHER_BOUNDS)
    assert got.condition == pytest.approx(scaled[-1] / scaled[0], rel=FISHER_BOUNDS)
    assert (got.null, got.findings) == ((), ())
    assert (got.sums.pixels, got.sums.left_out, got.sums.unweighted) == (63, 0, 0)


def test_bounds_are_the_errors_that_scipy_gives_a_fit() -> None:
    def flat(_: Floats, *values: float) -> Floats:
        return spot(torch.tensor(values, dtype=torch.float64)).numpy().ravel()

    sigma = np.sqrt(variance_of(NOISES["variance"], spot(SPOT).numpy())).ravel()
    data = flat(sigma, *SPOT.tolist())
    _, covariance = curve_fit(flat, sigma, data, SPOT.numpy(), sigma, absolute_sigma=True)
    tangents = jacfwd(spot)(SPOT).movedim(-1, 0)
    got = informed(tangents, image=spot(SPOT), labels=SPOT_LABELS, noise=NOISES["variance"])
    deviations = np.sqrt(np.diag(covariance))
    assert got.bounds == pytest.approx(deviations, rel=CURVE_FIT_BOUNDS)
    correlations = covariance / np.outer(deviations, deviations)
    assert got.correlations == pytest.approx(correlations, abs=CURVE_FIT_BOUNDS)


def test_a_line_has_the_errors_of_the_textbook() -> None:
    x = np.linspace(2.0, 5.0, 41)
    got = informed(columns(np.stack([x, np.ones(41)], axis=1)), noise=Gaussian(0.7))
    around = ((x - x.mean()) ** 2).sum()
    expected = 0.7 * np.sqrt([1 / around, 1 / 41 + x.mean() ** 2 / around])
    assert got.bounds == pytest.approx(expected, rel=FISHER_BOUNDS)
    correlation = -x.mean() / np.sqrt((x**2).mean())
    assert got.correlations[0, 1] == pytest.approx(correlation, rel=FISHER_BOUNDS)


def test_a_spot_is_found_to_its_size_over_the_root_of_its_photons() -> None:
    side, size, photons = 121, 10.0, 500.0
    at = torch.arange(side, dtype=torch.float64) - side // 2

    def light(position: Tensor) -> Tensor:
        profile = torch.exp(-((at - position[:, None]) ** 2) / (2 * size**2))
        return (profile[1][:, None] * profile[0] / (2 * torch.pi * size**2))[..., None]

    centre = torch.zeros(2, dtype=torch.float64)
    got = informed(
        jacfwd(light)(centre).movedim(-1, 0), image=light(centre), noise=Poisson(photons)
    )
    expected = size / np.sqrt(photons)
    assert got.bounds == pytest.approx((expected, expected), rel=SPOT_BOUND)
    assert got.findings == ()


def test_simulated_fits_scatter_by_the_bounds() -> None:
    generator = np.random.default_rng(1)
    jacobian = generator.normal(size=(30, 3)) @ np.array([[1, 0.8, 0], [0, 1, 0.3], [0, 0, 2.0]])
    sigma = generator.uniform(0.5, 2.0, size=30)
    noise = generator.normal(size=(4000, 30)) * sigma
    fits = np.linalg.lstsq(jacobian / sigma[:, None], (noise / sigma).T)[0]
    variance = torch.from_numpy(sigma**2)[None]
    got = informed(columns(jacobian), noise=Variance(variance))
    assert got.bounds == pytest.approx(fits.std(axis=1), rel=MONTE_CARLO)
    assert got.correlations == pytest.approx(np.corrcoef(fits), abs=MONTE_CARLO)


@given(cuts=st.lists(st.integers(1, 5)), block=st.integers(1, 200))
@settings(deadline=None)
def test_any_cutting_gives_the_same(cuts: list[int], block: int) -> None:
    tangents, image = random_tangents(4), random_tangents(1)[0].abs()
    noise = Poisson(10.0, 1.0)
    whole = informed(tangents, image=image, noise=noise)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(accumulator, "BLOCK_VALUES", block)
        maps = Maps(information=np.empty((6, 5, 4)), dominant=np.empty((6, 5), np.int16))
        cut = informed(tangents, image=image, noise=noise, cuts=cuts, maps=maps)
    assert maps.information is not None
    assert cut.fisher == pytest.approx(whole.fisher, rel=0, abs=FISHER_SUM * whole.fisher.max())
    assert maps.information.sum(axis=(0, 1)) == pytest.approx(np.diag(whole.fisher))
    assert cut.sums.pixels == whole.sums.pixels == 30


factors = st.floats(1e-6, 1e6)


@given(units=st.lists(factors, min_size=3, max_size=3))
@settings(deadline=None)
def test_a_unit_scales_its_own_bound_alone(units: list[float]) -> None:
    tangents = random_tangents(3)
    plain = informed(tangents)
    scaled = informed(tangents * torch.tensor(units, dtype=torch.float64)[:, None, None, None])
    for name in ("bounds", "bounds_alone"):
        expected = np.array(getattr(plain, name)) / units
        assert getattr(scaled, name) == pytest.approx(expected, rel=FISHER_BOUNDS)
    assert scaled.correlations == pytest.approx(plain.correlations, abs=FISHER_BOUNDS)
    assert scaled.condition == pytest.approx(plain.condition, rel=FISHER_BOUNDS)
    assert scaled.words == plain.words


@given(scales=st.lists(factors, min_size=3, max_size=3))
@settings(deadline=None)
def test_scales_change_no_bound(scales: list[float]) -> None:
    plain, scaled = informed(random_tangents(3)), informed(random_tangents(3), scales=scales)
    assert scaled.bounds == pytest.approx(plain.bounds, rel=FISHER_BOUNDS)
    assert scaled.fisher == pytest.approx(plain.fisher, rel=FISHER_BOUNDS)
    assert scaled.condition == pytest.approx(plain.condition, rel=FISHER_BOUNDS)


@given(order=st.permutations(range(4)))
@settings(deadline=None)
def test_permuted_parameters_permute_all(order: list[int]) -> None:
    plain = informed(random_tangents(4), labels="abcd")
    permuted = informed(random_tangents(4)[order], labels=["abcd"[i] for i in order])
    assert permuted.bounds == pytest.approx([plain.bounds[i] for i in order], rel=FISHER_BOUNDS)
    expected = plain.correlations[np.ix_(order, order)]
    assert permuted.correlations == pytest.approx(expected, abs=FISHER_BOUNDS)
    assert plain.weakest is not None
    assert permuted.weakest is not None
    assert dict(permuted.weakest.parts) == pytest.approx(dict(plain.weakest.parts), abs=1e-9)


def parts_of(tangents: Tensor, *cuts: int) -> list[Sums]:
    """Sums over the rows between cuts, each by an accumulator of its own."""
    found, (n, height, width, channels) = [], tangents.shape
    for start, stop in zip((0, *cuts), (*cuts, height), strict=True):
        one = Accumulator("abcdefgh"[:n], Gaussian(0.5), (height, width, channels))
        rows = slice(start, stop)
        one.add(rows, torch.ones_like(tangents[0, rows]), tangents[:, rows])
        found.append(one.sums())
    return found


def test_sums_of_parts_add_up() -> None:
    tangents = random_tangents(3)
    tangents[1, 5, 2, 0] = torch.nan
    first, second, third = parts_of(tangents, 2, 3)
    got, whole = analyse(first + second + third), informed(tangents, noise=Gaussian(0.5))
    assert got.fisher == pytest.approx(whole.fisher, rel=FISHER_BOUNDS)
    assert (got.sums.pixels, got.sums.left_out) == (29, 1)
    assert got.words == whole.words


def test_sums_are_as_inaccurate_as_the_worse_of_their_parts() -> None:
    tangents = random_tangents(2)
    exact, rough = parts_of(tangents)[0], parts_of(tangents.float())[0]
    accuracy = (exact + rough).accuracy
    assert accuracy == (rough + exact).accuracy == rough.accuracy > exact.accuracy


def test_a_tile_that_fails_on_the_way_is_not_added_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accumulator, "BLOCK_VALUES", 3 * 15)
    tangents, calls = random_tangents(3), []

    def weights(noise: Gaussian, image: Tensor, _: object) -> Tensor:
        calls.append(1)
        if len(calls) == 3:
            raise MemoryError
        return torch.ones_like(image)

    monkeypatch.setattr(Gaussian, "weights", weights)
    one = Accumulator("abc", Gaussian(1.0), (6, 5, 3))
    rows, image = slice(0, 6), torch.ones(6, 5, 3)
    with pytest.raises(MemoryError):
        one.add(rows, image, tangents)
    assert one.sums().pixels == 0
    assert not one.sums().matrix.any()
    one.add(rows, image, tangents)
    assert one.finish().fisher == pytest.approx(informed(tangents).fisher, rel=FISHER_BOUNDS)
    with pytest.raises(ValueError, match="added before"):
        one.add(slice(5, 6), image[5:], tangents[:, 5:])


def test_sums_of_other_questions_are_not_added() -> None:
    ours = parts_of(random_tangents(2))[0]
    with pytest.raises(ValueError, match="different labels"):
        ours + parts_of(random_tangents(3))[0]
    other = Accumulator("ab", Gaussian(0.4), (6, 5, 3)).sums()
    with pytest.raises(ValueError, match="different noise"):
        ours + other


def test_maps_show_what_each_pixel_adds_and_of_what_it_tells_most() -> None:
    tangents, scales = random_tangents(3), (2.0, 1.0, 1.5)
    tangents[:, 1, 2] = 0.0
    tangents[0, 3, 4, 1] = torch.inf
    maps = Maps(information=np.empty((6, 5, 3), np.float32), dominant=np.empty((6, 5), np.int16))
    informed(tangents, noise=Gaussian(0.5), scales=scales, maps=maps)
    expected = (tangents.numpy() ** 2 / 0.25).sum(axis=-1)
    expected[:, 3, 4] = np.nan
    assert maps.information == pytest.approx(np.moveaxis(expected, 0, -1), rel=1e-6, nan_ok=True)
    labels = (expected * np.square(scales)[:, None, None]).argmax(axis=0)
    labels[1, 2] = labels[3, 4] = -1
    assert np.array_equal(maps.dominant, labels)
    assert len(np.unique(labels)) == 4


def test_memory_is_that_of_a_block_however_large_the_tile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accumulator, "BLOCK_VALUES", 1 << 14)

    def peak(height: int) -> int:
        # As a batch of tangents leaves torch: not in C order.
        tangents = torch.ones(8, 128, height, 3).transpose(1, 2)
        one = Accumulator("abcdefgh", Poisson(), (height, 128, 3))
        tile = slice(0, height), torch.ones(height, 128, 3), tangents
        return peak_bytes(lambda: one.add(*tile), torch.device("cpu"))

    block = 8 * (1 << 14)
    # The larger Jacobian is 96 blocks.
    assert peak(256) == peak(1024) < 4 * block
