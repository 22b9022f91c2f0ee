"""Sweeps as a kind of work: what is shared by the frames, and what is said of each."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from app.compute.here import compute
from app.compute.kinds import Run, maps, sweep
from app.compute.studio import Studio
from app.compute.work import Result, Work
from app.engine import CancelledError, Progress, RenderError, method, several
from renderers import ParameterError, Pixels, Registry, Renderer, param, parse_subject, renderer
from renderers.disc import disc
from tests.closed_forms import disc_map
from tests.tolerances import CLOSED_FORM_FLOAT32, CLOSED_FORM_FLOAT64

WIDTH, HEIGHT = 24, 16
RADII = [0.7, 0.3, 0.5]
# Small, so that a frame has several bands.
BUDGET = 1 << 20


@renderer(channels="grey")
def fragile(pixels: Pixels, gain: Tensor = param(0.0, low=-9.0, high=9.0)) -> Tensor:
    """Not finite beyond 1, and loses its derivative beyond 2. Raises beyond 3."""
    if gain > 3:
        raise ValueError("too bright")
    if gain > 2:
        return gain.detach() * pixels.x
    return gain * pixels.x * torch.where(gain > 1, torch.nan, 1.0)


@renderer(channels="grey")
def unbounded(pixels: Pixels, gain: Tensor = param(1.0, low=0.0)) -> Tensor:
    """Has no highest value."""
    return gain * pixels.x


def frame(**given: Any) -> maps.Frame:
    return maps.Frame(**{"width": WIDTH, "height": HEIGHT, **given})


def done(source: Renderer, work: Work) -> Result:
    return compute(source, work, device=torch.device("cpu"), budget=BUDGET)


def run_of(work: Work, progress: Progress = lambda *_: None) -> Run:
    arrays = {each.name: np.full(each.shape, np.nan, each.dtype) for each in work.outputs}
    return Run(arrays, progress, lambda: False)


def swept(
    source: Renderer,
    wrt: str | list[str],
    along: str,
    values: list[float],
    *,
    second: str = "",
    **given: Any,
) -> Result:
    subject = parse_subject(source.spec.params, wrt=wrt)
    work = sweep.work(
        source.spec, frame(**given), subject, along=along, values=values, second=second
    )
    return done(source, work)


def alone(
    wrt: str | list[str], each: list[Mapping[str, Any]], second: str = ""
) -> list[tuple[Any, dict[str, Any]]]:
    """The arrays and the facts of single maps of the disc, one request after another."""
    studio, subject = studio_of(disc), parse_subject(disc.spec.params, wrt=wrt)
    found = []
    for params in each:
        work = maps.work(disc.spec, frame(params=params), subject, second=second)
        run = run_of(work)
        facts = maps.do(studio, work, run)
        found.append((run.arrays, facts))
    return found


def studio_of(source: Renderer) -> Studio:
    return Studio(Registry().add(source), torch.device("cpu"), BUDGET, {})


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("wrt", ["radius", "colour", "centre"])
def test_each_frame_has_the_values_of_its_closed_form(wrt: str, dtype: str) -> None:
    tolerance = {"float32": CLOSED_FORM_FLOAT32, "float64": CLOSED_FORM_FLOAT64}[dtype]
    stack = swept(disc, wrt, "radius", RADII, dtype=dtype).arrays[wrt]
    for values, radius in zip(stack, RADII, strict=True):
        right = disc_map(WIDTH, HEIGHT, radius, wrt)
        np.testing.assert_allclose(values, right, rtol=0, atol=tolerance * np.abs(right).max())


@pytest.mark.parametrize(
    ("wrt", "second"), [("radius", ""), (["colour[1]", "centre"], ""), ("radius", "softness")]
)
def test_a_frame_has_the_bits_of_the_map_alone(wrt: str | list[str], second: str) -> None:
    whole = swept(disc, wrt, "radius", RADII, second=second).arrays
    ones = alone(wrt, [{"radius": radius} for radius in RADII], second)
    for number, (one, _) in enumerate(ones):
        assert one.keys() == whole.keys()
        assert all((whole[name][number] == one[name]).all() for name in one)


def test_an_entry_is_swept_and_the_others_stay_as_they_are_given() -> None:
    given = {"colour": [0.9, 0.8, 0.7], "radius": 0.4}
    stack = swept(disc, "radius", "colour[1]", [0.0, 0.25], params=given).arrays["radius"]
    ones = alone("radius", [given | {"colour": [0.9, green, 0.7]} for green in (0.0, 0.25)])
    for values, (one, _) in zip(stack, ones, strict=True):
        assert (values == one["radius"]).all()
    assert (stack[0] != stack[1]).any()


def counted(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How often it is found out how a parameter is differentiated, and a tile recorded."""
    counts = {"find_method": 0, "record": 0}

    def counting(module: Any, name: str) -> None:
        plain = getattr(module, name)

        def told(*args: Any, **words: Any) -> Any:
            counts[name] += 1
            return plain(*args, **words)

        monkeypatch.setattr(module, name, told)

    counting(several, "find_method")
    counting(method, "record")
    return counts


