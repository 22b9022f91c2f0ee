"""A finished map as an HTTP answer: encoded, with what was decided on the way in its headers."""

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import anyio.to_thread
from fastapi import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from app.api.dependencies import while_connected
from app.api.stream import Begun, Streamed, begun
from app.compute import Result, Scheduler, Work
from app.compute.kinds.maps import subject_of
from app.imaging import Encoded, Encoding
from renderers import Spec

# A body is handed to the socket in pieces of this size, so that a slow client is noticed.
PIECE_BYTES = 1 << 20
# Of a result of up to so many bytes, a thread is more trouble than the encoding.
AT_ONCE = 1 << 18
# Maps that are named in headers, which clients and proxies keep short.
MOST_NAMED = 64


class Chunks(Response):
    """An answer whose body is memory that exists already, such as a shared array: never copied."""

    def __init__(self, encoded: Encoded, headers: Mapping[str, str]) -> None:
        super().__init__(headers={"Content-Length": str(encoded.size), **headers})
        self.headers["Content-Type"] = encoded.media_type
        self.chunks = encoded.chunks

    async def __call__(
        self,
        scope: Scope,  # noqa: ARG002 - the interface's
        receive: Receive,  # noqa: ARG002
        send: Send,
    ) -> None:
        """Send the headers, then the memory piece by piece."""
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        for chunk in self.chunks:
            view = memoryview(chunk).cast("B")
            for start in range(0, len(view), PIECE_BYTES):
                body = view[start : start + PIECE_BYTES]
                await send({"type": "http.response.body", "body": body, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


Tell = Callable[[Result, Spec, Mapping[str, str]], dict[str, str]]
"""What is said of a result in headers, with what its encoder decided."""


@dataclass(frozen=True, slots=True, eq=False)
class Wanted:
    """What a request asks for, checked.

    Attributes:
        spec: the renderer.
        work: what is computed.
        form: the format of the answer.
        said: the fields of the request that are not at their defaults, and the renderer.
        streamed: the array whose rows may be sent before the rest is done; empty for none.
    """

    spec: Spec
    work: Work
    form: Encoding[Any]
    said: Mapping[str, Any]
    streamed: str = ""

    @property
    def headers(self) -> dict[str, str]:
        """Headers of any answer to it."""
        name = filename(self.spec, self.work, self.form)
        return {
            "Cache-Control": "private, no-cache",
            "Content-Disposition": f'inline; filename="{name}"',
            "Vary": "Accept",
        }


async def answered(
    request: Request,
    scheduler: Scheduler,
    wanted: Wanted,
    write: Callable[[Result], Encoded],
    tell: Tell | None = None,
) -> Response:
    """Compute what was checked, and encode it; or nothing at all, where the client has it already.

    Args:
        request: the request.
        scheduler: who computes.
        wanted: what is asked for.
        write: encodes the result.
        tell: what is said of it in headers; that of maps by default.

    Raises:
        ComputeError: it cannot be computed.
        ImagingError: nor drawn.
        ClientDisconnect: the client went away.
    """
    spec, work, headers = wanted.spec, wanted.work, wanted.headers
    tag = etag(scheduler.instance, work.kind, wanted.form.name, wanted.said)
    # Compared weakly, as `If-None-Match` always is: with or without the mark of a weak one. Whoever
    # has the tag was given it: then the result is what it was.
    if tag.removeprefix("W/") in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers={**headers, "ETag": tag})
    if wanted.streamed:
        found = await begun(request.receive, scheduler, work, wanted.streamed)
        if isinstance(found, Begun):
            ahead = prefixed({**identity(work, spec), "Origin": "streamed"})
            return Streamed(found, wanted.form, {**headers, **ahead})
        result = found
    else:
        result = await while_connected(request, scheduler.run(work))
    if work.total_bytes <= AT_ONCE:
        response = encode(result, spec, write, tell or describe)
    else:
        response = await anyio.to_thread.run_sync(encode, result, spec, write, tell or describe)
    response.headers.update({**headers, "X-Sensmap-Origin": result.origin})
    if result.repeatable:
        response.headers["ETag"] = tag
    return response


def etag(instance: str, kind: str, form: str, said: Mapping[str, Any]) -> str:
    """A weak tag: equal requests to one worker have equal numbers, to rounding.

    Before a map is compiled and after, its last places differ.
    """
    text = json.dumps([instance, kind, form, said], sort_keys=True)
    return f'W/"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'


def filename(spec: Spec, work: Work, form: Encoding[Any]) -> str:
    """What a saved result is called."""
    mapped, along = "subject" in work.asked, work.asked.get("along", "")
    names = subject_of(work, spec).names if mapped else (work.asked.get("wrt", ""), work.kind)
    what = "_".join(names) if len(names) < 4 else "maps"
    text = f"{what or 'image'}_along_{along}" if along else what or "image"
    return f"{spec.name}_{''.join(c if c.isalnum() else '_' for c in text).strip('_')}{form.suffix}"


def encode(result: Result, spec: Spec, write: Callable[[Result], Encoded], tell: Tell) -> Chunks:
    """The answer in a format; of a large result this takes tens of milliseconds."""
    started = time.perf_counter()
    encoded = write(result)
    # What was computed for an earlier request took this one no time.
    known = {} if result.origin == "stored" else result.facts["seconds"]
    took = {**known, "encode": time.perf_counter() - started}
    return Chunks(encoded, {**tell(result, spec, encoded.facts), "Server-Timing": timing(took)})


def describe(result: Result, spec: Spec, facts: Mapping[str, str]) -> dict[str, str]:
    """What is said of a result in headers, all of them `X-Sensmap-*`."""
    work, statistics = result.work, result.facts["statistics"]
    said: dict[str, Any] = {
        **identity(work, spec),
        "Strategy": result.facts["strategy"],
        "Tiles": result.facts["tiles"],
        "Min": statistics["min"],
        "Max": statistics["max"],
        "Mean": statistics["mean"],
        "Rms": statistics["rms"],
        "NaN": statistics["nan"],
        "Inf": statistics["posinf"] + statistics["neginf"],
        "Rows": result.facts["rows"],
    }
    if certificate := result.facts["certificate"]:
        codes = dict.fromkeys(warning["code"] for warning in certificate["warnings"])
        said |= {
            "Agreement": f"{certificate['relative']:.3g}" if certificate["judged"] else None,
            "Compared": certificate["pixels"],
            "Warnings": ",".join(codes) or "none",
        }
    said |= {key.title(): text for key, text in facts.items()}
    return prefixed(said)


def identity(work: Work, spec: Spec) -> dict[str, Any]:
    """What a result is, as far as that is known before it is computed."""
    subject = subject_of(work, spec)
    shapes = {output.name: output.shape for output in work.outputs}
    names = (subject.names or ("image",))[:MOST_NAMED]
    said: dict[str, Any] = {
        "Renderer": work.renderer,
        "Shape": ";".join(",".join(map(str, shapes[name])) for name in names),
    }
    if subject:
        said |= {
            "Wrt": ";".join(subject.names[:MOST_NAMED]),
            "Unit": ";".join(unit or "1" for unit in subject.units()[:MOST_NAMED]),
        }
    if along := work.asked.get("along", ""):
        values = work.asked["values"]
        said |= {"Along": along, "Frames": len(values), "From": values[0], "To": values[-1]}
    return said


def prefixed(said: Mapping[str, Any]) -> dict[str, str]:
    """Facts as headers."""
    return {f"X-Sensmap-{key}": header_text(value) for key, value in said.items()}


def header_text(value: object) -> str:
    """A value as a header may hold it; what is not ASCII is percent-encoded."""
    return "none" if value is None else quote(str(value), safe=" !#$&'()*+,/:;=?@[]<>^`{|}~\"")


def timing(seconds: Mapping[str, float]) -> str:
    """A `Server-Timing` header: milliseconds of each stage."""
    return ", ".join(f"{name};dur={1e3 * took:.1f}" for name, took in seconds.items())
