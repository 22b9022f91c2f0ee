"""`sensmap compile`: maps of a renderer compiled ahead of time, for servers on this machine."""

import time
from dataclasses import replace
from typing import Annotated

import typer

from app.cli.arguments import Device, Options, Target, parse_options
from app.cli.asking import Dtype
from app.cli.terminal import plain_errors, screen

Whose = Annotated[
    list[str] | None,
    typer.Option("--wrt", help="A parameter or an entry; repeatable. All by default."),
]
# Of the frame at whose default values a compiled map is proven.
SIDE = 512


def compile_command(
    target: Target,
    wrt: Whose = None,
    dtype: Dtype = "float32",
    device: Device = "auto",
    folder: Annotated[
        str | None, typer.Option(help="Where compiled maps are kept; as the server's setting.")
    ] = None,
    options: Options = None,
) -> None:
    """Compile maps of a renderer, and its image; exit status 1 if any stays as it is."""
    with plain_errors():
        given = parse_options(options)

        # Only now, because they import torch, which takes seconds.
        import torch

        from app.cli.target import find
        from app.compute.compiling import BACKGROUND, CompileSettings, compile_now
        from app.engine import EngineError, Task, UncompilableError, keep_temporaries, open_device
        from app.settings import Settings
        from renderers import Subject, parse_subject

        settings = Settings()
        compiling = CompileSettings(
            mode=BACKGROUND,
            folder=folder or settings.compile_folder,
            seconds=settings.compile_seconds,
            operations=settings.compile_operations,
        )
        keep_temporaries()
        found = find(target)
        placed = found.load(open_device(device), getattr(torch, dtype), given.get(found.spec.name))
        image = Task(params=found.spec.bind({}), subject=Subject(), width=SIDE, height=SIDE)
        tasks = {found.spec.name: image} if wrt is None else {}
        for name in wrt or found.spec.params:
            subject = parse_subject(found.spec.params, wrt=name)
            tasks[f"d({found.spec.name})/d({name})"] = replace(image, subject=subject)
        clean = True
        for label, task in tasks.items():
            started = time.monotonic()
            try:
                with screen.status(f"compiling {label}"):
                    compile_now(placed, task, compiling)
            except (UncompilableError, EngineError) as error:
                clean = False
                typer.echo(f"{label}: not compiled. {error}")
            else:
                typer.echo(f"{label}: compiled ({time.monotonic() - started:.0f} s)")
    raise typer.Exit(0 if clean else 1)
