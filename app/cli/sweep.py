"""`sensmap sweep`: compute the maps along a range of one parameter and write them to files."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.arguments import (
    Device,
    Files,
    Options,
    Target,
    parse_numbers,
    parse_options,
    sweep_format_of,
)
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
from app.cli.terminal import UsageError, plain_errors, progress_bar


def sweep_command(  # noqa: PLR0913 - one argument is one option of the command line
    target: Target,
    along: Annotated[str, typer.Option(help="What runs along the range: radius, light[2].")],
    wrt: Wrt = None,
    direction: Direction = None,
    normalise: Normalise = False,
    second: Second = "",
    low: Annotated[
        float | None,
        typer.Option("--from", help="Its value in the first frame; its lowest by default."),
    ] = None,
    high: Annotated[
        float | None,
        typer.Option("--to", help="Its value in the last frame; its highest by default."),
    ] = None,
    frames: Annotated[
        int | None, typer.Option(min=1, help="Frames of the range; 24 by default.")
    ] = None,
    values: Annotated[
        str | None,
        typer.Option(metavar="A,B,...", help="Instead, its value in each frame."),
    ] = None,
    given: Set = None,
    size: Size = "512x512",
    output: Output = None,
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
    milliseconds: Annotated[int, typer.Option(help="How long each frame stands.")] = 100,
    loop: Annotated[int, typer.Option(help="How often the picture runs; 0: for ever.")] = 0,
    boomerang: Annotated[bool, typer.Option(help="Run back as well.")] = False,
    lines: Annotated[
        bool, typer.Option("--lines/--no-lines", help="Tell the value above each frame.")
    ] = True,
    device: Device = "auto",
    files: Files = None,
    options: Options = None,
) -> None:
    """Compute d(image)/d(WRT) at each value of ALONG: a moving picture, or one stacked array."""
    with plain_errors():
        # What can be refused without torch comes before torch, which takes seconds to import.
        drawn = style(colormap=colormap, rescale=rescale, symmetric=symmetric, norm=norm,
                      channel=channel, overlay=overlay, colorbar=colorbar)  # fmt: skip
        from app.imaging import Motion

        motion = Motion(milliseconds=milliseconds, loop=loop, boomerang=boomerang, lines=lines)
        outputs = [(path, sweep_format_of(path)) for path in output or ()]
        given_options, listed = parse_options(options), parse_numbers(values)
        asked = read(wrt=wrt, direction=direction, normalise=normalise, second=second,
                     given=given, size=size, seed=seed, dtype=dtype)  # fmt: skip
        if listed is not None and (low, high, frames) != (None, None, None):
            raise UsageError("Give --values, or a range by --from, --to and --frames, not both.")

        from app.cli.output import report, write
        from app.cli.target import find
        from app.compute.here import compute
        from app.compute.kinds import sweep
        from app.documents import sweep_document
        from app.engine import open_device
        from app.settings import Settings

        source = find(target, files or ())
        spec, name = source.spec, source.spec.name
        subject = asked.subject(spec)
        run = sweep.values_along(spec, along, values=listed, low=low, high=high, frames=frames)
        work = sweep.work(spec, asked.frame(), subject, along=along, values=run, second=second,
                          strategy=strategy, certify=certify)  # fmt: skip
        with progress_bar(f"d({name})/d({', '.join(subject.names)}) along {along}") as rows:
            result = compute(source, work, device=open_device(device), progress=rows,
                             budget=Settings().memory_budget,
                             options=given_options.get(name))  # fmt: skip
        if not outputs:
            path = Path(f"{name}_sweep.png")
            outputs = [(path, sweep_format_of(path))]
        request = asked.request(spec) | {"along": along, "values": run}
        for path, form in outputs:
            write(path, sweep_document(result, spec, form, drawn, motion, request))
        report(result.facts, [path for path, _ in outputs])
