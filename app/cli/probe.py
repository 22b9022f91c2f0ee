"""`sensmap probe` and `sensmap entries`: which parameters move this pixel, and by how much."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from app.cli.arguments import Device, Files, Options, Target, parse_options, split_names
from app.cli.asking import Certify, Dtype, Output, Seed, Set, Size, Wrt, read
from app.cli.terminal import UsageError, plain_errors

if TYPE_CHECKING:
    from app.compute import Result
    from app.imaging import Encoding

paper = Console()
# Entries of a parameter that a table shows one by one.
MOST_SHOWN = 4


def probe_command(  # noqa: PLR0913 - one argument is one option of the command line
    target: Target,
    at: Annotated[
        list[str] | None, typer.Option(metavar="X,Y", help="A pixel; repeatable.")
    ] = None,
    rectangle: Annotated[
        list[str] | None,
        typer.Option(metavar="X0,Y0,X1,Y1", help="Pixels up to column X1 and row Y1; repeatable."),
    ] = None,
    mask: Annotated[
        list[Path] | None, typer.Option(help="A .npy or .png of weights; repeatable.")
    ] = None,
    channel: Annotated[str, typer.Option(help="mean, sum, each, or a name or index.")] = "mean",
    reduce: Annotated[str, typer.Option(help="mean or sum of a region's pixels.")] = "mean",
    wrt: Wrt = None,
    given: Set = None,
    size: Size = "512x512",
    output: Output = None,
    seed: Seed = 0,
    dtype: Dtype = "float32",
    certify: Certify = True,
    device: Device = "auto",
    files: Files = None,
    options: Options = None,
) -> None:
    """Say how regions of an image answer to every parameter."""
    with plain_errors():
        asked = read(wrt=wrt or ["*"], direction=None, normalise=False, second="", given=given,
                     size=size, seed=seed, dtype=dtype)  # fmt: skip
        given_options = parse_options(options)
        regions = regions_of(at or (), rectangle or (), mask or ())
        index = {"channel": int(channel) if channel.isdigit() else channel, "reduce": reduce}
        regions = [{**region, **index} for region in regions]

        from app.cli.output import write
        from app.cli.target import find
        from app.compute.here import compute
        from app.compute.kinds import probing
        from app.documents import PROBE_FORMATS, picturable
        from app.engine import open_device
        from app.imaging import Style
        from app.settings import Settings

        outputs = [(path, form_of(path, PROBE_FORMATS)) for path in output or ()]
        source = find(target, files or ())
        spec = source.spec
        subject = asked.subject(spec)
        if any(form.name == "png" for _, form in outputs) and not picturable(subject.wrt):
            raise UsageError("A png shows one parameter that is itself an image: --wrt NAME.")
        work = probing.work(spec, asked.frame(), subject, regions, certify=certify)
        result = compute(source, work, device=open_device(device), budget=Settings().memory_budget,
                         options=given_options.get(spec.name))  # fmt: skip
        request = asked.request(spec) | {"regions": regions}
        for path, form in outputs:
            write(path, form.encode(result, spec, Style(norm="symlog", colorbar=True), request))
    names = [wrt.name for wrt in subject.wrt]
    show(spec.name, names, result)


def entries_command(  # noqa: PLR0913 - one argument is one option of the command line
    target: Target,
    at: Annotated[
        list[str] | None,
        typer.Option("--output", metavar="X,Y,CHANNEL", help="A row; repeatable."),
    ] = None,
    entry: Annotated[
        list[str] | None,
        typer.Option(help="A column: radius, light[2], or light for all; repeatable."),
    ] = None,
    given: Set = None,
    size: Size = "512x512",
    file: Annotated[
        list[Path] | None, typer.Option("-o", help="File; its suffix is the format. Repeatable.")
    ] = None,
    seed: Seed = 0,
    dtype: Dtype = "float32",
    device: Device = "auto",
    files: Files = None,
    options: Options = None,
) -> None:
    """Say single entries of the Jacobian d(image)/d(parameters)."""
    with plain_errors():
        asked = read(wrt=["*"], direction=None, normalise=False, second="", given=given,
                     size=size, seed=seed, dtype=dtype)  # fmt: skip
        given_options = parse_options(options)
        rows = [_output(text) for text in at or ()]
        columns = [name for text in entry or () for name in split_names(text)]
        if not (rows and columns):
            raise UsageError("Say rows and columns: --output X,Y,CHANNEL and --entry NAME.")

        from app.cli.output import write
        from app.cli.target import find
        from app.compute.here import compute
        from app.compute.kinds import entries
        from app.documents import ENTRY_FORMATS
        from app.engine import open_device
        from app.imaging import Style
        from app.settings import Settings

        outputs = [(path, form_of(path, ENTRY_FORMATS)) for path in file or ()]
        source = find(target, files or ())
        spec = source.spec
        work = entries.work(spec, asked.frame(), rows, columns)
        result = compute(source, work, device=open_device(device), budget=Settings().memory_budget,
                         options=given_options.get(spec.name))  # fmt: skip
        request = asked.request(spec) | {"outputs": rows, "entries": columns}
        del request["wrt"]
        for path, form in outputs:
            write(path, form.encode(result, spec, Style(), request))
    labels = [escape(each) for each in ("output", "value", *result.facts["labels"])]
    table = Table(*labels, box=None, pad_edge=False, title=spec.name, title_justify="left")
    for row, value, each in zip(rows, result.arrays["values"], result.arrays["entries"],
                                strict=True):  # fmt: skip
        table.add_row(",".join(map(str, row)), f"{value:.4g}", *(f"{one:.4g}" for one in each))
    paper.print(table)
    warn(result)


def regions_of(at: Any, rectangles: Any, masks: Any) -> list[dict[str, Any]]:
    """Regions as plain data, each named as it was typed.

    Raises:
        UsageError: one is not of its form, or there is none.
    """
    found: list[dict[str, Any]] = []
    for keys, texts, option in (
        (("x", "y"), at, "--at wants X,Y"),
        (("x0", "y0", "x1", "y1"), rectangles, "--rectangle wants X0,Y0,X1,Y1"),
    ):
        for text in texts:
            parts = text.split(",")
            if len(parts) != len(keys) or not all(part.strip().isdecimal() for part in parts):
                raise UsageError(f"{option}: whole numbers of pixels; got {text!r}.")
            found.append({**dict(zip(keys, map(int, parts), strict=True)), "name": text})
    found += [{"mask": _mask(path), "name": path.name} for path in masks]
    if not found:
        raise UsageError("Say where to look: --at X,Y, --rectangle X0,Y0,X1,Y1 or --mask FILE.")
    return found


def _mask(path: Path) -> list[Any]:
    """The weights of a file; a picture's are its greys, from 0 to 1."""
    import numpy as np

    try:
        if path.suffix == ".png":
            from PIL import Image

            with Image.open(path) as picture:
                weights = np.asarray(picture.convert("L"), np.float64) / 255
        else:
            weights = np.load(path, allow_pickle=False)
    except (ValueError, SyntaxError) as error:
        raise UsageError(f"{path} holds no mask.") from error
    if weights.ndim != 2:
        raise UsageError(f"A mask is rows of numbers; {path} has shape {list(weights.shape)}.")
    found: list[Any] = weights.tolist()
    return found


