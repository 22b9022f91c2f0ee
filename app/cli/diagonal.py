"""`sensmap diagonal`: how each value of an image answers to the parameter in its own place."""

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
)
from app.cli.asking import Colorbar, Dtype, Output, Seed, Set, style
from app.cli.terminal import UsageError, plain_errors


def diagonal_command(  # noqa: PLR0913 - one argument is one option of the command line
    target: Target,
    wrt: Annotated[str, typer.Option(help="The parameter, an image of the frame's shape.")],
    method: Annotated[
        str,
        typer.Option(help="auto, pointwise, stencil, loop, hutchinson, hutch++, xtrace or xdiag."),
    ] = "auto",
    passes: Annotated[int, typer.Option(min=1, help="Products of an estimate.")] = 64,
    draw: Annotated[int, typer.Option(min=0, help="Seed of an estimate.")] = 0,
    given: Set = None,
    output: Output = None,
    seed: Seed = 0,
    dtype: Dtype = "float32",
    colorbar: Colorbar = False,
    device: Device = "auto",
    files: Files = None,
    options: Options = None,
) -> None:
    """Find the diagonal of d(image)/d(WRT) and its trace, and say how."""
    with plain_errors():
        drawn = style(colormap=None, rescale=None, symmetric=True, norm="linear", channel="mean",
                      overlay=0.0, colorbar=colorbar)  # fmt: skip
        outputs = [(path, format_of(path)) for path in output or ()]
        texts = dict(parse_assignment(text) for text in given or ())
        dtype, given_options = parse_dtype(dtype), parse_options(options)

        from app.cli.output import say, write
        from app.cli.target import find
        from app.compute.here import compute
        from app.compute.kinds import diagonal
        from app.documents import DIAGONAL_FORMATS
        from app.engine import open_device
        from app.settings import Settings
        from renderers import parse_value

        source = find(target, files or ())
        spec, name = source.spec, source.spec.name
        params = {key: parse_value(key, text) for key, text in texts.items()}
        work = diagonal.work(spec, params, wrt, dtype=dtype, seed=seed, method=method,
                             passes=passes, draw=draw)  # fmt: skip
        if method in diagonal.TRACE_ALONE and any(form.name != "json" for _, form in outputs):
            raise UsageError(f"{method} estimates the trace alone: write json, or say another.")
        result = compute(source, work, device=open_device(device), budget=Settings().memory_budget,
                         options=given_options.get(name))  # fmt: skip
        request = {"renderer": name, "params": params, "wrt": wrt, "method": method,
                   "passes": passes, "draw": draw, "seed": seed, "dtype": dtype}  # fmt: skip
        for path, form in outputs:
            write(path, DIAGONAL_FORMATS[form.name].encode(result, spec, drawn, request))
    report(result.facts["trace"], result.facts["standard_error"], [path for path, _ in outputs])
    say(f"by {result.facts['method']} in {result.facts['passes']} passes. "
        f"{result.facts['evidence']}")  # fmt: skip
    for warning in result.facts["warnings"]:
        say(f"{warning['code']}: {warning['message']}")


def report(trace: float | None, error: float | None, paths: list[Path]) -> None:
    """Say the trace, with its standard error where it has one."""
    from app.cli.output import say

    shown = "not finite" if trace is None else f"{trace:.8g}"
    spread = f" ± {error:.2g}" if error else ""
    say(f"{', '.join(map(str, [*paths, 'trace']))}: {shown}{spread}")
