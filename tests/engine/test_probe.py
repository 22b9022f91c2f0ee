"""Probes beside `torch.func.jacrev` of the whole image, and what must hold of any renderer."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.func import jvp

from app.engine import CODES, DeviceMemoryError, EngineError, RenderError
from app.engine.evaluate import evaluate
from app.engine.memory import peak_bytes
from app.engine.operations import ForwardFormulas
from app.engine.placing import placed
from app.engine.plan import Plan
from app.engine.probe import Probe, probe
from app.engine.probing import Asked, reverse
from app.engine.probing.cutting import pieces
from app.engine.probing.sample import sampled
from app.engine.regions import EACH, SUM, Mask, Points, Rectangle, Region, weighted
from renderers import Frame, Loaded, ParameterError, Pixels, Renderer, load, param, renderer
from renderers.sphere import sphere
from tests.engine.probed import (
    HEIGHT,
    MADE,
    REGIONS,
    WIDTH,
    bound,
    off,
    oracle,
    picture,
    pixel,
    weights_of,
    whole_image,
)
from tests.tolerances import PROBE, PROBE_BY_DIFFERENCES, PROBE_COARSE

REGISTRY = load(plugins=False)
ALL = [*(REGISTRY.get(name) for name in REGISTRY.names()), *MADE]
EVERY = pytest.mark.parametrize("source", ALL, ids=lambda source: source.spec.name)
# Those that take no second a question.
LIGHT = pytest.mark.parametrize(
    "source",
    [s for s in ALL if s.spec.name not in ("gaussians", "sdf_scene", "volume")],
    ids=lambda source: source.spec.name,
)
DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
READS_NUMBERS = pytest.mark.filterwarnings("ignore:Converting a tensor with requires_grad")
F64 = torch.float64


REST = ("budget", "wrt", "certify", "seed")


def probed(
    source: Renderer | Loaded,
    regions: tuple[Region, ...] = REGIONS,
    *,
    size: tuple[int, int] = (WIDTH, HEIGHT),
    dtype: torch.dtype = F64,
    **values: object,
) -> Probe:
    rest = {name: values.pop(name) for name in REST if name in values}
    loaded = source if isinstance(source, Loaded) else source.load("cpu", dtype)
    params = bound(loaded, **values)
    width, height = size
    return probe(loaded, params, regions, width=width, height=height, **rest)  # type: ignore[arg-type]


def counted_calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One for each time that a renderer is asked."""
    calls: list[int] = []

    def counting(loaded: Loaded, where: Pixels | Frame, params: object, seed: int) -> Tensor:
        calls.append(len(calls))
        return evaluate(loaded, where, params, seed)  # type: ignore[arg-type]

    monkeypatch.setattr("app.engine.probing.piece.evaluate", counting)
    return calls


def codes(found: Probe) -> set[str]:
    said = {finding.code for finding in found.findings}
    assert said <= set(CODES)
    return said


@DTYPES
@EVERY
def test_a_probe_is_the_gradient_of_the_whole_image(source: Renderer, dtype: torch.dtype) -> None:
    loaded = source.load("cpu", dtype)
    found = probed(loaded)
    # In the same arithmetic: what a renderer itself loses to rounding is not the probe's doing.
    values, gradients = oracle(loaded, bound(loaded), REGIONS, dtype)
    tolerance = PROBE[str(dtype).removeprefix("torch.")]
    assert found.names == ("middle", "box", "overlapping", "blob")
    assert off(found.values, values) < tolerance
    for name, declared in loaded.spec.params.items():
        assert found.gradients[name].shape == (4, *declared.shape)
        assert off(found.gradients[name], gradients[name]) < tolerance, name
    assert set(found.strategies.values()) == {"reverse"}
    assert codes(found) == set()
    assert all(choice.judged for choice in found.choices.values())


