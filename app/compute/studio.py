"""The renderers on the device, and what is known of each."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch

from app.compute.compiling import Compiler, CompileSettings, Workshop
from app.engine import (
    MOST,
    Methods,
    Task,
    calibrated,
    find_method,
    first_derivative,
    key,
    with_recording,
    without_paths,
)
from renderers import Loaded, LoadError, Registry, parse_subject, parse_wrt, reason

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
        compiling: CompileSettings | None = None,
    ) -> None:
        self.registry = registry
        self.device = device
        self.budget = budget
        self.options = options
        self._loaded: dict[tuple[str, str], Loaded] = {}
        self._methods: dict[tuple[str, str], Methods] = {}
        self._postponed: dict[tuple[str, str, str], tuple[Loaded, Task]] = {}
        self.workshop = Workshop(Compiler(compiling or CompileSettings()), self.methods)

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
                if wrt not in self.methods(name, "float32"):
                    yield name, wrt

    def probe(self, name: str, wrt: str) -> dict[str, Any]:
        """Find out how a parameter is differentiated, at the default values."""
        loaded = self.loaded(name, "float32")
        params = loaded.spec.bind({})
        subject = parse_subject(loaded.spec.params, wrt=wrt)
        task = Task(params=params, subject=subject, width=PROBED, height=PROBED)
        method = calibrated(loaded, task, find_method(loaded, task))
        self.methods(name, "float32")[key(task)] = method
        return method.verdict.describe()

    @property
    def waiting(self) -> str:
        """The renderer of which a recording is to be made next; empty where there is none."""
        return next(reversed(self._postponed))[0] if self._postponed else ""

    def record_one(self) -> None:
        """Make a recording that would have kept a caller waiting."""
        (name, dtype, which), (loaded, task) = self._postponed.popitem()
        method = self.methods(name, dtype).get(which)
        if method is not None:
            found = with_recording(loaded, task, method, MOST)
            self.methods(name, dtype)[which] = calibrated(loaded, task, found)

    def first_derivative(
        self, name: str, dtype: str, task: Task, second: str
    ) -> tuple[Loaded, str]:
        """d(image)/d(second) as a renderer, and the name under which its methods are known."""
        known = f"d({name})/d({second})"
        key = (known, dtype)
        if key not in self._loaded:
            loaded = self.loaded(name, dtype)
            wrt = parse_wrt(second, loaded.spec.params)
            self._loaded[key] = first_derivative(loaded, task, wrt)
        return self._loaded[key], known

    def methods(self, name: str, dtype: str) -> Methods:
        """What is known of how a renderer is differentiated."""
        return self._methods.setdefault((name, dtype), {})

    def postpone(self, name: str, dtype: str, loaded: Loaded, task: Task) -> None:
        """Note a task that a recording would make faster, to be made when there is time."""
        self._postponed[(name, dtype, key(task))] = (loaded, task)


def warm_up() -> None:
    """Differentiate something small once: torch loads seconds' worth of Python at its first jvp."""
    one = torch.ones(())
    with torch.no_grad():
        torch.func.jvp(lambda value: (value * torch.ones(4)).sin() + torch.ones(4), (one,), (one,))
