"""The command line: the engine without a server, and the server."""

from importlib.metadata import version
from typing import Annotated

import typer

from app.cli.check import check_command
from app.cli.compile import compile_command
from app.cli.diagonal import diagonal_command
from app.cli.information import information_command
from app.cli.map import map_command
from app.cli.probe import entries_command, probe_command
from app.cli.renderers import renderers_command
from app.cli.serve import serve_command
from app.cli.sweep import sweep_command

cli = typer.Typer(
    name="sensmap",
    help="Sensitivity maps d(image)/d(parameter) of differentiable renderers.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def tell_version(wanted: bool) -> None:
    """Print the version and stop, where it is asked for."""
    if wanted:
        typer.echo(f"sensmap {version('sensmap')}")
        raise typer.Exit


@cli.callback()
def options(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=tell_version, is_eager=True, help="Print the version and stop."
        ),
    ] = False,
) -> None:
    """What may stand before a command."""


cli.command("check")(check_command)
cli.command("compile")(compile_command)
cli.command("diagonal")(diagonal_command)
cli.command("entries")(entries_command)
cli.command("information")(information_command)
cli.command("map")(map_command)
cli.command("probe")(probe_command)
cli.command("renderers")(renderers_command)
cli.command("serve")(serve_command)
cli.command("sweep")(sweep_command)


def main() -> None:
    """Run the command line."""
    cli()


__all__ = ["cli", "main"]
