"""Which tiles are to be compiled, and putting them to use when they are."""

from collections.abc import Callable
from dataclasses import dataclass, field

from app.compute.compiling.compiler import Compiler, CompileSettings
from app.compute.compiling.job import Job
from app.engine import (
    MOST,
    Method,
    Methods,
    Recording,
    Task,
    UncompilableError,
    adopt,
    find_method,
    given_to,
    key,
)
from renderers import Loaded

Known = Callable[[str, str], Methods]
"""What is known of how a renderer is differentiated, by its name and a dtype."""


@dataclass(frozen=True, slots=True, eq=False)
class _Order:
    """A task whose tiles are to be compiled."""

    name: str
    dtype: str
    loaded: Loaded
    task: Task


@dataclass(slots=True)
class Workshop:
    """Takes orders while maps are computed, and sees to them between."""

    compiler: Compiler
    known: Known
    closed: bool = False
    _orders: dict[str, _Order] = field(default_factory=dict)
    _jobs: dict[str, Job] = field(default_factory=dict)

    def order(self, name: str, dtype: str, loaded: Loaded, task: Task) -> None:
        """Note a task that was answered by a recording. The last one is seen to first."""
        if self.compiler.active and not self.closed and self._waiting(name, dtype, task):
            which = f"{name} {dtype} {key(task)}"
            self._orders.pop(which, None)
            self._orders[which] = _Order(name, dtype, loaded, task)

    @property
    def open(self) -> bool:
        """Whether there is anything to see to."""
        return bool(self._orders) or self.compiler.busy

    def close(self) -> None:
        """Take no more orders, and leave what is under way."""
        self.closed = True
        self._orders.clear()
        self.compiler.stop()

    def see_to(self, *, patient: bool = False) -> None:
        """Put to use what is compiled by now, and have the next one compiled.

        Args:
            patient: whether to wait until it is.
        """
        self.compiler.look(wait=patient)
        for which, order in reversed(self._orders.copy().items()):
            if self._settled(order, self._job(which, order)):
                del self._orders[which]
                self._jobs.pop(which, None)

    def _settled(self, order: _Order, job: Job | None) -> bool:
        """Whether nothing more is to be done for an order."""
        if job is None or job.name in self.compiler.refused:
            return True
        package = self.compiler.find(job)
        if package is None:
            # One at a time: the others wait their turn.
            return not self.compiler.want(job)
        method = self.known(order.name, order.dtype)[key(order.task)]
        recording = self._waiting(order.name, order.dtype, order.task)
        if method is None or recording is None:
            return True
        try:
            with self.compiler.trying(job):
                better = adopt(
                    order.loaded, order.task, method, recording, package.path, package.needs
                )
        except UncompilableError as error:
            self.compiler.refuse(job, str(error))
        else:
            self.known(order.name, order.dtype)[key(order.task)] = better
        return True

    def _waiting(self, name: str, dtype: str, task: Task) -> Recording | None:
        """The recording that answers a task, if there is one and it is not compiled."""
        method = self.known(name, dtype).get(key(task))
        recording = method.recording(task) if method else None
        return recording if recording and recording.kernel is None else None

    def _job(self, which: str, order: _Order) -> Job | None:
        if which not in self._jobs:
            method = self.known(order.name, order.dtype).get(key(order.task))
            recording = self._waiting(order.name, order.dtype, order.task)
            if method is None or recording is None:
                return None
            try:
                given = given_to(order.loaded, order.task, method, recording)
                job = Job.of(recording, given, order.loaded.dtype, order.loaded.device)
            except UncompilableError:
                return None
            self._jobs[which] = job
        return self._jobs[which]


def compile_now(loaded: Loaded, task: Task, settings: CompileSettings) -> Method:
    """The method of a task, its tiles compiled, however long that takes.

    Raises:
        UncompilableError: they are not, and why.
        EngineError: there is no method.
    """
    methods: Methods = {key(task): find_method(loaded, task, limit=MOST)}
    workshop = Workshop(Compiler(settings), lambda *_: methods)
    workshop.order(loaded.spec.name, "", loaded, task)
    while workshop.open:
        workshop.see_to(patient=True)
    method = methods[key(task)]
    assert method is not None  # noqa: S101 - found above
    recording = method.recording(task)
    if recording is None or recording.kernel is None:
        refused = " ".join(workshop.compiler.refused.values())
        raise UncompilableError(method.unrecorded or refused or "It was not compiled before.")
    return method
