"""`sensmap information`: how well an image determines the parameters, and which it confuses."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from app.cli.arguments import Device, Files, Options, Target, parse_options
from app.cli.asking import Dtype, Output, Seed, Set, Size, Strategy, Wrt, read
from app.cli.terminal import UsageError, plain_errors, progress_bar

if TYPE_CHECKING:
    from renderers import Spec, Subject

paper = Console()
PICTURES = ("information", "dominant")


def information_command(  # noqa: PLR0913 - one argument is one option of the command line
    target: Target,
    wrt: Wrt = None,
    sigma: Annotated[
        float | None, typer.Option(help="Standard deviation of the noise; 0.01 by default.")
    ] = None,
    photons: Annotated[
        float | None, typer.Option(help="Instead, Poisson noise: photons of a value of 1.")
    ] = None,
    background: Annotated[float, typer.Option(help="Photons of the dark.")] = 0.0,
    variance: Annotated[
        Path | None, typer.Option(help="Instead, a .npy file with the variance of each pixel.")
    ] = None,
    given: Set = None,
    size: Size = "512x512",
    output: Output = None,
    picture: Annotated[str, typer.Option(help="What a png shows: information, dominant.")] = (
        "information"
    ),
    seed: Seed = 0,
    dtype: Dtype = "float32",
    strategy: Strategy = "auto",
    device: Device = "auto",
    files: Files = None,
    options: Options = None,
) -> None:
    """Say how well an image determines each parameter; exit status 1 if it confuses some."""
    with plain_errors():
        asked = read(wrt=wrt or ["*"], direction=None, normalise=False, second="", given=given,
                     size=size, seed=seed, dtype=dtype)  # fmt: skip
        given_options = parse_options(options)
        if picture not in PICTURES:
            raise UsageError(f"A picture shows {' or '.join(PICTURES)}; got {picture!r}.")
        noise = noise_of(sigma, photons, background, variance)

        from app.cli.output import write
        from app.cli.target import find
        from app.compute.here import compute
        from app.compute.kinds import informing
        from app.documents import INFORMATION_FORMATS
        from app.engine import open_device
        from app.imaging import Style, format_named
        from app.settings import Settings

        outputs = [(path, format_named(path.suffix.removeprefix("."))) for path in output or ()]
        for path, form in outputs:
            if form.name not in INFORMATION_FORMATS:
                raise UsageError(f"Information is written as {', '.join(INFORMATION_FORMATS)}; "
                                 f"got {path.suffix}.")  # fmt: skip
        source = find(target, files or ())
        spec, name = source.spec, source.spec.name
        subject = asked.subject(spec)
        work = informing.work(spec, asked.frame(), subject, noise, strategy)
        with progress_bar(f"information of {name}") as rows:
            result = compute(source, work, device=open_device(device), progress=rows,
                             budget=Settings().memory_budget,
                             options=given_options.get(name))  # fmt: skip
        said = {model: value for model, value in noise.items() if model != "variance"}
        request = asked.request(spec) | {"noise": said}
        style = Style(norm="symlog", colorbar=True)
        for path, form in outputs:
            encode = INFORMATION_FORMATS[form.name].encode
            write(path, encode(result, spec, style, picture, request))
    show(spec, subject, result.facts)
    raise typer.Exit(1 if result.facts["null"] else 0)


def noise_of(
    sigma: float | None, photons: float | None, background: float, variance: Path | None
) -> dict[str, Any]:
    """The noise model that the options name.

    Raises:
        UsageError: more than one, or a file that holds no array.
    """
    if sum(each is not None for each in (sigma, photons, variance)) > 1:
        raise UsageError("Give one of --sigma, --photons and --variance.")
    if variance is not None:
        import numpy as np

        try:
            return {"variance": np.load(variance, allow_pickle=False).tolist()}
        except ValueError as error:
            raise UsageError(f"{variance} holds no NumPy array.") from error
    if photons is not None:
        return {"poisson": {"photons": photons, "background": background}}
    return {"sigma": 0.01 if sigma is None else sigma}


def show(spec: "Spec", subject: "Subject", facts: Mapping[str, Any]) -> None:
    """A table of the parameters, then what cannot be told apart."""
    units = [spec.params[wrt.name].unit for wrt in subject.wrt for _ in range(wrt.size)]
    columns = ("parameter", "bound", "alone", "unit")
    table = Table(*columns, box=None, pad_edge=False, title=spec.name, title_justify="left")
    rows = zip(facts["parameters"], facts["bounds"], facts["bounds_alone"], units, strict=True)
    for label, bound, alone, unit in rows:
        table.add_row(label, *(_text(each) for each in (bound, alone)), unit)
    paper.print(table)
    for line in facts["words"]:
        paper.print(line, markup=False, highlight=False, soft_wrap=True)
    for warning in facts["warnings"]:
        line = f"{warning['code']}: {warning['message']}"
        paper.print(line, markup=False, highlight=False, soft_wrap=True)


def _text(bound: float | None) -> str:
    return "not determined" if bound is None else f"{bound:.3g}"
