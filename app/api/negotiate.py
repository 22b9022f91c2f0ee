"""Which format an answer has: `?format=` first, then the `Accept` header, then PNG."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from fastapi import Request

from app.api import query
from app.api.errors import RequestError
from app.imaging import Encoding, ImagingError

DEFAULT = "png"
# What people write for formats that have no registered media type.
ALIASES = {
    "application/x-npy": "npy",
    "application/x-npz": "npz",
    "application/numpy": "npy",
    "image/apng": "png",
}
Form = TypeVar("Form", bound=Encoding[Any])


def asked_by(
    request: Request,
    name: str,
    formats: Mapping[str, Form],
    named: Callable[[str], Form],
    *,
    default: str = DEFAULT,
) -> Form:
    """The format of an answer to a body, where the query holds nothing else.

    Args:
        request: the request.
        name: what its query says.
        formats: the table of formats, by name.
        named: what finds one in the table.
        default: the format for whoever takes any.

    Raises:
        RequestError: there is none of that name or media type, or the query holds more.
    """
    query.only(request.query_params.multi_items(), ["format"])
    if name:
        return by_name(name, named)
    return by_accept(",".join(request.headers.getlist("accept")), formats, default)


def by_name(name: str, named: Callable[[str], Form]) -> Form:
    """The format of that name.

    Args:
        name: how it is asked for.
        named: what finds it in its table.

    Raises:
        RequestError: there is none.
    """
    try:
        return named(name)
    except ImagingError as error:
        raise RequestError(404, "unknown_format", str(error), field="format") from error


def by_accept(header: str, formats: Mapping[str, Form], default: str = DEFAULT) -> Form:
    """The format that the client would rather have.

    Args:
        header: the `Accept` header; empty where there is none.
        formats: the table of formats, by name.
        default: the format for whoever takes any.

    Raises:
        RequestError: it wants none of ours.
    """
    offered = {form.media_type: form for form in formats.values()}
    offered |= {media: formats[name] for media, name in ALIASES.items() if name in formats}
    for media in _ranges(header):
        if media in offered:
            return offered[media]
        if media == "*/*":
            return formats[default]
        if media == "image/*" and DEFAULT in formats:
            return formats[DEFAULT]
        if media.endswith("/*"):
            kind = [name for name in offered if name.startswith(media[:-1])]
            if kind:
                return offered[kind[0]]
    raise RequestError(
        406, "not_acceptable", f"This can be had as {', '.join(sorted(offered))}.", field="Accept"
    )


def _ranges(header: str) -> list[str]:
    """The media ranges of an `Accept` header, the most wanted first."""
    ranked: list[tuple[float, str]] = []
    for part in (header or "*/*").split(","):
        media, *parameters = (piece.strip().lower() for piece in part.split(";"))
        weight = 1.0
        for parameter in parameters:
            name, _, text = parameter.partition("=")
            if name == "q":
                weight = _weight(text)
        if weight > 0:
            ranked.append((-weight, media))
    return [media for _, media in sorted(ranked, key=lambda item: item[0])]


def _weight(text: str) -> float:
    try:
        return min(1.0, max(0.0, float(text)))
    except ValueError:
        return 1.0
