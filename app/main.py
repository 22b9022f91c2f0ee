"""The application: wiring only."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from fastapi import FastAPI

from app.api import (
    catalogue,
    check,
    diagonals,
    docs,
    errors,
    health,
    information,
    maps,
    probe,
    sweeps,
)
from app.api.limits import BodyLimit
from app.compute import Backend, CompileSettings, Limits, LocalBackend, LocalSettings, Scheduler
from app.settings import Settings

WEB = Path(__file__).parent / "web"
LOG = logging.getLogger("sensmap")
# Between two looks at what the backend could not load: a worker that dies brings up another.
LOOK_S = 0.5


def create_app(settings: Settings | None = None, backend: Backend | None = None) -> FastAPI:
    """The server's application.

    Args:
        settings: read from the environment when not given.
        backend: where maps are computed; a worker process on this machine by default.
    """
    settings = settings or Settings()
    backend = backend or LocalBackend(
        LocalSettings(
            device=settings.device,
            budget=settings.memory_budget,
            files=settings.renderers,
            options=settings.options,
            probe=settings.probe,
            compiling=CompileSettings(
                mode=settings.compile,
                folder=settings.compile_folder,
                seconds=settings.compile_seconds,
                operations=settings.compile_operations,
            ),
        )
    )

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await backend.start()
        telling = asyncio.create_task(tell_failures(backend))
        yield
        telling.cancel()
        with suppress(asyncio.CancelledError):
            await telling
        await backend.stop()

    app = FastAPI(
        title="sensmap",
        summary="Sensitivity maps d(image)/d(parameter) of differentiable renderers.",
        version="1",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
    )
    app.state.settings = settings
    app.state.scheduler = Scheduler(
        backend,
        Limits(
            queue=settings.queue, timeout_s=settings.timeout_s, store_bytes=settings.store_bytes
        ),
    )
    errors.install(app)
    app.add_middleware(BodyLimit, most_bytes=settings.max_body_bytes)
    for resource in (catalogue, maps, sweeps, information, diagonals, probe, check, health):
        app.include_router(resource.router)
    app.include_router(docs.router(WEB))
    docs.describe(app)
    app.mount("/", docs.Pages(directory=WEB, html=True), name="web")
    return app


async def tell_failures(backend: Backend) -> None:
    """Log once, for the operator, why each renderer that did not load did not; never ends.

    The server is up without it, so that nobody would read `/readyz` to find out.
    """
    told: dict[str, str] = {}
    while True:
        known = backend.catalogue
        for name, why in (known.failures if known else {}).items():
            if told.get(name) != why:
                told[name] = why
                LOG.warning("sensmap: renderer %r did not load: %s", name, why)
        await asyncio.sleep(LOOK_S)