def test_all_frames_share_one_recording(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = counted(monkeypatch)
    one = swept(disc, "radius", "radius", RADII[:1])
    assert one.facts["tiles"] == "recorded"
    first = dict(counts)
    assert first["find_method"] == 1
    assert first["record"] >= 1
    many = swept(disc, "radius", "radius", [*RADII, 0.1, 0.9, 1.2])
    assert many.facts["tiles"] == "recorded"
    assert counts == {name: 2 * count for name, count in first.items()}


def test_a_first_derivative_is_shared_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = counted(monkeypatch)
    swept(disc, "radius", "radius", RADII[:1], second="softness")
    first = dict(counts)
    swept(disc, "radius", "radius", RADII, second="softness")
    assert counts == {name: 2 * count for name, count in first.items()}


def test_progress_is_of_all_frames_and_a_cancel_is_heard_between_them() -> None:
    work = sweep.work(disc.spec, frame(), parse_subject(disc.spec.params, wrt="radius"),
                      along="radius", values=RADII)  # fmt: skip
    told: list[tuple[int, int]] = []
    run, studio = run_of(work, lambda *step: told.append(step)), studio_of(disc)
    sweep.do(studio, work, run)
    assert [total for _, total in told] == [3 * HEIGHT] * len(told)
    rows = [rows for rows, _ in told]
    assert rows == sorted(set(rows))
    assert rows[-1] == 3 * HEIGHT
    assert not np.isnan(run.arrays["radius"]).any()

    told.clear()
    run = run_of(work, run.progress)
    with pytest.raises(CancelledError):
        sweep.do(studio, work, replace(run, cancelled=lambda: told[-1:] == [(16, 48)]))
    assert not np.isnan(run.arrays["radius"][0]).any()
    assert np.isnan(run.arrays["radius"][1:]).all()


def test_a_value_that_cannot_be_rendered_is_named() -> None:
    with pytest.raises(RenderError, match=r"^In frame 2, where gain = 3\.5: .*too bright") as told:
        swept(fragile, "gain", "gain", [0.0, 0.5, 3.5, 0.0])
    assert told.value.code == "renderer_failed"


def test_what_is_found_names_its_frames() -> None:
    facts = swept(fragile, "gain", "gain", [0.5, 1.5, 1.25, 0.0, 1.125]).facts
    warning, other = facts["certificate"]["warnings"]
    assert (warning["code"], warning["frames"]) == ("non_finite", [1, 2, 4])
    assert (other["code"], other["frames"]) == ("unverified", [1, 2, 4])
    assert not facts["certificate"]["judged"]
    size = WIDTH * HEIGHT
    assert f"(frames 1-2, 4) In frame 1: {size} of {size}." in warning["message"]
    assert [each["each"][0]["nan"] for each in facts["frames"]] == [0, size, size, 0, size]
    assert facts["statistics"]["nan"] == 3 * size


def test_strategies_that_differ_are_all_named_and_each_frame_has_its_own() -> None:
    facts = swept(fragile, "gain", "gain", [0.5, 2.5]).facts
    assert facts["strategy"] == "forward;finite_difference"
    assert [each["strategy"] for each in facts["frames"]] == ["forward", "finite_difference"]
    (warning,) = facts["certificate"]["warnings"]
    assert (warning["code"], warning["frames"]) == ("tangent_lost", [1])
    assert "(frame 1)" in warning["message"]


def test_what_holds_for_all_is_said_of_all() -> None:
    whole = swept(disc, ["radius", "softness"], "radius", RADII)
    each = [{"radius": radius} for radius in RADII]
    ones = [facts for _, facts in alone(["radius", "softness"], each)]
    assert whole.facts["statistics"]["max"] == max(one["statistics"]["max"] for one in ones)
    assert whole.facts["statistics"]["size"] == sum(one["statistics"]["size"] for one in ones)
    assert [frame["each"] for frame in whole.facts["frames"]] == [one["each"] for one in ones]
    worst = max(one["certificate"]["relative"] for one in ones)
    assert whole.facts["certificate"]["relative"] == worst
    assert whole.facts["certificate"]["warnings"] == []


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"values": [0.5, 0.1]}, [0.5, 0.1]),
        ({"low": 0.25, "high": 1.0, "frames": 4}, [0.25, 0.5, 0.75, 1.0]),
        ({"low": 1.0, "high": 0.25, "frames": 4}, [1.0, 0.75, 0.5, 0.25]),
        ({"frames": 2}, [0.05, 1.5]),
        ({"low": 1.0, "frames": 2}, [1.0, 1.5]),
        ({"high": 1.0, "frames": 2}, [0.05, 1.0]),
        ({"low": 0.3, "high": 0.3, "frames": 1}, [0.3]),
    ],
)
def test_values_are_given_or_lie_evenly(asked: dict[str, Any], expected: list[float]) -> None:
    assert sweep.values_along(disc.spec, "radius", **asked) == pytest.approx(expected, rel=1e-12)


