"""What the renderers are, in tables on the terminal."""

from collections.abc import Mapping

from rich.console import Console
from rich.table import Column, Table

from app.engine import Task, decide
from renderers import Param, Registry, Renderer, parse_subject, reason

paper = Console()


def tried(registry: Registry, options: dict[str, dict[str, str]]) -> Registry:
    """The registry after each renderer was loaded once, as a server does when it starts."""
    for name in registry.names():
        try:
            registry.get(name).load(options=options.get(name))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - foreign code may raise anything
            registry = registry.fail(name, reason(error))
    return registry


def show_all(registry: Registry) -> None:
    """A line for each renderer, then a line for each that did not load."""
    table = Table("renderer", "kind", "parameters", "what it is", box=None, pad_edge=False)
    for name in registry.names():
        spec = registry.get(name).spec
        table.add_row(name, spec.kind, ", ".join(spec.params), spec.summary)
    paper.print(table)
    for name, why in registry.failures.items():
        paper.print(f"{name}: did not load: {why}", style="red", markup=False, soft_wrap=True)


def show(found: Renderer, options: Mapping[str, str]) -> None:
    """The documentation of a renderer, a line for each parameter, and how it is differentiated."""
    spec = found.spec
    paper.print(spec.doc + "\n", markup=False, highlight=False)
    fixed = [Column(name, no_wrap=True) for name in ("parameter", "default", "allowed", "strategy")]
    table = Table(*fixed, "help", box=None, pad_edge=False)
    loaded = found.load(options=options)
    reasons = []
    for name, declared in spec.params.items():
        subject = parse_subject(spec.params, wrt=name)
        task = Task(params=spec.bind({}), subject=subject, width=512, height=512)
        verdict = decide(loaded, task)
        default, allowed = default_text(declared), declared.range_text()
        table.add_row(name, default, allowed, verdict.strategy, declared.help)
        reasons += [f"{name}: {rung} was passed over: {why}" for rung, why in verdict.passed_over]
        reasons += [f"{name}: {finding.message}" for finding in verdict.findings]
    paper.print(table)
    for line in reasons:
        paper.print(line, markup=False, highlight=False, soft_wrap=True)
    if found.options:
        paper.print(
            f"\noptions of the operator: {', '.join(found.options)}", markup=False, highlight=False
        )


def default_text(declared: Param) -> str:
    """A default as it would be written for `--set`; a long one by its shape."""
    entries = declared.default.flatten().tolist()
    if len(entries) > 8:
        return f"shape {list(declared.shape)}"
    # Adding zero makes 0 of -0.
    return ",".join(f"{entry + 0.0:g}" for entry in entries)
