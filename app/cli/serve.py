"""`sensmap serve`: the server."""

from typing import Annotated, Any

import typer

from app.cli.arguments import Files, Options, parse_options
from app.cli.terminal import plain_errors, screen


def serve_command(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on.")] = None,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, cuda:N, or auto.")] = None,
    memory_budget: Annotated[
        str | None, typer.Option(help="Working memory of a map, such as 256MiB.")
    ] = None,
    compiling: Annotated[
        str | None, typer.Option("--compile", help="off, ahead, or background.")
    ] = None,
    files: Files = None,
    options: Options = None,
) -> None:
    """Serve maps over HTTP. Every `SENSMAP_*` setting counts; options on this line come first."""
    with plain_errors():
        from app.settings import Settings

        given: dict[str, Any] = {
            "host": host,
            "port": port,
            "device": device,
            "memory_budget": memory_budget,
            "compile": compiling,
            "renderers": tuple(files) if files else None,
            "options": parse_options(options) or None,
        }
        settings = Settings(**{key: value for key, value in given.items() if value is not None})

    # Only now, because what is behind it imports torch, which takes seconds.
    import uvicorn

    from app.main import create_app

    screen.print(f"sensmap: http://{settings.host}:{settings.port}/", highlight=False)
    uvicorn.run(
        create_app(settings), host=settings.host, port=settings.port, log_level="warning",
        server_header=False,
    )  # fmt: skip