def test_a_range_ends_where_the_parameter_does_to_the_bit() -> None:
    values = sweep.values_along(disc.spec, "radius")
    assert len(values) == 24
    assert (values[0], values[-1]) == (0.05, 1.5)


@pytest.mark.parametrize(
    ("source", "along", "asked", "code", "field"),
    [
        (disc, "radios", {}, "unknown_parameter", "along"),
        (disc, "colour", {}, "not_a_number", "along"),
        (disc, "colour[3]", {}, "unknown_entry", "along"),
        (disc, "radius", {"values": [0.5], "low": 0.1}, "values_and_range", "values"),
        (disc, "radius", {"values": [0.5], "frames": 1}, "values_and_range", "values"),
        (disc, "radius", {"low": 0.01}, "out_of_range", "low"),
        (disc, "radius", {"high": 9.0}, "out_of_range", "high"),
        (disc, "radius", {"low": 0.3, "high": 0.3}, "empty_range", "high"),
        (unbounded, "gain", {"low": 1.0}, "no_range", "high"),
    ],
)
def test_a_range_that_is_none_is_refused(
    source: Renderer, along: str, asked: dict[str, Any], code: str, field: str
) -> None:
    with pytest.raises(ParameterError) as refused:
        sweep.values_along(source.spec, along, **asked)
    assert (refused.value.code, refused.value.field) == (code, field)


def test_a_value_out_of_bounds_is_refused_with_its_frame() -> None:
    subject = parse_subject(disc.spec.params, wrt="radius")
    with pytest.raises(ParameterError, match=r"^Frame 1: .*'colour\[2\]'.*between 0 and 1; got 2"):
        sweep.work(disc.spec, frame(), subject, along="colour[2]", values=[0.5, 2.0])
