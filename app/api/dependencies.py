"""What every endpoint needs: the settings, the scheduler, and a request checked against them."""

import asyncio
import math
from collections.abc import Awaitable
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request
from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect
from starlette.types import Receive

from app.api.errors import RequestError
from app.api.schemas import ImageRequest, MapsRequest
from app.compute import Catalogue, Scheduler, Work
from app.compute.kinds.maps import Frame
from app.engine import check_strategy
from app.engine.errors import UnknownStrategyError
from app.settings import Settings
from renderers import (
    LoadError,
    Spec,
    Subject,
    UnknownRendererError,
    parse_subject,
    suggestion,
)

Result = TypeVar("Result")
Model = TypeVar("Model", bound=BaseModel)


# All of these are coroutines: FastAPI hands a plain function to a thread, which takes longer.
async def get_settings(request: Request) -> Settings:
    """The server's settings."""
    settings: Settings = request.app.state.settings
    return settings


async def get_scheduler(request: Request) -> Scheduler:
    """The server's scheduler."""
    scheduler: Scheduler = request.app.state.scheduler
    return scheduler


SettingsNow = Annotated[Settings, Depends(get_settings)]
SchedulerNow = Annotated[Scheduler, Depends(get_scheduler)]


async def get_catalogue(scheduler: SchedulerNow) -> Catalogue:
    """What can be rendered."""
    return scheduler.catalogue()


CatalogueNow = Annotated[Catalogue, Depends(get_catalogue)]


async def get_spec(renderer: str, catalogue: CatalogueNow) -> Spec:
    """The declaration of the renderer in the path.

    Raises:
        LoadError: it did not load.
        UnknownRendererError: there is none of that name.
    """
    if renderer in catalogue.specs:
        return catalogue.specs[renderer]
    if renderer in catalogue.failures:
        raise LoadError(f"Renderer {renderer!r} did not load: {catalogue.failures[renderer]}")
    raise UnknownRendererError(
        "There is no renderer of that name." + suggestion(renderer[:64], catalogue.specs),
        field="renderer",
    )


SpecNow = Annotated[Spec, Depends(get_spec)]


def frame_of(asked: ImageRequest) -> Frame:
    """The frame that a request asks for."""
    return Frame(
        params=asked.params,
        width=asked.width,
        height=asked.height,
        seed=asked.seed,
        dtype=asked.dtype,
        stride=asked.stride if isinstance(asked, MapsRequest) else 1,
    )


def subject_of(asked: MapsRequest, spec: Spec) -> Subject:
    """What the maps that a request asks for are of.

    Raises:
        ParameterError: a name, a direction or a scale that the renderer does not have.
    """
    return parse_subject(
        spec.params, wrt=asked.wrt, direction=asked.direction, normalise=asked.normalise
    )


def strategy_of(name: str) -> str:
    """The name of a strategy, if there is one of that name.

    Raises:
        RequestError: there is none.
    """
    try:
        check_strategy(name)
    except UnknownStrategyError as error:
        raise RequestError(422, error.code, str(error), field="strategy") from error
    return name


def affordable(work: Work, asked: ImageRequest, settings: Settings) -> Work:
    """The work, if its frame and its result are no larger than the server takes.

    Raises:
        RequestError: they are larger.
    """
    for field in ("width", "height"):
        if getattr(asked, field) > settings.max_side:
            raise RequestError(
                422,
                "frame_too_large",
                f"A side has at most {settings.max_side} pixels.",
                field=field,
            )
    if asked.width * asked.height > settings.max_pixels:
        raise RequestError(
            422,
            "frame_too_large",
            f"A frame has at most {settings.max_pixels} pixels, "
            f"{math.isqrt(settings.max_pixels)} a side when it is square.",
            field="width",
        )
    if work.total_bytes > settings.max_result_bytes:
        raise RequestError(
            422,
            "result_too_large",
            f"The result would take {work.total_bytes} bytes; at most "
            f"{settings.max_result_bytes} are allowed. Ask for a smaller frame, or for fewer "
            "entries or values.",
            field="wrt",
        )
    return work


def parsed(model: type[Model], body: dict[str, object]) -> Model:
    """A request from plain fields, with errors as for a body.

    Raises:
        RequestError: a field that the request does not have, or a value that it does not take.
    """
    for name in body:  # before pydantic, which would list every one of a hundred thousand
        if name not in model.model_fields:
            raise _unknown(name, model)
    try:
        return model.model_validate(body)
    except ValidationError as error:
        raise invalid(error) from error


def invalid(error: ValidationError) -> RequestError:
    """The first thing that is wrong with a request, in words that say what is allowed."""
    first = error.errors(include_input=False, include_url=False)[0]
    name = str(first["loc"][0]) if first["loc"] else ""
    if first["type"] == "missing" and len(first["loc"]) == 1:
        return RequestError(422, "missing_field", f"The field {name!r} is needed.", field=name)
    message = str(first["msg"]).removeprefix("Value error, ")
    return RequestError(422, "invalid_field", f"{name!r}: {message}.", field=name)


def _unknown(name: str, model: type[BaseModel]) -> RequestError:
    return RequestError(
        422,
        "unknown_field",
        "There is no such field." + suggestion(name[:64], model.model_fields),
        field=name if name.isidentifier() and len(name) <= 64 else "",
    )


async def while_connected(request: Request, work: Awaitable[Result]) -> Result:
    """Wait for work, and cancel it when the client goes away.

    Raises:
        ClientDisconnect: it went away; the work has stopped.
        HTTPException: it sends a longer body than it may.
    """
    running = asyncio.ensure_future(work)
    watching = asyncio.ensure_future(disconnected(request.receive))
    try:
        await asyncio.wait({running, watching}, return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            return running.result()
        watching.result()
        raise ClientDisconnect
    finally:
        await ended(running, watching)


async def ended(*tasks: "asyncio.Future[Any]") -> None:
    """Cancel what still runs, and wait until it has stopped."""
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    for task in tasks:  # of what has failed since, nobody is left to hear
        task.cancelled() or task.exception()


async def disconnected(receive: Receive) -> None:
    """Wait until the client has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
