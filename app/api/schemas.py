"""What a request may say: the API's edge, in pydantic."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool

from app.compute.kinds.sweep import FRAMES
from app.imaging import LONGEST_MS, MOST_LOOPS, SHORTEST_MS

# Frames of a sweep: a second or ten of motion.
MOST_FRAMES = 256


def _number(value: Any) -> Any:
    """Refuse what pydantic would take for a number: booleans and strings."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("a number is wanted")
    if abs(value) > 1e300:  # also integers of thousands of digits
        raise ValueError("a finite number is wanted")
    return value


Number = Annotated[float, BeforeValidator(_number), Field(allow_inf_nan=False)]
Name = Annotated[str, Field(max_length=200)]
Whole = Annotated[int, Field(strict=True)]


class ImageRequest(BaseModel):
    """A primal image: a renderer at some values of its parameters."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    params: dict[Annotated[str, Field(max_length=64)], Any] = Field(
        default_factory=dict,
        description="values by parameter, a number or nested lists; the rest stay at their default",
        examples=[{"radius": 0.7}],
    )
    width: Whole = Field(512, ge=1, description="width of the frame in pixels")
    height: Whole = Field(512, ge=1, description="height of the frame in pixels")
    seed: Whole = Field(0, ge=0, lt=1 << 63, description="seed of a random renderer")
    dtype: Literal["float32", "float64"] = Field("float32", description="arithmetic and result")


class Drawing(BaseModel):
    """How a heatmap is drawn."""

    colormap_name: str | None = Field(
        None, max_length=64, description="colormap of the picture; a fitting one by default"
    )
    rescale: tuple[Number, Number] | Literal["auto"] = Field(
        "auto", description="values at the two ends of the colormap; `auto` finds and reports them"
    )
    symmetric: StrictBool = Field(True, description="whether a found range is symmetric about 0")
    norm: str = Field("linear", max_length=64, description="`linear`, `symlog` or `abs`")
    channel: Annotated[int, Field(strict=True)] | Annotated[str, Field(max_length=64)] = Field(
        "mean", description="`mean`, `luminance`, `norm`, or a channel's name or index"
    )
    overlay: Number = Field(
        0.0, ge=0, le=1, description="opacity of the map over the dimmed image; 0: the map alone"
    )
    colorbar: StrictBool = Field(False, description="whether the picture has a colour bar")


class MapsRequest(ImageRequest, Drawing):
    """Sensitivity maps d(image)/d(wrt), and how their picture is drawn."""

    wrt: Name | Annotated[list[Name], Field(max_length=1024)] = Field(
        "",
        description="what is differentiated against: a parameter, an entry like `light[2]`, a list "
        "of these, or `*` for all parameters",
        examples=["radius"],
    )
    direction: dict[Name, Any] | None = Field(
        None,
        description="instead of `wrt`: how far each parameter (or entry) moves, for one map along "
        "any mixture of them",
        examples=[{"radius": 1.0, "light[0]": -0.5}],
    )
    normalise: StrictBool | dict[Name, Any] = Field(
        False,
        description="whether maps are multiplied by the range of their parameter, so that those of "
        "different units can be compared; or by what, by parameter",
    )
    second: Name = Field(
        "",
        description="a scalar parameter or an entry: then the maps are of d(image)/d(second), that "
        "is second derivatives",
        examples=["radius"],
    )
    strategy: str = Field("auto", max_length=64, description="how the derivative is taken")
    certify: StrictBool = Field(
        True, description="whether the map is compared with differences, and refused if wrong"
    )
    stride: Whole = Field(
        1,
        ge=1,
        le=64,
        description="every so many rows and columns of the frame are computed, from the first on: "
        "a coarse map first, of a renderer of kind `pixel`",
    )


class MapRequest(MapsRequest):
    """The sensitivity map of one frame."""

    stream: StrictBool = Field(
        False,
        description="whether rows of an npy are sent while the rest is computed, without what is "
        "known only in the end; what fails then closes the connection",
    )


class Moving(BaseModel):
    """How the frames of a picture follow each other."""

    milliseconds: Whole = Field(
        100, ge=SHORTEST_MS, le=LONGEST_MS, description="how long each frame stands"
    )
    loop: Whole = Field(0, ge=0, le=MOST_LOOPS, description="how often it runs; 0: for ever")
    boomerang: StrictBool = Field(False, description="whether it runs back as well")
    lines: StrictBool = Field(True, description="whether each frame tells the value above it")


class SweepRequest(MapsRequest, Moving):
    """The maps at each value of one parameter, drawn in one range."""

    along: Name = Field(
        min_length=1,
        description="a scalar parameter or an entry that runs along the values; `params` does not "
        "count for it",
        examples=["radius"],
    )
    values: Annotated[list[Number], Field(min_length=1, max_length=MOST_FRAMES)] | None = Field(
        None, description="its value in each frame, in any order; or a range:"
    )
    low: Number | None = Field(
        None, description="value in the first frame; the parameter's lowest by default"
    )
    high: Number | None = Field(
        None,
        description="value in the last frame, which may be below that in the first; the "
        "parameter's highest by default",
    )
    frames: Whole | None = Field(
        None, ge=1, le=MOST_FRAMES, description=f"frames of the range; {FRAMES} by default"
    )


class DiagonalRequest(Drawing):
    """The diagonal of d(image)/d(wrt), where the parameter is an image of the frame's shape."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    params: dict[Annotated[str, Field(max_length=64)], Any] = Field(
        default_factory=dict, description="values by parameter; the rest stay at their default"
    )
    wrt: Name = Field(description="the parameter, an image", examples=["picture"])
    seed: Whole = Field(0, ge=0, lt=1 << 63, description="seed of a random renderer")
    dtype: Literal["float32", "float64"] = Field("float32", description="arithmetic and result")
    method: str = Field(
        "auto",
        max_length=64,
        description="`auto`, `pointwise`, `stencil`, `loop`, or an estimate by `hutchinson`, "
        "`hutch++`, `xtrace` or `xdiag`",
    )
    passes: Whole = Field(64, ge=1, le=4096, description="products that an estimate may take")
    draw: Whole = Field(0, ge=0, lt=1 << 63, description="seed of an estimate's random vectors")


