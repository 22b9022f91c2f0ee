"""How a picture is drawn: the fields of a request that say so, checked before anything is drawn."""

from typing import Any

from app.api.errors import RequestError
from app.api.schemas import Drawing
from app.imaging import MOST_PANELS, Encoding, Style, channel_choices
from renderers import Spec, Subject, suggestion


def style_of(asked: Drawing, spec: Spec, subject: Subject, form: Encoding[Any]) -> Style:
    """How maps are drawn, refused before the device is asked to compute them.

    Raises:
        ImagingError: a colormap, norm, range or overlay that cannot be drawn.
        RequestError: an unknown channel, more entries than a picture has panels, or several maps
            in a format for one.
    """
    if len(subject.names) > 1 and not form.several:
        raise RequestError(
            422,
            "several_arrays",
            f"{form.name} holds one map, and {len(subject.names)} are asked for. Ask for npz, "
            "which holds each by its name, or for one of them.",
            field="wrt",
        )
    if form.media_type.startswith("image/") and subject.size > MOST_PANELS:
        first = subject.wrt[0]
        entry = f"{first.name}[{','.join('0' * len(first.shape))}]" if first.shape else str(first)
        raise RequestError(
            422,
            "too_many_panels",
            f"A picture shows at most {MOST_PANELS} entries; these are {subject.size}. "
            f"Ask for one, such as {entry}, or for npy or npz.",
            field="wrt",
        )
    return drawing(asked, spec)


def drawing(asked: Drawing, spec: Spec) -> Style:
    """The style that a request asks for.

    Raises:
        ImagingError: a colormap, norm, range or overlay that cannot be drawn.
        RequestError: an unknown channel.
    """
    choices = channel_choices(spec.channels)
    known = isinstance(asked.channel, str) and asked.channel in choices
    counted = isinstance(asked.channel, int) and asked.channel in range(len(spec.channels))
    if not (known or counted):
        hint = suggestion(str(asked.channel)[:64], map(str, choices))
        raise RequestError(
            422, "unknown_channel", "There is no such channel." + hint, field="channel"
        )
    return Style(
        colormap_name=asked.colormap_name,
        rescale=None if asked.rescale == "auto" else asked.rescale,
        symmetric=asked.symmetric,
        norm=asked.norm,
        channel=asked.channel,
        overlay=asked.overlay,
        colorbar=asked.colorbar,
    )
