"""What a renderer's author wants to know of each parameter: is it differentiated right, and how."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor

from app.engine import plan as planning
from app.engine.calibration import calibrated
from app.engine.errors import EngineError
from app.engine.findings import Finding
from app.engine.ladder import Verdict
from app.engine.method import Method
from app.engine.recording import MOST
from app.engine.search import find_method
from app.engine.sensitivity import sensitivity_map
from app.engine.strategies.edge import edge
from app.engine.task import Task
from renderers import Loaded, RendererError, Subject, Wrt, parse_wrt

# Frame on which a parameter is checked, and the larger one on which it is timed.
WIDTH, HEIGHT = 160, 120
TIMED_WIDTH, TIMED_HEIGHT = 512, 384
TURNS = 3
# Side of the frame whose bands are told of.
LARGE = 2048
# A map of every entry of an image-shaped parameter holds an image for each: of more entries than
# these, the middle one is checked.
MOST_ENTRIES = 64
# Findings that leave a map right: all there is to say of them is said.
HARMLESS = frozenset({"modes_differ", "non_smooth_point", "non_finite"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What was found out about a parameter.

    Attributes:
        wrt: the parameter, or the entry that stands for one of many entries.
        strategy: how it is differentiated; empty when it cannot be rendered at all.
        passed_over: the strategies above, with what spoke against each.
        relative: disagreement with differences, over the largest derivative.
        findings: warnings, with what to change in the code.
        whole: whether the frame must be computed in one piece.
        bytes_per_pixel: working memory of a map.
        band: pixels that are computed at once, of a frame that has as many, under the usual budget.
        ratio: seconds of a map over seconds of the primal image.
        unrecorded: why tiles are run by the renderer itself and not replayed, or an empty string.
        error: why it cannot be rendered, or an empty string.
    """

    wrt: str
    strategy: str = ""
    passed_over: tuple[tuple[str, str], ...] = ()
    relative: float = 0.0
    findings: tuple[Finding, ...] = ()
    whole: bool = False
    bytes_per_pixel: float = 0.0
    band: int = 0
    ratio: float = 0.0
    unrecorded: str = ""
    error: str = ""

    @property
    def clean(self) -> bool:
        """Whether an author has nothing to change."""
        return not self.error and not self.harmful

    @property
    def harmful(self) -> tuple[Finding, ...]:
        """Findings that leave a map doubtful, or ask for a change of the code."""
        followed = frozenset({"edges_suspected"} if self.strategy == edge.name else ())
        return tuple(each for each in self.findings if each.code not in HARMLESS | followed)

    def describe(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "wrt": self.wrt,
            "strategy": self.strategy,
            "passed_over": [
                {"strategy": name, "reason": reason} for name, reason in self.passed_over
            ],
            "relative": self.relative,
            "warnings": [finding.describe() for finding in self.findings],
            "whole": self.whole,
            "bytes_per_pixel": self.bytes_per_pixel,
            "band": self.band,
            "ratio": self.ratio,
            "unrecorded": self.unrecorded,
            "error": self.error,
            "clean": self.clean,
        }


def check(loaded: Loaded, params: Mapping[str, Tensor], name: str) -> Report:
    """Differentiate against one parameter, compare, and measure.

    Args:
        loaded: the renderer on its device.
        params: values of all parameters, as `Spec.bind` gives them.
        name: the parameter, or an entry of one.
    """
    wrt = _one_of_many(parse_wrt(name, loaded.spec.params))
    name = str(wrt)
    task = Task(params=params, subject=Subject((wrt,)), width=WIDTH, height=HEIGHT)
    try:
        method = calibrated(loaded, task, find_method(loaded, task, limit=MOST))
        result = sensitivity_map(loaded, task, method=method)
    except (EngineError, RendererError) as error:
        return Report(wrt=name, error=str(error))
    assert result.certificate is not None  # noqa: S101 - it was asked for
    cost = result.method.cost
    return Report(
        wrt=name,
        strategy=result.strategy,
        passed_over=result.method.verdict.passed_over,
        relative=result.certificate.relative,
        findings=result.certificate.findings,
        whole=result.method.verdict.whole,
        bytes_per_pixel=cost.a_pixel(min(1, task.tangents)),
        band=_band(loaded, result.method),
        ratio=_ratio(loaded, task, result.method, wrt),
        unrecorded=result.method.unrecorded,
    )


def _band(loaded: Loaded, method: Method) -> int:
    """Pixels of a band of a large frame."""
    plan = planning.choose(
        method.cost,
        width=LARGE,
        height=LARGE,
        tangents=1,
        budget=planning.DEFAULT_BUDGET,
        device=loaded.device,
        whole=method.verdict.whole,
    )
    return plan.rows * LARGE


def _one_of_many(wrt: Wrt) -> Wrt:
    """The parameter, or its middle entry where it has too many."""
    if wrt.size <= MOST_ENTRIES:
        return wrt
    return replace(wrt, index=(*wrt.index, *(length // 2 for length in wrt.shape)), shape=())


def _ratio(loaded: Loaded, task: Task, method: Method, wrt: Wrt) -> float:
    """Seconds of a map of one entry over seconds of the image."""
    task = replace(task, width=TIMED_WIDTH, height=TIMED_HEIGHT)
    entry = replace(wrt, index=(*wrt.index, *[0] * len(wrt.shape)), shape=())
    mapped = replace(task, certify=False, subject=Subject((entry,)))
    primal = replace(task, certify=False, subject=Subject())
    verdict = replace(method.verdict, steps=method.verdict.steps[:1])
    image = Method(Verdict(strategy="primal", whole=verdict.whole), method.cost)

    def seconds(asked: Task, how: Method) -> float:
        started = time.perf_counter()
        sensitivity_map(loaded, asked, method=how)
        return time.perf_counter() - started

    # Turn by turn, the first of each to warm up: whatever else the machine does only ever adds.
    ways = ((mapped, replace(method, verdict=verdict)), (primal, image))
    taken = [[seconds(*way) for way in ways] for _ in range(TURNS)][1:]
    of_map, of_image = (min(each) for each in zip(*taken, strict=True))
    return float(of_map / of_image)