def _output(text: str) -> list[Any]:
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 3 or not all(part.isdecimal() for part in parts[:2]):
        raise UsageError(f"--output wants X,Y,CHANNEL, such as 10,20,0; got {text!r}.")
    return [int(part) if part.isdecimal() else part for part in parts]


def form_of(path: Path, forms: Any) -> "Encoding[Any]":
    """The format that a file's suffix names.

    Raises:
        UsageError: there is none in the table.
    """
    name = path.suffix.removeprefix(".").lower()
    if name not in forms:
        raise UsageError(f"This is written as {', '.join(forms)}; got {path.name}.")
    form: Encoding[Any] = forms[name]
    return form


def show(title: str, names: list[str], result: "Result") -> None:
    """A table of regions and parameters, then what is doubtful."""
    table = Table("region", "value", *map(escape, names), box=None, pad_edge=False, title=title,
                  title_justify="left")  # fmt: skip
    for row, region in enumerate(result.facts["names"]):
        gradients = (result.arrays[f"gradients/{name}"][row] for name in names)
        cells = (_cell(gradient) for gradient in gradients)
        table.add_row(escape(region), f"{result.arrays['values'][row]:.4g}", *cells)
    paper.print(table)
    warn(result)


def _cell(gradient: Any) -> str:
    """The numbers of a gradient, or how many there are and the largest."""
    if gradient.size > MOST_SHOWN:
        return f"{gradient.size} entries, at most {abs(gradient).max():.3g}"
    return ", ".join(f"{each:.4g}" for each in gradient.reshape(-1))


def warn(result: "Result") -> None:
    """Say what is doubtful."""
    for warning in result.facts["warnings"]:
        line = f"{warning['code']}: {warning['message']}"
        paper.print(line, markup=False, highlight=False, soft_wrap=True)
