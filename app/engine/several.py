"""Maps of several parameters: in one go where one method holds for all, else each by its own."""

from collections.abc import Callable
from dataclasses import replace

from app.engine import plan as planning
from app.engine.errors import DisagreementError, StrategyError
from app.engine.loop import Arrays
from app.engine.method import Method
from app.engine.search import find_method
from app.engine.sensitivity import Progress, SensitivityMap, allocate, sensitivity_map
from app.engine.sparse import sparse
from app.engine.strategies import AUTO
from app.engine.strategies.edge import edge
from app.engine.strategies.finite_difference import finite_difference
from app.engine.task import Task
from renderers import Loaded

Methods = dict[str, Method | None]
"""What is known from earlier maps, by `key`; None where several are better taken one by one."""

# By these a parameter is differentiated that no derivative of torch's follows: in one go with
# others, it would take them along.
APART = frozenset({finite_difference.name, edge.name})


def sensitivity_maps(
    loaded: Loaded,
    task: Task,
    *,
    budget: int = planning.DEFAULT_BUDGET,
    methods: Methods | None = None,
    out: Arrays | None = None,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> tuple[SensitivityMap, ...]:
    """Compute the maps of a task: all in one result, or a result for each.

    The arguments, and what is raised, are those of `sensitivity_map`.

    Args:
        loaded: the renderer on its device.
        task: what is asked.
        budget: bytes of working memory beside the result.
        methods: what is known from earlier maps, which this adds to.
        out: where the result goes; allocated when not given.
        progress: told after each band.
        cancelled: asked before each tile.
    """
    sparse(loaded, task)
    out = out or allocate(loaded, task)
    methods = {} if methods is None else methods

    def computed(part: Task, arrays: Arrays, told: Progress | None) -> SensitivityMap:
        method = methods.get(key(part)) or find_method(loaded, part)
        result = sensitivity_map(
            loaded, part, budget=budget, method=method, out=arrays, progress=told,
            cancelled=cancelled,
        )  # fmt: skip
        # Another one than was known, where that did not hold at these values.
        methods[key(part)] = result.method
        return result

    if len(task.subject.wrt) < 2:
        return (computed(task, out, progress),)
    if methods.get(key(task), ...) is not None:
        try:
            result = computed(task, out, progress)
        except (StrategyError, DisagreementError):
            # Of one of them, perhaps: each is then told of by itself.
            pass
        else:
            if not apart(result):
                return (result,)
        methods[key(task)] = None
    results = []
    for number, wrt in enumerate(task.subject.wrt):
        arrays = Arrays(image=out.image, maps=out.maps[number : number + 1])
        told = part_of(progress, number, len(task.subject.wrt)) if progress else None
        part = replace(task, subject=replace(task.subject, wrt=(wrt,)))
        results.append(computed(part, arrays, told))
    return tuple(results)


def key(task: Task) -> str:
    """What a task's method depends on, for one renderer in one dtype."""
    subject = task.subject
    names = "+".join(subject.names if subject.wrt else (*subject.moving, "*"))
    return f"{names} {task.strategy}" if task.strategy != AUTO else names


def apart(result: SensitivityMap) -> bool:
    """Whether something is said of maps of several that need not be true of each."""
    doubtful = bool(result.certificate and result.certificate.findings)
    return result.strategy in APART or bool(result.method.verdict.findings) or doubtful


def part_of(progress: Progress, number: int, count: int) -> Progress:
    """Progress of one of several, as progress of all of them."""
    return lambda done, total: progress(number * total + done, count * total)
