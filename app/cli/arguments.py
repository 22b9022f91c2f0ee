"""What is typed on a command line: the options that commands share, and how their words are read.

Nothing here imports torch, which takes seconds: help and mistakes are answered at once.
"""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.terminal import UsageError

if TYPE_CHECKING:
    from app.imaging import Format, SweepFormat

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

DTYPES = ("float32", "float64")


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


def parse_assignment(text: str) -> tuple[str, str]:
    """Read `NAME=VALUE`; what the value is, the parameter tells.

    Raises:
        UsageError: it is not of that form.
    """
    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"--set wants NAME=VALUE; got {text!r}.")
    return name, value


def split_names(text: str) -> list[str]:
    """Names with commas between; those inside an index stay."""
    return [part.strip() for part in re.split(r",(?![^\[]*\])", text)]


def parse_size(text: str) -> tuple[int, int]:
    """Read `WIDTHxHEIGHT`.

    Raises:
        UsageError: it is not of that form, or a side is 0.
    """
    match = re.fullmatch(r"([1-9]\d{0,5})x([1-9]\d{0,5})", text)
    if match is None:
        raise UsageError(f"--size wants WIDTHxHEIGHT, such as 1024x768; got {text!r}.")
    return int(match[1]), int(match[2])


def parse_range(text: str | None) -> tuple[float, float] | None:
    """Read `LOW,HIGH`.

    Raises:
        UsageError: it is not of that form.
    """
    if text is None:
        return None
    low, comma, high = text.strip("[]").partition(",")
    try:
        if comma:
            return float(low), float(high)
    except ValueError:
        pass
    raise UsageError(f"--rescale wants LOW,HIGH; got {text!r}.")


def parse_numbers(text: str | None) -> list[float] | None:
    """Read `A,B,...`.

    Raises:
        UsageError: it is not of that form.
    """
    if text is None:
        return None
    try:
        return [float(part) for part in text.strip("[]").split(",")]
    except ValueError:
        raise UsageError(f"--values wants numbers with commas between; got {text!r}.") from None


def parse_dtype(text: str) -> str:
    """Read the name of a dtype.

    Raises:
        UsageError: there is none of that name.
    """
    if text not in DTYPES:
        raise UsageError(f"There is no dtype {text!r}. Choices: {', '.join(DTYPES)}.")
    return text


def format_of(path: Path) -> "Format":
    """The format that a file's suffix names.

    Raises:
        UnknownNameError: none has that suffix.
    """
    from app.imaging import format_named

    return format_named(path.suffix.removeprefix(".").lower())


def sweep_format_of(path: Path) -> "SweepFormat":
    """The format of sweeps that a file's suffix names.

    Raises:
        UnknownNameError: none has that suffix.
    """
    from app.imaging import sweep_format_named

    return sweep_format_named(path.suffix.removeprefix(".").lower())
