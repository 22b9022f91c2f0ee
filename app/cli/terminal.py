"""What every command shares: its errors, and what it shows while it works."""

from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

screen = Console(stderr=True)


class UsageError(Exception):
    """The command line asks for something that there is not."""


@contextmanager
def plain_errors() -> Iterator[None]:
    """One line and exit status 2 for what the user can put right; no traceback."""
    try:
        yield
    except Exception as error:
        if not _is_the_users(error):
            raise
        _complain(_in_words(error))
        raise typer.Exit(2) from error


def _is_the_users(error: Exception) -> bool:
    """Whether the user can put it right.

    The light rooms are asked first: torch, behind the heavy ones, is there by now if it is needed.
    """
    from pydantic import ValidationError

    from app.imaging import ImagingError

    if isinstance(error, UsageError | OSError | ImagingError | ValidationError):
        return True
    from app.engine import EngineError
    from renderers import RendererError

    return isinstance(error, EngineError | RendererError)


def _in_words(error: Exception) -> str:
    from pydantic import ValidationError

    if isinstance(error, ValidationError):
        return "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
    return str(error)


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
