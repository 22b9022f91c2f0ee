"""`sensmap check`: is a renderer differentiated right, parameter by parameter, and how fast."""

import json
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from app.cli.arguments import Device, Options, Target, parse_options
from app.cli.terminal import plain_errors, screen

if TYPE_CHECKING:
    from app.engine import Report

paper = Console()


def check_command(
    target: Target,
    wrt: Annotated[
        list[str] | None, typer.Option(help="A parameter or an entry; all by default.")
    ] = None,
    device: Device = "auto",
    options: Options = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the reports as JSON.")] = False,
) -> None:
    """Check each parameter of a renderer against differences; exit status 1 if any is wrong."""
    with plain_errors():
        given = parse_options(options)

        # Only now, because they import torch, which takes seconds.
        import torch

        from app.cli.target import find
        from app.engine import check, open_device

        found = find(target)
        placed = found.load(open_device(device), torch.float32, given.get(found.spec.name))
        params = found.spec.bind({})
        names = wrt or list(found.spec.params)
        reports = []
        for name in names:
            with screen.status(f"d({found.spec.name})/d({name})"):
                reports.append(check(placed, params, name))
    if as_json:
        typer.echo(json.dumps([report.describe() for report in reports], indent=2))
    else:
        show(found.spec.name, reports)
    raise typer.Exit(0 if all(report.clean for report in reports) else 1)


def show(name: str, reports: list["Report"]) -> None:
    """A table of the parameters, then what to change."""
    columns = ("parameter", "strategy", "agreement", "time/image", "bytes/pixel", "band", "")
    table = Table(*columns, box=None, pad_edge=False, title=name, title_justify="left")
    for report in reports:
        facts = ("-",) * 5
        if not report.error:
            facts = (
                report.strategy,
                f"{report.relative:.1e}",
                f"{report.ratio:.1f}",
                f"{report.bytes_per_pixel:.0f}",
                f"{report.band}",
            )
        table.add_row(report.wrt, *facts, "right" if report.clean else "see below")
    paper.print(table)
    for report in reports:
        lines = [report.error] if report.error else []
        lines += [f"{finding.code}: {finding.message}" for finding in report.findings]
        lines += [f"{rung} was passed over: {why}" for rung, why in report.passed_over]
        lines += [f"not recorded, so slower: {report.unrecorded}"] if report.unrecorded else []
        for line in lines:
            paper.print(f"{report.wrt}: {line}", markup=False, highlight=False, soft_wrap=True)
