"""`sensmap map`: compute a map and write it to files."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from app.cli.arguments import Device, Files, Options, Target, format_of, parse_options
from app.cli.asking import (
    Certify,
    Channel,
    Colorbar,
    Colormap,
    Direction,
    Dtype,
    Norm,
    Normalise,
    Output,
    Overlay,
    Rescale,
    Second,
    Seed,
    Set,
    Size,
    Strategy,
    Symmetric,
    Wrt,
    read,
    style,
)
from app.cli.terminal import plain_errors, progress_bar


def map_command(  # noqa: PLR0913 - one argument is one option of the command line
    target: Target,
    wrt: Wrt = None,
    direction: Direction = None,
    normalise: Normalise = False,
    second: Second = "",
    given: Set = None,
    size: Size = "512x512",
    output: Output = None,
    image: Annotated[
        Path | None, typer.Option(help="File for the primal image; its suffix is the format.")
    ] = None,
    stride: Annotated[
        int, typer.Option(min=1, max=64, help="Compute every so many rows and columns.")
    ] = 1,
    seed: Seed = 0,
    dtype: Dtype = "float32",
    strategy: Strategy = "auto",
    certify: Certify = True,
    colormap: Colormap = None,
    rescale: Rescale = None,
    symmetric: Symmetric = True,
    norm: Norm = "linear",
    channel: Channel = "mean",
    overlay: Overlay = 0.0,
    colorbar: Colorbar = False,
    device: Device = "auto",
    files: Files = None,
    options: Options = None,
) -> None:
    """Compute d(image)/d(WRT) and write it, as a picture or as numbers."""
    with plain_errors():
        # What can be refused without torch comes before torch, which takes seconds to import.
        drawn = style(colormap=colormap, rescale=rescale, symmetric=symmetric, norm=norm,
                      channel=channel, overlay=overlay, colorbar=colorbar)  # fmt: skip
        outputs = [(path, format_of(path)) for path in output or ()]
        image_output = None if image is None else (image, format_of(image))
        given_options = parse_options(options)
        asked = read(wrt=wrt, direction=direction, normalise=normalise, second=second,
                     given=given, size=size, seed=seed, dtype=dtype)  # fmt: skip

        from app.cli.output import report, write
        from app.cli.target import find
        from app.compute.here import compute
        from app.compute.kinds import maps
        from app.documents import document
        from app.engine import open_device
        from app.settings import Settings

        source = find(target, files or ())
        spec, name = source.spec, source.spec.name
        subject = asked.subject(spec)
        frame = replace(asked.frame(), stride=stride)
        work = maps.work(spec, frame, subject, second=second, strategy=strategy, certify=certify)
        with progress_bar(f"d({name})/d({', '.join(subject.names)})") as rows:
            result = compute(source, work, device=open_device(device), progress=rows,
                             budget=Settings().memory_budget,
                             options=given_options.get(name))  # fmt: skip
        if not outputs:
            path = Path(f"{name}_map.png")
            outputs = [(path, format_of(path))]
        said = asked.request(spec) | ({"stride": stride} if stride > 1 else {})
        for path, form in outputs:
            write(path, document(result, spec, form, drawn, said))
        if image_output:
            write(image_output[0], image_output[1].encode_image(result.arrays["image"], {}))
        report(result.facts, [path for path, _ in outputs])
