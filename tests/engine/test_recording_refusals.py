"""What is not recorded, or was once wrong: the renderer itself is run, and answers say so."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from app.engine import Task, find_method, sensitivity_map
from app.engine.method import with_recording
from app.engine.recording import MOST, PROMPT, UnrecordableError, record
from app.engine.strategies import STRATEGIES
from renderers import Loaded, Pixels, Renderer, load, param, renderer
from renderers.disc import disc
from renderers.sphere import sphere
from tests.engine.conftest import task_of

REGISTRY = load(plugins=False)


def at(loaded: Loaded, wrt: str = "radius", **params: object) -> Task:
    return task_of(loaded, wrt, size=(64, 48), **params)


def refused(source: Renderer, wrt: str = "p", strategy: str = "forward") -> str:
    loaded = source.load("cpu", torch.float32)
    with pytest.raises(UnrecordableError) as caught:
        record(loaded, at(loaded, wrt), STRATEGIES[strategy], PROMPT)
    return caught.value.code


# --- what is refused ------------------------------------------------------------------------------


@renderer(channels="grey")
def branching(pixels: Pixels, p: Tensor = param(0.5)) -> Tensor:
    return p * pixels.x if pixels.x[0] > 0 else p * pixels.y


@renderer(channels="grey")
def branching_on_its_parameter(pixels: Pixels, p: Tensor = param(0.5)) -> Tensor:
    return p * pixels.x if float(p) > 0.3 else p * pixels.y


@renderer(channels="grey")
def hiding_a_failure(pixels: Pixels, p: Tensor = param(0.5)) -> Tensor:
    try:
        return p * pixels.x * float(pixels.y.max())
    except Exception:  # noqa: BLE001
        return p * pixels.y


@renderer(channels="grey")
def masking(pixels: Pixels, p: Tensor = param(0.5)) -> Tensor:
    image = torch.zeros_like(pixels.x)
    inside = pixels.x > 0
    return image.masked_scatter(inside, (p * pixels.x)[inside])


@renderer(channels="grey")
def through_numpy(
    pixels: Pixels, p: Tensor = param(0.5), q: Tensor = param(1.0, low=0.5, high=2.0)
) -> Tensor:
    return p * pixels.x * torch.from_numpy(np.asarray(q.detach().numpy(), dtype=np.float32))


@renderer(channels="grey")
def by_parts(pixels: Pixels, p: Tensor = param(0.5)) -> Tensor:
    return torch.cat([p * part * part for part in pixels.x.split(1000)])


@renderer(channels="grey")
def by_slices(pixels: Pixels, p: Tensor = param(0.5)) -> Tensor:
    x = pixels.x
    return torch.cat([p * x[i : i + 1000] for i in range(0, len(x), 1000)])


@renderer(channels="grey")
def drawing(pixels: Pixels, p: Tensor = param(0.5)) -> Tensor:
    generator = torch.Generator().manual_seed(3)
    return p * pixels.x * torch.rand(5, generator=generator).sum()


@renderer(channels="grey", random=True)
def seeded(pixels: Pixels, seed: int, p: Tensor = param(0.5)) -> Tensor:
    return p * pixels.x + seed


@renderer(channels="grey")
class Writing:
    """Keeps what it is given in a buffer."""

    def __init__(self, device: torch.device, dtype: torch.dtype) -> None:
        self.buffer = torch.zeros((), device=device, dtype=dtype)

    def render(self, pixels: Pixels, p: Tensor = param(0.5), q: Tensor = param(2.0)) -> Tensor:
        self.buffer.copy_(q)
        return p * pixels.x * self.buffer


@pytest.mark.parametrize(
    ("source", "code"),
    [
        (branching, "reads_values"),
        (branching_on_its_parameter, "reads_values"),
        (hiding_a_failure, "reads_values"),
        (masking, "shaped_by_values"),
        (through_numpy, "raises"),
        (by_parts, "cuts"),
        (by_slices, "unproven"),
        (drawing, "random"),
        (seeded, "random"),
        (Writing, "raises"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.spec.name,
)
def test_what_a_replay_would_not_repeat_is_refused(source: Renderer, code: str) -> None:
    assert refused(source) == code


@pytest.mark.parametrize(
    ("source", "code"), [(through_numpy, "leaves_torch"), (Writing, "writes_in_place")]
)
def test_what_the_transform_lets_pass_on_dual_tensors_is_refused(
    source: Renderer, code: str
) -> None:
    assert refused(source, strategy="dual") == code


def test_a_refused_renderer_is_run_itself_and_the_answer_says_why() -> None:
    loaded = branching_on_its_parameter.load("cpu", torch.float64)
    result = sensitivity_map(loaded, at(loaded, "p"))
    assert result.tiles == "eager"
    assert "reads a number" in result.method.unrecorded
    assert result.values is not None
    x = (np.arange(64) + 0.5 - 32) / 24
    np.testing.assert_allclose(result.values[0, :, 0], x, rtol=1e-12)


def test_frames_foreign_strategies_and_wholes_are_refused_in_words() -> None:
    isp = REGISTRY.get("isp").load("cpu", torch.float32)
    with pytest.raises(UnrecordableError, match="frame renderer"):
        record(isp, at(isp, "exposure"), STRATEGIES["forward"], PROMPT)
    loaded = disc.load()
    with pytest.raises(UnrecordableError, match="finite_difference"):
        record(loaded, at(loaded), STRATEGIES["finite_difference"], PROMPT)
    whole = replace(loaded, spec=replace(loaded.spec, halo=None))
    with pytest.raises(UnrecordableError, match="depend on each other"):
        record(whole, at(whole), STRATEGIES["forward"], PROMPT)


def test_a_long_recording_is_postponed_and_made_with_patience() -> None:
    loaded = sphere.load("cpu", torch.float32)
    task = at(loaded, "radius")
    method = find_method(loaded, task, limit=100)
    assert method.postponed
    assert not method.recordings
    assert with_recording(loaded, task, method, 100) is method
    patient = with_recording(loaded, task, method, MOST)
    assert patient.recordings
    assert not patient.postponed


@renderer(channels="grey")
def looking_and_branching(
    pixels: Pixels, p: Tensor = param(0.5, low=0.0, high=1.0), q: Tensor = param(2.0)
) -> Tensor:
    image = p * pixels.x / pixels.pitch
    return image * float(q) if pixels.width == 40 else image


def test_what_cannot_be_recorded_for_one_frame_costs_there_what_the_renderer_costs() -> None:
    loaded = looking_and_branching.load("cpu", torch.float64)
    method = find_method(loaded, at(loaded, "p"))
    assert method.recordings
    other = task_of(loaded, "p", size=(40, 40))
    result = sensitivity_map(loaded, other, method=method)
    assert result.tiles == "eager"
    assert "reads a number" in result.method.unrecorded
    assert result.method.cost == method.plainer(loaded, other, "for a comparison").cost


# --- what once gave a wrong map -------------------------------------------------------------------


@renderer(channels="grey")
def flaring(
    pixels: Pixels, p: Tensor = param(0.5), gain: Tensor = param(0.2, low=0.0, high=1.0)
) -> Tensor:
    """A branch on what was written into a buffer."""
    v = torch.zeros(2, dtype=p.dtype)
    v[0] = gain
    return p * pixels.x * (5.0 if v.norm() > 0.5 else 1.0)


@renderer(channels="grey")
def buffered(
    pixels: Pixels, p: Tensor = param(0.5), gain: Tensor = param(0.2, low=0.0, high=1.0)
) -> Tensor:
    v = torch.zeros(2, dtype=p.dtype)
    v[0] = gain
    return p * pixels.x * (v * 2).sum()


@renderer(channels="grey")
def filtered(
    pixels: Pixels, p: Tensor = param(0.5), gain: Tensor = param(500.0, low=300.0, high=3000.0)
) -> Tensor:
    """Numbers of the code that are multiples of the numbers of positions that are recorded."""
    lit = torch.where(gain > 832, 1.0, 0.0) + torch.where(gain > 3904, 1.0, 0.0)
    return p * pixels.x * (1 + lit + gain.clamp(max=1664) / 832)


@renderer(channels="grey")
def listed(
    pixels: Pixels, p: Tensor = param(0.5), gain: Tensor = param((0.37, 0.4), low=0.0, high=1.0)
) -> Tensor:
    a, b = gain.tolist()
    return p * pixels.x * a + p * b


@renderer(channels="grey")
def rebuilt(
    pixels: Pixels, p: Tensor = param(0.5), gain: Tensor = param((0.37, 0.4), low=0.0, high=1.0)
) -> Tensor:
    return p * pixels.x * torch.tensor([gain[0], gain[1]], dtype=p.dtype).sum()


@renderer(channels="grey")
def all_at_once(
    pixels: Pixels, p: Tensor = param(0.5), gain: Tensor = param((0.37, 0.4), low=0.0, high=1.0)
) -> Tensor:
    buffers = [torch.zeros_like(gain), torch.ones_like(gain)]
    torch._foreach_add_(buffers, [gain, gain])
    return p * pixels.x * (buffers[0] * buffers[1]).sum()


@renderer(channels="grey")
def turned(
    pixels: Pixels,
    p: Tensor = param(0.5),
    gain: Tensor = param(((1.0, 0.0), (0.0, 1.0)), low=-2.0, high=2.0),
) -> Tensor:
    a = gain * 1
    b = a.detach()
    a.t_()
    return p * (pixels.x * b[0, 1] + pixels.y * a[0, 1])


@renderer(channels="grey")
def in_chunks(pixels: Pixels, p: Tensor = param(0.5), gain: Tensor = param(1.0)) -> Tensor:
    x = pixels.x
    return torch.cat([p * gain * x[i : i + 2048] for i in range(0, len(x), 2048)])


ONCE_WRONG = [
    (flaring, 0.9), (buffered, 0.9), (filtered, 1000.0), (filtered, 2500.0), (listed, (0.9, 0.1)),
    (rebuilt, (0.9, 0.1)), (all_at_once, (0.9, 0.1)), (turned, ((1.0, 0.7), (-0.3, 0.2))),
    (in_chunks, 0.7),
]  # fmt: skip


@pytest.mark.parametrize("wrt", ["p", ""])
@pytest.mark.parametrize(("source", "gain"), ONCE_WRONG, ids=lambda v: getattr(v, "spec", v))
def test_other_values_than_were_recorded_give_the_renderers_own_map(
    source: Renderer, gain: object, wrt: str
) -> None:
    loaded = source.load("cpu", torch.float64)
    first = task_of(loaded, wrt, size=(80, 64))
    method = find_method(loaded, first)
    then = task_of(loaded, wrt, size=(80, 64), gain=gain)
    result = sensitivity_map(loaded, then, method=method)
    right = sensitivity_map(loaded, then, method=method.plainer(loaded, then, "for a comparison"))
    assert np.array_equal(result.image, right.image)
    if wrt:
        assert result.values is not None and right.values is not None
        assert np.array_equal(result.values, right.values)


def test_plain_numbers_and_buffers_do_not_keep_a_renderer_from_being_recorded() -> None:
    for source in (buffered, filtered):
        loaded = source.load("cpu", torch.float64)
        assert find_method(loaded, task_of(loaded, "p", size=(80, 64))).recordings, source.spec.name
