"""What every command shares: its options, its errors, and what it shows while it works."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from pydantic import ValidationError
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from app.engine import EngineError
from app.imaging import ImagingError
from renderers import RendererError

Target = Annotated[
    str,
    typer.Argument(
        metavar="RENDERER",
        help="The name of a renderer, or FILE.py:NAME for one of your own: its name, or that of "
        "its function or class.",
    ),
]
Files = Annotated[
    list[str] | None,
    typer.Option("--renderer", metavar="FILE.py:NAME", help="A renderer of your own; repeatable."),
]
Options = Annotated[
    list[str] | None,
    typer.Option(
        "--option", metavar="RENDERER.OPTION=VALUE", help="An option of a renderer; repeatable."
    ),
]
Device = Annotated[str, typer.Option(help="cpu, cuda, cuda:N, or auto.")]

screen = Console(stderr=True)


class UsageError(Exception):
    """The command line asks for something that there is not."""


@contextmanager
def plain_errors() -> Iterator[None]:
    """One line and exit status 2 for what the user can put right; no traceback."""
    try:
        yield
    except ValidationError as error:
        _complain("; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()))
        raise typer.Exit(2) from error
    except (UsageError, EngineError, RendererError, ImagingError, OSError) as error:
        _complain(str(error))
        raise typer.Exit(2) from error


def _complain(text: str) -> None:
    screen.print(f"sensmap: {text}", style="red", highlight=False, markup=False, soft_wrap=True)


@contextmanager
def progress_bar(label: str) -> Iterator["RowsDone"]:
    """A bar on the terminal, gone when the work is done; none where nobody is looking."""
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bar:
        yield RowsDone(bar, label)


class RowsDone:
    """Moves a bar by rows."""

    def __init__(self, bar: Progress, label: str) -> None:
        self.bar = bar
        self.row = bar.add_task(label, total=None)

    def __call__(self, done: int, total: int) -> None:
        """Say that `done` of `total` rows are computed."""
        self.bar.update(self.row, completed=done, total=total)


def parse_options(texts: list[str] | None) -> dict[str, dict[str, str]]:
    """Read `RENDERER.OPTION=VALUE`, each.

    Raises:
        UsageError: one is not of that form.
    """
    options: dict[str, dict[str, str]] = {}
    for text in texts or ():
        target, equals, value = text.partition("=")
        renderer, dot, option = target.partition(".")
        if not (equals and dot and renderer and option):
            raise UsageError(f"--option wants RENDERER.OPTION=VALUE; got {text!r}.")
        options.setdefault(renderer, {})[option] = value
    return options
