"""How a picture is drawn: the fields of a request that say so, checked before anything is drawn."""

from app.api.errors import RequestError
from app.api.schemas import Drawing
from app.imaging import Style, channel_choices
from renderers import Spec, suggestion


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
