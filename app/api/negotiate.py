"""Which format an answer has: `?format=` first, then the `Accept` header, then PNG."""

from app.api.errors import RequestError
from app.imaging import FORMATS, Format, ImagingError, format_named

DEFAULT = "png"
# What people write for formats that have no registered media type.
ALIASES = {"application/x-npy": "npy", "application/x-npz": "npz", "application/numpy": "npy"}


def by_name(name: str) -> Format:
    """The format of that name.

    Raises:
        RequestError: there is none.
    """
    try:
        return format_named(name)
    except ImagingError as error:
        raise RequestError(404, "unknown_format", str(error), field="format") from error


def by_accept(header: str) -> Format:
    """The format that the client would rather have.

    Raises:
        RequestError: it wants none of ours.
    """
    offered = {form.media_type: form for form in FORMATS.values()}
    offered |= {media: FORMATS[name] for media, name in ALIASES.items()}
    for media in _ranges(header):
        if media in offered:
            return offered[media]
        if media in ("*/*", "image/*"):
            return FORMATS[DEFAULT]
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
