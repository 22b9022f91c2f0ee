"""The command line: the engine without a server, and the server."""

import typer

from app.cli.check import check_command
from app.cli.map import map_command
from app.cli.renderers import renderers_command
from app.cli.serve import serve_command

cli = typer.Typer(
    name="sensmap",
    help="Sensitivity maps d(image)/d(parameter) of differentiable renderers.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
cli.command("check")(check_command)
cli.command("map")(map_command)
cli.command("renderers")(renderers_command)
cli.command("serve")(serve_command)


def main() -> None:
    """Run the command line."""
    cli()


__all__ = ["cli", "main"]
