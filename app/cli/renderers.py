"""`sensmap renderers`: what there is to render, or everything about one renderer."""

from typing import Annotated

import typer

from app.cli.arguments import Files, Options, parse_options
from app.cli.terminal import plain_errors


def renderers_command(
    name: Annotated[
        str, typer.Argument(help="A renderer, or FILE.py:NAME; all of them by default.")
    ] = "",
    files: Files = None,
    options: Options = None,
) -> None:
    """List the renderers and what did not load, or show the parameters of one."""
    with plain_errors():
        given = parse_options(options)

        # Only now, because they import torch, which takes seconds.
        from app.cli.catalogue import show, show_all, tried
        from app.cli.target import find, held, is_file
        from renderers import load

        if is_file(name):
            found = find(name)
            show(found, given.get(found.spec.name, {}))
            return
        registry = tried(load(files or ()), given)
        if name:
            found = held(registry, name)
            show(found, given.get(found.spec.name, {}))
        else:
            show_all(registry)