class InformationRequest(ImageRequest, Drawing):
    """What a frame is to tell of, and how noisy it is."""

    wrt: Name | Annotated[list[Name], Field(max_length=1024)] = Field(
        "*", description="the parameters: one, an entry, a list of these, or `*` for all"
    )
    noise: dict[Name, Any] = Field(
        default_factory=lambda: {"sigma": 0.01},
        description='`{"sigma": 0.01}`, `{"poisson": {"photons": 1000, "background": 1}}`, or '
        '`{"variance": [[...]]}` for each pixel',
        examples=[{"sigma": 0.01}],
    )
    strategy: str = Field("auto", max_length=64, description="how the derivatives are taken")
    picture: Literal["information", "dominant"] = Field(
        "information",
        description="what a png shows: the information of each pixel on each parameter, or the "
        "parameter of which a pixel tells most",
    )
    norm: str = Field("symlog", max_length=64, description="`linear`, `symlog` or `abs`")
    channel: Literal["mean"] = Field("mean", description="information is of all channels")
    colorbar: StrictBool = Field(True, description="whether the picture has a colour bar")


class ProbeRequest(ImageRequest, Drawing):
    """Regions of a frame, and the parameters that they are to answer to."""

    regions: Annotated[list[dict[Name, Any]], Field(max_length=4096)] = Field(
        description='pixels `{"x": 10, "y": 20}`, rectangles `{"x0": 0, "y0": 0, "x1": 8, "y1": 8}`'
        ' without the last column and row, `{"points": [[10, 20], ...], "weights": [1, ...]}` or '
        '`{"mask": [[0, 1, ...], ...]}` of the frame\'s size; with `name`, `weight`, `channel` '
        "(a name, an index, `mean`, `sum` or `each`) and `reduce` (`mean` or `sum`) as wanted",
        examples=[[{"x": 10, "y": 20}, {"x0": 0, "y0": 0, "x1": 8, "y1": 8, "name": "corner"}]],
    )
    wrt: Name | Annotated[list[Name], Field(max_length=1024)] = Field(
        "*", description="the parameters: one, a list of them, or `*` for all"
    )
    certify: StrictBool = Field(
        True, description="whether the gradients of many pixels are compared once more"
    )
    norm: str = Field("symlog", max_length=64, description="`linear`, `symlog` or `abs`")
    colorbar: StrictBool = Field(True, description="whether the picture has a colour bar")


class EntriesRequest(ImageRequest):
    """Rows and columns of the Jacobian of a frame."""

    outputs: Annotated[list[Any], Field(max_length=65536)] = Field(
        description="rows, each `[x, y, channel]` with the channel's index or name",
        examples=[[[10, 20, 0]]],
    )
    entries: Annotated[list[Name], Field(max_length=65536)] = Field(
        description="columns: `radius`, `light[2]`, or `light` for all entries of a parameter",
        examples=[["radius"]],
    )


class CheckRequest(BaseModel):
    """Which parameters of a renderer are checked, and at which values."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    params: dict[str, Any] = Field(default_factory=dict, description="values by parameter")
    wrt: str = Field("", max_length=200, description="a parameter or an entry; all by default")
