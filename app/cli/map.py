"""`sensmap map`: compute a map and write it to files."""

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import torch
import typer

from app.captions import captioned
from app.cli.target import find
from app.cli.terminal import (
    Device,
    Files,
    Options,
    Target,
    UsageError,
    parse_options,
    plain_errors,
    progress_bar,
    screen,
)
from app.engine import SensitivityMap, Task, open_device, sensitivity_map
from app.imaging import FORMATS, Encoded, Format, Style
from app.settings import Settings
from renderers import Spec, parse_value, parse_wrt, suggestion

DTYPES = {"float32": torch.float32, "float64": torch.float64}


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
        given = dict(assignment(text) for text in values or ())
        width, height = parse_size(size)
        if dtype not in DTYPES:
            raise UsageError(f"There is no dtype {dtype!r}." + suggestion(dtype, DTYPES))
        source = find(target, files or ())
        name = source.spec.name
        task = Task(
            params=source.spec.bind(given),
            wrt=parse_wrt(wrt, source.spec.params),
            width=width,
            height=height,
            seed=seed,
            strategy=strategy,
        )
        placed = source.load(open_device(device), DTYPES[dtype], parse_options(options).get(name))
        budget = Settings().memory_budget
        with progress_bar(f"d({name})/d({wrt})") as rows:
            result = sensitivity_map(placed, task, budget=budget, progress=rows)
        request = {"renderer": name, "wrt": wrt, "params": given, "width": width,
                   "height": height, "seed": seed, "dtype": dtype}  # fmt: skip
        outputs = outputs or [(Path(f"{name}_map.png"), FORMATS["png"])]
        for path, form in outputs:
            write(path, encode(result, source.spec, task, form, style, request))
        if image_output:
            write(image_output[0], image_output[1].encode_image(result.image, {}))
        report(result, [path for path, _ in outputs])


def encode(
    result: SensitivityMap,
    spec: Spec,
    task: Task,
    form: Format,
    style: Style,
    request: Mapping[str, Any],
) -> Encoded:
    """A map in a format, with what was asked and how it was got."""
    assert result.values is not None  # noqa: S101 - asked for a map
    assert task.wrt is not None  # noqa: S101
    metadata = {
        "request": request,
        "strategy": result.strategy,
        "tiles": "recorded" if result.recorded else "eager",
        "statistics": result.statistics.describe(),
        "certificate": result.certificate and result.certificate.describe(),
    }
    return form.encode(captioned(result.values, result.image, spec, task.wrt), style, metadata)


def write(path: Path, encoded: Encoded) -> None:
    """Write a file whole or not at all."""
    draft = path.with_name(path.name + ".part")
    with draft.open("wb") as file:
        for chunk in encoded.chunks:
            file.write(chunk)
    draft.replace(path)


def report(result: SensitivityMap, paths: Sequence[Path]) -> None:
    """Say what was computed, in two lines."""
    said = result.statistics
    # Adding zero makes 0 of -0.
    low, high = (said.low + 0.0, said.high + 0.0) if said.finite else (math.nan, math.nan)
    screen.print(
        f"{', '.join(map(str, paths))}: {low:.6g} to {high:.6g}, {said.nan} NaN, "
        f"strategy {result.strategy}, {result.seconds['compute']:.2f} s in bands of "
        f"{result.plan.rows} rows",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )


def format_of(path: Path) -> Format:
    """The format that a file's suffix names.

    Raises:
        UsageError: none has that suffix.
    """
    name = path.suffix.removeprefix(".").lower()
    if name not in FORMATS:
        raise UsageError(f"{path.name!r} names no format." + suggestion(name, FORMATS))
    return FORMATS[name]


def assignment(text: str) -> tuple[str, Any]:
    """Read `NAME=VALUE`.

    Raises:
        UsageError: it is not of that form.
    """
    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"--set wants NAME=VALUE; got {text!r}.")
    return name, parse_value(name, value)


def parse_size(text: str) -> tuple[int, int]:
    """Read `WIDTHxHEIGHT`.

    Raises:
        UsageError: it is not of that form, or a side is 0.
    """
    match = re.fullmatch(r"([1-9]\d{0,5})x([1-9]\d{0,5})", text)
    if match is None:
        raise UsageError(f"--size wants WIDTHxHEIGHT, such as 1024x768; got {text!r}.")
    return int(match[1]), int(match[2])


def parse_range(text: str | None) -> tuple[float, float] | None:
    """Read `LOW,HIGH`.

    Raises:
        UsageError: it is not of that form.
    """
    if text is None:
        return None
    numbers = parse_value("rescale", text)
    if not isinstance(numbers, list) or len(numbers) != 2:
        raise UsageError(f"--rescale wants LOW,HIGH; got {text!r}.")
    return numbers[0], numbers[1]
