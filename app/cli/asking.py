"""What every command that computes maps asks: its options, and how they are read.

Nothing here imports torch before it must: mistakes are answered at once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.arguments import parse_assignment, parse_dtype, parse_range, parse_size, split_names
from app.cli.terminal import UsageError

if TYPE_CHECKING:
    from app.compute.kinds.maps import Frame
    from app.imaging import Style
    from renderers import Spec, Subject

Wrt = Annotated[
    list[str] | None,
    typer.Option(
        help="What is differentiated against: radius, light[2], '*' for all; several with "
        "commas between, or repeated."
    ),
]
Direction = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE",
        help="Instead of --wrt, how far a parameter moves: one map of a mixture; repeatable.",
    ),
]
Normalise = Annotated[bool, typer.Option(help="Multiply each map by the range of its parameter.")]
Second = Annotated[str, typer.Option(help="Maps of d(image)/d(SECOND): second derivatives.")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Value of a parameter; repeatable."),
]
Size = Annotated[str, typer.Option(help="WIDTHxHEIGHT in pixels.")]
Output = Annotated[
    list[Path] | None,
    typer.Option("-o", "--output", help="File; its suffix is the format. Repeatable."),
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of a random renderer.")]
Dtype = Annotated[str, typer.Option(help="float32 or float64.")]
Strategy = Annotated[str, typer.Option(help="How the derivative is taken.")]
Certify = Annotated[
    bool, typer.Option("--certify/--no-certify", help="Compare the map with differences.")
]
Colormap = Annotated[str | None, typer.Option(help="Colormap of the picture.")]
Rescale = Annotated[
    str | None, typer.Option(metavar="LOW,HIGH", help="Values at the ends of the colormap.")
]
Symmetric = Annotated[
    bool,
    typer.Option(
        "--symmetric/--no-symmetric", help="Whether a range that is found is symmetric about 0."
    ),
]
Norm = Annotated[str, typer.Option(help="linear, symlog or abs.")]
Channel = Annotated[str, typer.Option(help="mean, luminance, norm, or a channel's name or index.")]
Overlay = Annotated[float, typer.Option(help="Opacity over the image, 0 to 1.")]
Colorbar = Annotated[bool, typer.Option(help="Draw the colour bar.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is asked of a renderer, as it was typed: what a value is, the renderer tells.

    Attributes:
        names: what is differentiated against.
        moved: instead, how far each parameter moves, by name.
        normalise: whether maps are multiplied by the range of their parameter.
        second: what the map of which these are derivatives is of.
        given: values of parameters, by name.
        width: width of the frame in pixels.
        height: height of the frame in pixels.
        seed: seed of a random renderer.
        dtype: `float32` or `float64`.
    """

    names: Sequence[str]
    moved: Mapping[str, str]
    normalise: bool
    second: str
    given: Mapping[str, str]
    width: int
    height: int
    seed: int
    dtype: str

    def frame(self) -> "Frame":
        """The frame.

        Raises:
            ParameterError: a value that is no number.
        """
        from app.compute.kinds.maps import Frame

        return Frame(
            params=_values(self.given),
            width=self.width,
            height=self.height,
            seed=self.seed,
            dtype=self.dtype,
        )

    def subject(self, spec: "Spec") -> "Subject":
        """What the maps are of.

        Raises:
            ParameterError: a name or a value that the renderer does not have.
        """
        from renderers import parse_subject

        return parse_subject(
            spec.params,
            wrt=self.names,
            direction=_values(self.moved) or None,
            normalise=self.normalise,
        )

    def request(self, spec: "Spec") -> dict[str, Any]:
        """The same as fields of a request, for files to tell."""
        asked = {
            "wrt": list(self.names) if len(self.names) > 1 else "".join(self.names),
            "direction": _values(self.moved),
            "normalise": self.normalise,
            "second": self.second,
        }
        frame = {
            "renderer": spec.name,
            "params": _values(self.given),
            "width": self.width,
            "height": self.height,
            "seed": self.seed,
            "dtype": self.dtype,
        }
        return frame | {key: value for key, value in asked.items() if value}


def read(
    *,
    wrt: list[str] | None,
    direction: list[str] | None,
    normalise: bool,
    second: str,
    given: list[str] | None,
    size: str,
    seed: int,
    dtype: str,
) -> Asked:
    """What is asked, from the options.

    Raises:
        UsageError: one is not of its form, or it is not said what is differentiated against.
    """
    width, height = parse_size(size)
    asked = Asked(
        names=[name for text in wrt or () for name in split_names(text)],
        moved=dict(parse_assignment(text) for text in direction or ()),
        normalise=normalise,
        second=second,
        given=dict(parse_assignment(text) for text in given or ()),
        width=width,
        height=height,
        seed=seed,
        dtype=parse_dtype(dtype),
    )
    if not (asked.names or asked.moved):
        raise UsageError("Say what is differentiated against: --wrt NAME, or '*' for all.")
    return asked


def style(
    *,
    colormap: str | None,
    rescale: str | None,
    symmetric: bool,
    norm: str,
    channel: str,
    overlay: float,
    colorbar: bool,
) -> "Style":
    """How the picture is drawn.

    Raises:
        ImagingError: in a way that there is not.
        UsageError: a range that is none.
    """
    from app.imaging import Style

    return Style(
        colormap_name=colormap,
        rescale=parse_range(rescale),
        symmetric=symmetric,
        norm=norm,
        channel=int(channel) if channel.isdigit() else channel,
        overlay=overlay,
        colorbar=colorbar,
    )


def _values(texts: Mapping[str, str]) -> dict[str, Any]:
    from renderers import parse_value

    return {name: parse_value(name, text) for name, text in texts.items()}
