"""The renderers on the device, and what is known of each."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch

from app.compute.segment import Segment
from app.compute.work import Work
from app.engine import (
    MOST,
    Arrays,
    Method,
    Progress,
    SensitivityMap,
    Task,
    check,
    find_method,
    sensitivity_map,
    with_recording,
    without_paths,
)
from renderers import Loaded, LoadError, Registry, parse_wrt, reason

# Side of the frame that a renderer is probed with.
PROBED = 512
DTYPES = {"float32": torch.float32, "float64": torch.float64}


class Studio:
    """Loads renderers when they are first asked for, and remembers how each is differentiated."""

    def __init__(
        self,
        registry: Registry,
        device: torch.device,
        budget: int,
        options: Mapping[str, Mapping[str, str]],
    ) -> None:
        self.registry = registry
        self.device = device
        self.budget = budget
        self.options = options
        self._loaded: dict[tuple[str, str], Loaded] = {}
        self._methods: dict[tuple[str, ...], Method] = {}
        self._postponed: dict[tuple[str, ...], tuple[Loaded, Task]] = {}

    def loaded(self, name: str, dtype: str) -> Loaded:
        """A renderer on the device; loaded when it is first asked for in that dtype."""
        key = (name, dtype)
        if key not in self._loaded:
            source = self.registry.get(name)
            try:
                loaded = source.load(self.device, DTYPES[dtype], self.options.get(name))
            except (Exception, SystemExit) as error:  # foreign code
                raise LoadError(without_paths(reason(error))) from error
            self._loaded[key] = loaded
        return self._loaded[key]

    def load_all(self, loading: Callable[[str], None], skip: Mapping[str, str]) -> None:
        """Load every renderer once, so that a missing file is known before it is asked for."""
        for name in self.registry.names():
            if name in skip:
                self.registry = self.registry.fail(name, skip[name])
                continue
            loading(name)
            try:
                self.loaded(name, "float32")
            except LoadError as error:
                self.registry = self.registry.fail(name, str(error))

    def unknown(self) -> Iterator[tuple[str, str]]:
        """Renderers and parameters of which it is not known yet how they are differentiated."""
        for name in self.registry.names():
            for wrt in self.registry.get(name).spec.params:
                if (name, wrt, "float32", "auto") not in self._methods:
                    yield name, wrt

    def probe(self, name: str, wrt: str) -> dict[str, Any]:
        """Find out how a parameter is differentiated, at the default values."""
        loaded = self.loaded(name, "float32")
        params = loaded.spec.bind({})
        task = Task(params=params, wrt=parse_wrt(wrt, loaded.spec.params), width=PROBED,
                    height=PROBED)  # fmt: skip
        method = find_method(loaded, task)
        self._methods[(name, wrt, "float32", "auto")] = method
        return method.verdict.describe()

    @property
    def waiting(self) -> str:
        """The renderer of which a recording is to be made next; empty where there is none."""
        return next(reversed(self._postponed))[0] if self._postponed else ""

    def record_one(self) -> None:
        """Make a recording that would have kept a caller waiting."""
        key, (loaded, task) = self._postponed.popitem()
        self._methods[key] = with_recording(loaded, task, self._methods[key], MOST)

    def check(self, work: Work) -> list[dict[str, Any]]:
        """A report on each of the parameters asked for, or on all of them."""
        loaded = self.loaded(work.renderer, work.dtype)
        params = loaded.spec.bind(work.params)
        names = [work.wrt] if work.wrt else list(loaded.spec.params)
        return [check(loaded, params, name).describe() for name in names]

    def compute(
        self, work: Work, segment: Segment, progress: Progress, cancelled: Callable[[], bool]
    ) -> SensitivityMap:
        """Compute a map into the segment."""
        loaded = self.loaded(work.renderer, work.dtype)
        task = Task(
            params=loaded.spec.bind(work.params),
            wrt=parse_wrt(work.wrt, loaded.spec.params) if work.wrt else None,
            width=work.width,
            height=work.height,
            seed=work.seed,
            strategy=work.strategy,
            certify=work.certify,
        )
        key = (work.renderer, work.wrt, work.dtype, work.strategy)
        if key not in self._methods:
            self._methods[key] = find_method(loaded, task)
        image, values = work.arrays(segment)
        result = sensitivity_map(
            loaded,
            task,
            budget=self.budget,
            method=self._methods[key],
            out=Arrays(image=image, values=values),
            progress=progress,
            cancelled=cancelled,
        )
        # Another one than was known, where that did not hold at these values.
        self._methods[key] = result.method
        if result.method.postponed:
            self._postponed[key] = (loaded, task)
        return result


def warm_up() -> None:
    """Differentiate something small once: torch loads seconds' worth of Python at its first jvp."""
    one = torch.ones(())
    with torch.no_grad():
        torch.func.jvp(lambda value: (value * torch.ones(4)).sin() + torch.ones(4), (one,), (one,))


def facts(result: SensitivityMap) -> dict[str, Any]:
    """What is said of a finished map beside its arrays."""
    return {
        "strategy": result.strategy,
        "statistics": result.statistics.describe(),
        "rows": result.plan.rows,
        "tangents": result.plan.tangents,
        "halvings": result.halvings,
        "seconds": result.seconds,
        "peak_bytes": result.peak_bytes,
        "tiles": "recorded" if result.recorded else "eager",
        "unrecorded": without_paths(result.method.unrecorded),
        "certificate": result.certificate and result.certificate.describe(),
    }
