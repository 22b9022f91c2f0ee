"""`sensmap map`: compute a map and write it to files."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.arguments import (
    Device,
    Files,
    Options,
    Target,
    format_of,
    parse_assignment,
    parse_dtype,
    parse_options,
    parse_range,
    parse_size,
    split_names,
)
from app.cli.terminal import UsageError, plain_errors, progress_bar


def map_command(  # noqa: PLR0913 - one argument is one option of the command line
    target: Target,
    wrt: Annotated[
        list[str] | None,
        typer.Option(
            help="What is differentiated against: radius, light[2], '*' for all; several with "
            "commas between, or repeated."
        ),
    ] = None,
    direction: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Instead of --wrt, how far a parameter moves: one map of a mixture; repeatable.",
        ),
    ] = None,
    normalise: Annotated[
        bool, typer.Option(help="Multiply each map by the range of its parameter.")
    ] = False,
    second: Annotated[
        str, typer.Option(help="Maps of d(image)/d(SECOND): second derivatives.")
    ] = "",
    values: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Value of a parameter; repeatable."),
    ] = None,
    size: Annotated[str, typer.Option(help="WIDTHxHEIGHT in pixels.")] = "512x512",
    output: Annotated[
        list[Path] | None,
        typer.Option("-o", "--output", help="File; its suffix is the format. Repeatable."),
    ] = None,
    image: Annotated[
        Path | None, typer.Option(help="File for the primal image; its suffix is the format.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of a random renderer.")] = 0,
    dtype: Annotated[str, typer.Option(help="float32 or float64.")] = "float32",
    strategy: Annotated[str, typer.Option(help="How the derivative is taken.")] = "auto",
    certify: Annotated[
        bool, typer.Option("--certify/--no-certify", help="Compare the map with differences.")
    ] = True,
    colormap: Annotated[str | None, typer.Option(help="Colormap of the picture.")] = None,
    rescale: Annotated[
        str | None, typer.Option(metavar="LOW,HIGH", help="Values at the ends of the colormap.")
    ] = None,
    symmetric: Annotated[
        bool,
        typer.Option(
            "--symmetric/--no-symmetric", help="Whether a range that is found is symmetric about 0."
        ),
    ] = True,
    norm: Annotated[str, typer.Option(help="linear, symlog or abs.")] = "linear",
    channel: Annotated[
        str, typer.Option(help="mean, luminance, norm, or a channel's name or index.")
    ] = "mean",
    overlay: Annotated[float, typer.Option(help="Opacity over the image, 0 to 1.")] = 0.0,
    colorbar: Annotated[bool, typer.Option(help="Draw the colour bar.")] = False,
    device: Device = "auto",
    files: Files = None,
    options: Options = None,
) -> None:
    """Compute d(image)/d(WRT) and write it, as a picture or as numbers."""
    with plain_errors():
        # What can be refused without torch comes before torch, which takes seconds to import.
        from app.imaging import Style

        style = Style(
            colormap_name=colormap,
            rescale=parse_range(rescale),
            symmetric=symmetric,
            norm=norm,
            channel=int(channel) if channel.isdigit() else channel,
            overlay=overlay,
            colorbar=colorbar,
        )
        outputs = [(path, format_of(path)) for path in output or ()]
        image_output = None if image is None else (image, format_of(image))
        texts = [parse_assignment(text) for text in values or ()]
        width, height = parse_size(size)
        dtype, given_options = parse_dtype(dtype), parse_options(options)

        moved = dict(parse_assignment(text) for text in direction or ())
        names = [name for text in wrt or () for name in split_names(text)]
        if not (names or moved):
            raise UsageError("Say what is differentiated against: --wrt NAME, or '*' for all.")

        from app.cli.output import report, write
        from app.cli.target import find
        from app.compute.here import compute
        from app.compute.kinds import maps
        from app.documents import document
        from app.engine import open_device
        from app.settings import Settings
        from renderers import parse_subject, parse_value

        source = find(target, files or ())
        spec, name = source.spec, source.spec.name
        given = {key: parse_value(key, text) for key, text in texts}
        mixture = {key: parse_value(key, text) for key, text in moved.items()} or None
        frame = maps.Frame(params=given, width=width, height=height, seed=seed, dtype=dtype)
        subject = parse_subject(spec.params, wrt=names, direction=mixture, normalise=normalise)
        work = maps.work(spec, frame, subject, second=second, strategy=strategy, certify=certify)
        with progress_bar(f"d({name})/d({', '.join(subject.names)})") as rows:
            result = compute(source, work, device=open_device(device), progress=rows,
                             budget=Settings().memory_budget,
                             options=given_options.get(name))  # fmt: skip
        asked = {"wrt": names if len(names) > 1 else "".join(names), "direction": mixture,
                 "normalise": normalise, "second": second}  # fmt: skip
        request = {"renderer": name, "params": given, "width": width, "height": height,
                   "seed": seed, "dtype": dtype}  # fmt: skip
        request |= {key: value for key, value in asked.items() if value}
        if not outputs:
            path = Path(f"{name}_map.png")
            outputs = [(path, format_of(path))]
        for path, form in outputs:
            write(path, document(result, spec, form, style, request))
        if image_output:
            write(image_output[0], image_output[1].encode_image(result.arrays["image"], {}))
        report(result.facts, [path for path, _ in outputs])
