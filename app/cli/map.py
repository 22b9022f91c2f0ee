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
)
from app.cli.terminal import plain_errors, progress_bar


def map_command(  # noqa: PLR0913 - one argument is one option of the command line
    target: Target,
    wrt: Annotated[str, typer.Option(help="What is differentiated against: radius, light[2].")],
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

        import torch

        from app.cli.output import encode, report, write
        from app.cli.target import find
        from app.engine import Task, open_device, sensitivity_map
        from app.settings import Settings
        from renderers import parse_value, parse_wrt

        source = find(target, files or ())
        name = source.spec.name
        given = {key: parse_value(key, text) for key, text in texts}
        task = Task(
            params=source.spec.bind(given),
            wrt=parse_wrt(wrt, source.spec.params),
            width=width,
            height=height,
            seed=seed,
            strategy=strategy,
        )
        placed = source.load(open_device(device), getattr(torch, dtype), given_options.get(name))
        budget = Settings().memory_budget
        with progress_bar(f"d({name})/d({wrt})") as rows:
            result = sensitivity_map(placed, task, budget=budget, progress=rows)
        request = {"renderer": name, "wrt": wrt, "params": given, "width": width,
                   "height": height, "seed": seed, "dtype": dtype}  # fmt: skip
        if not outputs:
            path = Path(f"{name}_map.png")
            outputs = [(path, format_of(path))]
        for path, form in outputs:
            write(path, encode(result, source.spec, task, form, style, request))
        if image_output:
            write(image_output[0], image_output[1].encode_image(result.image, {}))
        report(result, [path for path, _ in outputs])