@EVERY
def test_it_is_the_transpose_of_the_map(source: Renderer) -> None:
    # <w, J t> by forward mode of the whole image, and <J' w, t>.
    loaded = source.load("cpu", F64)
    params = bound(loaded)
    areas = weighted(REGIONS, loaded.spec, WIDTH, HEIGHT)
    asked = Asked(loaded, params, areas, WIDTH, HEIGHT, seed=0, budget=1 << 30)
    pulled = reverse.pulled(asked, list(params))[:, 1:].numpy()
    generator = torch.Generator().manual_seed(5)
    tangents = {
        name: torch.randn(value.shape, generator=generator, dtype=F64)
        for name, value in params.items()
    }
    with ForwardFormulas():
        _, moved = jvp(lambda some: whole_image(loaded, some), (params,), (tangents,))
    forwards = torch.einsum("rhwc,hwc->r", weights_of(REGIONS, loaded), moved).numpy()
    backwards = pulled @ torch.cat([t.flatten() for t in tangents.values()]).numpy()
    assert off(backwards, forwards) < PROBE["float64"]


@EVERY
def test_pieces_and_batches_add_up_to_the_same(
    source: Renderer, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = source.load("cpu", F64)
    areas = weighted(REGIONS, loaded.spec, WIDTH, HEIGHT)
    asked = Asked(loaded, bound(loaded), areas, WIDTH, HEIGHT, seed=0, budget=1 << 32)
    names = list(loaded.spec.params)
    calls = counted_calls(monkeypatch)
    found = []
    for plan in (Plan(10_000, 4, 0), Plan(131, 1, 0), Plan(200, 3, 0)):
        monkeypatch.setattr(reverse, "planned", lambda *_, plan=plan: plan)
        found.append((len(calls), reverse.pulled(asked, names).numpy()))
    (_, once), (few, other), (many, third) = found
    assert few == 1
    assert many - few > 2 or asked.whole
    assert max(off(other, once), off(third, once)) < PROBE["float64"]


def test_the_budget_bounds_the_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = sphere.load("cpu", torch.float32)
    areas = weighted([Region(area=Rectangle(0, 0, 400, 300))], loaded.spec, 400, 300)
    budget = 16 << 20
    asked = Asked(loaded, placed(loaded, bound(loaded)), areas, 400, 300, seed=0, budget=budget)
    calls = counted_calls(monkeypatch)
    seen = peak_bytes(lambda: reverse.pulled(asked, ["radius", "light"]), loaded.device)
    assert len(calls) > 5
    assert 0.1 * budget < seen < budget


def test_a_pixel_renderer_is_asked_for_the_pixels_of_its_regions_alone() -> None:
    asked: list[set[tuple[float, float]]] = []

    @renderer(channels="grey")
    def listening(pixels: Pixels, a: Tensor = param(2.0)) -> Tensor:
        x, y = pixels.x.flatten().tolist(), pixels.y.flatten().tolist()
        asked.append({(round(a, 6), round(b, 6)) for a, b in zip(x, y, strict=True)})
        return torch.sin(a * pixels.x + pixels.y)

    probed(listening, (pixel(3, 4), pixel(20, 16)))
    pitch = 2 / HEIGHT
    right = {
        (round((x + 0.5 - WIDTH / 2) * pitch, 6), round((HEIGHT / 2 - y - 0.5) * pitch, 6))
        for x, y in ((3, 4), (20, 16))
    }
    # Others are asked for once, to see whether they have a say in these.
    assert sum(not each <= right for each in asked) == 1
    assert right in asked


def test_a_frame_renderer_is_asked_for_rows_and_their_halo() -> None:
    heights: list[int] = []

    @renderer(channels="grey", halo=1)
    def listening(frame: Frame, a: Tensor = param(2.0)) -> Tensor:
        heights.append(frame.stop - frame.start)
        return torch.sin(a * frame.pixels().x)

    probed(listening, (pixel(3, 4),), size=(23, 2000))
    assert max(sorted(heights)[:-1]) <= 3
    assert heights.count(2000) <= 1


@LIGHT
def test_it_is_linear_in_the_weights(source: Renderer) -> None:
    mask = torch.rand(HEIGHT, WIDTH, generator=torch.Generator().manual_seed(2), dtype=F64)
    other = torch.rand(HEIGHT, WIDTH, generator=torch.Generator().manual_seed(4), dtype=F64)
    each = [
        Region(area=Mask(m), reduce=SUM, name=n)
        for n, m in (("a", mask), ("b", other), ("c", 2 * mask - 3 * other))
    ]
    found = probed(source, tuple(each))
    for gradient in (*found.gradients.values(), found.values):
        assert off(2 * gradient[0] - 3 * gradient[1], gradient[2]) < PROBE["float64"]


def test_a_region_is_the_sum_of_its_pixels_and_a_mask_is_its_rectangle() -> None:
    box = torch.zeros(HEIGHT, WIDTH, dtype=torch.bool)
    box[2:5, 3:7] = True
    single = [pixel(x, y, name=f"{x} {y}", reduce=SUM) for y in range(2, 5) for x in range(3, 7)]
    regions = (
        Region(area=Rectangle(3, 2, 7, 5), name="box", reduce=SUM),
        Region(area=Mask(box), name="mask", reduce=SUM),
        *single,
    )
    found = probed(picture, regions)
    for values in (*found.gradients.values(), found.values):
        assert off(values[1], values[0]) < PROBE["float64"]
        assert off(values[2:].sum(0), values[0]) < PROBE["float64"]


def test_more_regions_than_are_pulled_at_once_and_each_channel() -> None:
    regions = tuple(pixel(x, 5, name=str(x), channel=EACH) for x in range(WIDTH))
    found = probed(sphere, regions)
    loaded = sphere.load("cpu", F64)
    values, gradients = oracle(loaded, bound(loaded), regions)
    assert len(found.names) == 3 * WIDTH
    assert off(found.values, values) < PROBE["float64"]
    assert off(found.gradients["light"], gradients["light"]) < PROBE["float64"]


def test_large_regions_are_confirmed_over_all_of_their_pixels() -> None:
    region = Region(area=Rectangle(0, 0, 200, 150))
    found = probed(sphere, (region,), size=(200, 150), dtype=torch.float32)
    assert found.pixels[0] == 30_000
    assert 500 < found.pixels[1] < 1100
    assert codes(found) == set()


def test_some_parameters_alone() -> None:
    found = probed(sphere, wrt=["light", "radius", "light"])
    assert list(found.gradients) == ["light", "radius"]


def test_a_parameter_that_plays_no_part_in_the_region_is_zero_without_a_word() -> None:
    corner = probed(sphere, (pixel(0, 0),), wrt=["shininess", "frequency"])
    assert not corner.gradients["shininess"].any()
    assert codes(corner) == set()


def test_at_bounds_differences_look_inwards() -> None:
    @renderer(channels="grey")
    def guarded(pixels: Pixels, a: Tensor = param((0.0, 1.0, 0.5), low=0.0, high=1.0)) -> Tensor:
        assert bool(((a >= 0) & (a <= 1)).all())
        return (a[0] + 2 * a[1] ** 2 + 3 * a[2] ** 3) * (2 + pixels.x)

    found = probed(guarded)
    right = oracle(guarded.load("cpu", F64), bound(guarded.load("cpu", F64)), REGIONS)[1]
    assert off(found.gradients["a"], right["a"]) < PROBE["float64"]
    assert codes(found) == set()


# --- derivatives that are lost --------------------------------------------------------------------


@renderer(channels="grey")
def square_apart(pixels: Pixels, a: Tensor = param(2.0)) -> Tensor:
    with torch.no_grad():
        square = a**2
    return 3 * a + square + 0 * pixels.x


@renderer(channels="grey")
def detached_square(pixels: Pixels, a: Tensor = param(2.0)) -> Tensor:
    return 3 * a + a.detach() ** 2 + 0 * pixels.x


@renderer(channels="grey")
def made_anew(pixels: Pixels, a: Tensor = param(7.0)) -> Tensor:
    return pixels.x * 0 + a.item() * 7


@renderer(channels="grey")
def straight_through(pixels: Pixels, a: Tensor = param(2.0)) -> Tensor:
    # A gradient where there is none: what is added is its own opposite.
    return 7 * a + (a**3 - (a**3).detach()) + 0 * pixels.x


class Halved(torch.autograd.Function):
    """A product by seven whose backward formula is wrong."""

    @staticmethod
    def forward(_ctx, x: Tensor) -> Tensor:  # type: ignore[no-untyped-def]
        return 7 * x

    @staticmethod
    def backward(_ctx, grad: Tensor) -> Tensor:  # type: ignore[no-untyped-def]
        return 3.5 * grad


@renderer(channels="grey")
def wrong_backward(pixels: Pixels, a: Tensor = param(2.0)) -> Tensor:
    return Halved.apply(a * torch.ones_like(pixels.x))


@renderer(channels="grey")
def through_numpy(pixels: Pixels, a: Tensor = param(7.0)) -> Tensor:
    return torch.from_numpy(7 * a.numpy() * np.ones(pixels.x.shape)).to(pixels.x.dtype)


@renderer(channels="grey")
def thrown_away(pixels: Pixels, a: Tensor = param(2.0)) -> Tensor:
    # In reverse mode the root's infinite slope at 0 makes NaN of what `where` throws away.
    rooted = torch.where(pixels.x < 9, 0 * a, a)
    return 7 * a + torch.where(pixels.x < 9, 0 * pixels.x, torch.sqrt(rooted))


@renderer(channels="grey")
def root_of_nothing(pixels: Pixels, a: Tensor = param(2.0)) -> Tensor:
    return 7 * a + 0 * torch.sqrt(0 * a * pixels.x)


LOST: list[tuple[Renderer, str, set[str]]] = [
    (square_apart, "forward", {"modes_differ"}),
    (detached_square, "finite_difference", {"partly_detached"}),
    (made_anew, "finite_difference", {"tangent_lost"}),
    (straight_through, "finite_difference", {"partly_detached"}),
    (wrong_backward, "finite_difference", {"partly_detached"}),
    (through_numpy, "finite_difference", set()),
    (thrown_away, "forward", set()),
    (root_of_nothing, "finite_difference", {"broken_derivative"}),
]


@READS_NUMBERS
@DTYPES
@pytest.mark.parametrize(("source", "strategy", "said"), LOST)
def test_a_lost_derivative_is_found_another_way_and_told_of(
    source: Renderer, strategy: str, said: set[str], dtype: torch.dtype
) -> None:
    regions = (pixel(3, 4), Region(area=Rectangle(0, 0, 9, 9), reduce=SUM, name="box"))
    found = probed(source, regions, dtype=dtype)
    right = np.array([7.0, 7.0 * 81])
    assert off(found.gradients["a"], right) < PROBE_BY_DIFFERENCES
    assert found.strategies == {"a": strategy}, found.choices
    assert codes(found) == said
    assert found.choices["a"].passed_over[0][0] == "reverse"


@READS_NUMBERS
def test_the_uncertified_probe_is_no_other() -> None:
    found = probed(detached_square, (pixel(3, 4),), certify=False)
    assert found.gradients["a"].tolist() == pytest.approx([7.0])


@READS_NUMBERS
def test_one_lost_parameter_does_not_take_the_others_with_it() -> None:
    @renderer(channels="grey")
    def mixed(
        pixels: Pixels,
        a: Tensor = param(2.0),
        b: Tensor = param((1.0, 3.0)),
        c: Tensor = param(0.5),
    ) -> Tensor:
        with torch.no_grad():
            apart = b[0] * b[1] ** 2
        return torch.sin(a) * pixels.x + apart + c.detach() ** 2

    found = probed(mixed, (pixel(3, 4),))
    assert found.strategies == {"a": "reverse", "b": "forward", "c": "finite_difference"}
    assert off(found.gradients["b"], np.array([[9.0, 6.0]])) < PROBE["float64"]
    assert off(found.gradients["c"], np.array([1.0])) < PROBE_BY_DIFFERENCES


def test_a_part_that_few_pixels_lose_is_found_over_all_of_them() -> None:
    @renderer(channels="grey")
    def spot(pixels: Pixels, a: Tensor = param(1.3)) -> Tensor:
        inside = pixels.x**2 + pixels.y**2 < 0.0004
        return torch.where(inside, 4000 * a.detach() ** 2, a**2)

    region = Region(area=Rectangle(0, 0, 300, 300))
    found = probed(spot, (region,), size=(300, 300))
    x = (np.arange(300) + 0.5 - 150) / 150
    inside = (x**2 + x[:, None] ** 2 < 0.0004).mean()
    right = 2.6 * (1 + inside * 3999)
    assert off(found.gradients["a"], np.array([right])) < PROBE_BY_DIFFERENCES
    assert codes(found) == {"partly_detached"}
    assert found.strategies == {"a": "finite_difference"}


# --- what has no derivative -----------------------------------------------------------------------


@renderer(channels="grey")
def hard_disc(pixels: Pixels, radius: Tensor = param(0.5, low=0.1, high=0.9)) -> Tensor:
    return (pixels.x**2 + pixels.y**2 < radius**2).to(pixels.x.dtype)


def test_a_hard_edge_is_told_of_and_is_not_taken_for_zero() -> None:
    region = Region(area=Rectangle(0, 0, 100, 100))
    found = probed(hard_disc, (region,), size=(100, 100))
    assert {"edges_suspected", "unverified"} <= codes(found)
    assert off(found.gradients["radius"], np.array([2 * np.pi * 0.5 / 4])) < PROBE_COARSE


def test_a_hard_edge_beside_what_is_smooth_is_told_of() -> None:
    @renderer(channels="grey")
    def shaded(pixels: Pixels, radius: Tensor = param(0.5, low=0.1, high=0.9)) -> Tensor:
        inside = pixels.x**2 + pixels.y**2 < radius**2
        return torch.where(inside, 1 + radius * pixels.x, 0.3 * radius + 0 * pixels.x)

    region = Region(area=Rectangle(0, 0, 60, 60))
    assert "edges_suspected" in codes(probed(shaded, (region,), size=(60, 60)))


def test_a_quantised_image_is_told_of() -> None:
    @renderer(channels="grey")
    def levels(pixels: Pixels, a: Tensor = param(1.0)) -> Tensor:
        return torch.round(50 * a * (2 + pixels.x)) / 50

    region = Region(area=Rectangle(0, 0, WIDTH, HEIGHT))
    found = probed(levels, (region,))
    assert {"quantised_output", "unverified"} <= codes(found)
    assert off(found.gradients["a"], np.array([2.0])) < PROBE_COARSE


def test_a_kink_keeps_the_derivative_of_a_side() -> None:
    @renderer(channels="grey")
    def bent(pixels: Pixels, a: Tensor = param(1.0)) -> Tensor:
        return torch.relu(a - 1) * (2 + pixels.x) + a

    found = probed(bent, (pixel(3, 4, reduce=SUM),))
    assert found.gradients["a"].tolist() == [1.0]
    assert codes(found) == {"non_smooth_point"}


@renderer(channels="grey")
def root(pixels: Pixels, a: Tensor = param(1.5)) -> Tensor:
    """No number to the left."""
    return torch.sqrt(pixels.x + 0 * a) * a**2


@DTYPES
def test_a_pixel_that_is_no_number_is_kept_and_counted(dtype: torch.dtype) -> None:
    regions = (
        Region(area=Rectangle(10, 2, 14, 3), name="across"),
        Region(area=Rectangle(12, 2, 14, 3), name="right"),
    )
    found = probed(root, regions, dtype=dtype)
    assert np.isnan(found.values).tolist() == [True, False]
    assert np.isnan(found.gradients["a"]).tolist() == [True, False]
    x = (np.array([12, 13]) + 0.5 - WIDTH / 2) * 2 / HEIGHT
    right = np.sqrt(x).mean() * 3.0
    assert found.gradients["a"][1] == pytest.approx(right, rel=1e-5)
    (said,) = (finding for finding in found.findings if finding.code == "non_finite")
    assert said.pixels == ((2, 10),)
    assert "1 pixels" in said.detail


def test_an_image_that_is_never_the_same_is_told_of() -> None:
    @renderer(channels="grey")
    def noisy(pixels: Pixels, a: Tensor = param(1.0)) -> Tensor:
        return a * pixels.x + torch.rand_like(pixels.x)

    found = probed(noisy, (pixel(3, 4),))
    assert codes(found) == {"not_deterministic", "unverified"}
    assert not found.choices["a"].judged


def test_a_random_renderer_is_asked_with_its_seed() -> None:
    @renderer(channels="grey", random=True)
    def grainy(pixels: Pixels, a: Tensor = param(1.5), *, seed: int = 0) -> Tensor:
        return a**2 * torch.sin(pixels.x * (1 + seed))

    found = [probed(grainy, (pixel(3, 4),), seed=seed) for seed in (0, 3)]
    x = (3.5 - WIDTH / 2) * 2 / HEIGHT
    for each, factor in zip(found, (1, 4), strict=True):
        assert each.gradients["a"].tolist() == pytest.approx([3 * np.sin(factor * x)])
        assert codes(each) == set()


def test_pixels_that_depend_on_each_other_are_computed_whole() -> None:
    @renderer(channels="grey")
    def by_the_mean(pixels: Pixels, a: Tensor = param(1.0)) -> Tensor:
        image = (a * pixels.x).exp()
        return image / image.mean()

    regions = (pixel(3, 4), Region(area=Rectangle(2, 2, 9, 9), name="box"))
    found = probed(by_the_mean, regions)
    loaded = by_the_mean.load("cpu", F64)
    _, right = oracle(loaded, bound(loaded), regions)
    assert codes(found) == {"tile_dependent"}
    assert found.whole
    assert off(found.gradients["a"], right["a"]) < PROBE["float64"]


def test_a_halo_that_is_too_small_is_found() -> None:
    @renderer(channels="grey", halo=0)
    def rolled(frame: Frame, a: Tensor = param(2.0)) -> Tensor:
        image = torch.sin(a * frame.pixels().y + frame.pixels().x)
        return image / image.mean(dim=0)

    regions = (pixel(3, 4), Region(area=Rectangle(2, 2, 9, 9), name="box"))
    found = probed(rolled, regions)
    loaded = rolled.load("cpu", F64)
    _, right = oracle(loaded, bound(loaded), regions)
    assert codes(found) == {"halo_too_small"}
    assert off(found.gradients["a"], right["a"]) < PROBE["float64"]


def test_a_backward_formula_that_cannot_be_batched_is_run_one_by_one() -> None:
    class Picky(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x: Tensor) -> Tensor:  # type: ignore[no-untyped-def]
            ctx.save_for_backward(x)
            return x**2

        @staticmethod
        def backward(ctx, grad: Tensor) -> Tensor:  # type: ignore[no-untyped-def]
            if float(grad.sum()) == -1e9:  # a number is read, which no batch has
                raise AssertionError
            return 2 * ctx.saved_tensors[0] * grad

    @renderer(channels="grey")
    def squared(pixels: Pixels, a: Tensor = param((2.0, 0.5))) -> Tensor:
        return Picky.apply(a[0] * pixels.x + a[1])

    found = probed(squared)

    @renderer(channels="grey")
    def plain(pixels: Pixels, a: Tensor = param((2.0, 0.5))) -> Tensor:
        return (a[0] * pixels.x + a[1]) ** 2

    loaded = plain.load("cpu", F64)
    _, right = oracle(loaded, bound(loaded), REGIONS)
    assert found.strategies == {"a": "reverse"}
    assert off(found.gradients["a"], right["a"]) < PROBE["float64"]


def test_a_renderer_with_a_derivative_of_its_own_and_no_other() -> None:
    @renderer(channels="grey")
    class Foreign:
        def __init__(self, device: torch.device, dtype: torch.dtype) -> None:
            pass

        def render(self, pixels: Pixels, a: Tensor = param(2.0)) -> Tensor:
            return torch.from_numpy(pixels.x.numpy() * a.numpy() ** 2)

        def jvp(self, pixels: Pixels, params, tangents):  # type: ignore[no-untyped-def]
            a = params["a"]
            tangent = 2 * a * tangents["a"] * pixels.x
            return self.render(pixels, a)[..., None], tangent[..., None]

    found = probed(Foreign, (pixel(3, 4),))
    assert found.strategies == {"a": "native"}
    assert found.gradients["a"].tolist() == pytest.approx([4 * (3.5 - WIDTH / 2) * 2 / HEIGHT])


# --- memory ---------------------------------------------------------------------------------------


def test_what_is_tried_on_a_few_pixels_gathers_no_more_than_their_weights() -> None:
    loaded = sphere.load("cpu", torch.float32)
    region = Region(area=Mask(torch.ones(600, 800)))
    areas = weighted([region, replace(region, weight=2.0)], loaded.spec, 800, 600)
    params = placed(loaded, bound(loaded))
    asked = Asked(loaded, params, areas, 800, 600, seed=0, budget=1 << 28)
    few = sampled(asked)
    assert 400 < len(few.rows().nonzero()) <= 600
    assert 900 < int(few.rows().sum()) <= 2048
    (piece,) = pieces(few, 4096)
    # The regions look at the same pixels, wherever either was drawn.
    assert torch.equal(piece.weights.region.bincount(), torch.tensor([len(piece.pixels)] * 2))
    second = few.only(1, 1)
    assert torch.equal(second.rows() * 2, few.rows())
    assert float(next(pieces(second, 4096)).weights.value[0]) == pytest.approx(2 / 480_000)


def test_memory_that_is_refused_halves_the_pieces() -> None:
    sizes: list[int] = []

    @renderer(channels="grey")
    def greedy(pixels: Pixels, a: Tensor = param(2.0)) -> Tensor:
        sizes.append(pixels.x.numel())
        if pixels.x.numel() > 700:
            raise torch.OutOfMemoryError("too much")
        return torch.sin(a * pixels.x + pixels.y)

    region = Region(area=Rectangle(0, 0, 60, 50))
    found = probed(greedy, (region,), size=(60, 50), certify=False)
    x = (np.arange(60) + 0.5 - 30) * 2 / 50
    y = (25 - np.arange(50) - 0.5) * 2 / 50
    right = (x * np.cos(2 * x + y[:, None])).mean()
    assert max(sizes) > 700
    assert found.gradients["a"].tolist() == pytest.approx([right])


def test_a_single_pixel_that_does_not_fit_is_an_error() -> None:
    @renderer(channels="grey")
    def insatiable(pixels: Pixels, a: Tensor = param(2.0)) -> Tensor:
        raise torch.OutOfMemoryError("too much")

    with pytest.raises(DeviceMemoryError):
        probed(insatiable, (pixel(3, 4),))


# --- bad input ------------------------------------------------------------------------------------


def test_values_that_are_not_the_parameters_are_refused() -> None:
    loaded = sphere.load("cpu", F64)
    good = bound(loaded)
    bad: list[tuple[dict[str, Tensor], str, str]] = [
        ({**good, "light": good["light"].float()}, "mixed_dtype", "params"),
        ({n: v.long() for n, v in good.items()}, "mixed_dtype", "params"),
        ({**good, "light": good["light"][:2]}, "invalid_shape", "params.light"),
        ({**good, "lihgt": good["light"]}, "unknown_parameter", "params"),
        ({n: v for n, v in good.items() if n != "light"}, "missing_parameter", "params"),
    ]
    for params, code, field in bad:
        with pytest.raises(ParameterError) as refused:
            probe(loaded, params, [pixel(1, 1)], width=WIDTH, height=HEIGHT)
        assert (refused.value.code, refused.value.field) == (code, field)
    for wrt in (["lihgt"], []):
        with pytest.raises(ParameterError) as unknown:
            probe(loaded, good, [pixel(1, 1)], width=WIDTH, height=HEIGHT, wrt=wrt)
        assert (unknown.value.code, unknown.value.field) == ("unknown_parameter", "wrt")


def test_parameters_of_one_other_dtype_are_brought_to_the_renderers() -> None:
    loaded = sphere.load("cpu", F64)
    params = {name: value.float() for name, value in bound(loaded).items()}
    found = probe(loaded, params, [pixel(11, 8)], width=WIDTH, height=HEIGHT)
    assert off(found.gradients["light"], probed(loaded, (pixel(11, 8),)).gradients["light"]) < 1e-5


def test_a_region_outside_of_the_frame_is_an_engine_error_with_its_field() -> None:
    with pytest.raises(EngineError, match="smaller than the probe names") as refused:
        probed(sphere, (pixel(WIDTH, 0),))
    assert (refused.value.code, refused.value.field) == ("outside_frame", "regions")


def test_what_the_renderer_raises_is_told_as_its_own() -> None:
    @renderer(channels="grey")
    def broken(pixels: Pixels, a: Tensor = param(2.0)) -> Tensor:
        raise ValueError("no such mesh")

    with pytest.raises(RenderError, match="no such mesh"):
        probed(broken, (pixel(3, 4),))


LARGE = torch.ones(300, 300)


def test_an_image_of_too_many_entries_is_not_moved_one_by_one() -> None:
    @renderer(channels="grey")
    def large(pixels: Pixels, texels: Tensor = param(LARGE)) -> Tensor:
        return pixels.x * texels.detach().mean()

    with pytest.raises(EngineError, match="too many entries"):
        probed(large, (pixel(3, 4),))


def test_an_answer_describes_itself_in_plain_data() -> None:
    found = probed(square_apart, (pixel(3, 4),))
    said = found.choices["a"].describe()
    assert said["strategy"] == "forward"
    assert said["passed_over"][0]["strategy"] == "reverse"
    assert said["warnings"][0]["code"] == "modes_differ"
    assert replace(found.choices["a"], judged=False).describe()["judged"] is False
    assert Points(((1, 1),)).total() == 1
