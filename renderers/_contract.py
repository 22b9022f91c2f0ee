"""What a renderer is: a declared, pure function from positions and parameters to an image."""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from renderers._errors import DeclarationError, OutputError, ParameterError, suggestion
from renderers._params import NAME, Param

Kind = Literal["pixel", "frame"]
CHANNELS: Mapping[str, tuple[str, ...]] = {"rgb": ("r", "g", "b"), "grey": ("grey",)}


@dataclass(frozen=True, slots=True, eq=False)
class Pixels:
    """Positions at which a pixel renderer is asked, any number in any order.

    Attributes:
        x: positions to the right, shape `(*pixels,)`; the shorter side of the frame spans [-1, 1].
        y: positions upwards, the same shape.
        width: width of the whole frame in pixels.
        height: height of the whole frame in pixels.
    """

    x: Tensor
    y: Tensor
    width: int
    height: int

    @property
    def pitch(self) -> float:
        """Width of a pixel in the units of `x` and `y`."""
        return 2.0 / min(self.width, self.height)

    @property
    def shape(self) -> torch.Size:
        """Shape `(*pixels,)` of the positions."""
        return self.x.shape


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A window of rows of the frame, as a frame renderer is asked for it.

    Attributes:
        width: width of the whole frame in pixels.
        height: height of the whole frame in pixels.
        start: first row wanted, counted from the top.
        stop: one past the last row wanted.
        device: where the image is wanted.
        dtype: dtype of the image.
    """

    width: int
    height: int
    start: int
    stop: int
    device: torch.device
    dtype: torch.dtype

    def pixels(self) -> Pixels:
        """Centres of the window's pixels, shape `(stop - start, width)`.

        A position depends on its own row and column alone, so a row has the same bits in every
        window. The grids are dense: torch takes another path, with other rounding, for views.
        """
        pitch = 2.0 / min(self.width, self.height)
        column = torch.arange(self.width, device=self.device, dtype=self.dtype)
        row = torch.arange(self.start, self.stop, device=self.device, dtype=self.dtype)
        x = (column + (0.5 - self.width / 2)) * pitch
        y = ((self.height / 2 - 0.5) - row) * pitch
        shape = (self.stop - self.start, self.width)
        return Pixels(
            x[None, :].expand(shape).contiguous(),
            y[:, None].expand(shape).contiguous(),
            self.width,
            self.height,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Spec:
    """The declaration of a renderer, plain data: it crosses processes and describes the API.

    Attributes:
        name: how the renderer is asked for.
        kind: `pixel` (any positions) or `frame` (a window of rows).
        channels: names of the image's channels.
        params: the parameters, in the order of the signature.
        halo: rows more on each side that a frame renderer needs for a window to be right; None
            when it can only be evaluated whole. Pixel renderers need none.
        random: whether the renderer takes a `seed`.
        native: whether it brings its own derivative.
        doc: the docstring; its first line is the summary.
    """

    name: str
    kind: Kind
    channels: tuple[str, ...]
    params: Mapping[str, Param]
    halo: int | None = 0
    random: bool = False
    native: bool = False
    doc: str = ""

    @property
    def summary(self) -> str:
        """First line of the documentation."""
        return self.doc.partition("\n")[0].strip()

    def bind(self, values: Mapping[str, object]) -> dict[str, Tensor]:
        """Every parameter as a float64 tensor on the CPU, the given values over the defaults.

        Raises:
            ParameterError: an unknown name, or a value that the declaration does not allow.
        """
        for name in values:
            if name not in self.params:
                shown = name if NAME.fullmatch(name) else "of that name"
                raise ParameterError(
                    f"Renderer {self.name!r} has no parameter {shown!r}."
                    + suggestion(name, self.params),
                    code="unknown_parameter",
                    field="params",
                )
        return {
            name: declared.check(name, values[name]) if name in values else declared.default
            for name, declared in self.params.items()
        }

    def describe(self) -> dict[str, Any]:
        """The declaration as plain data, for JSON."""
        return {
            "name": self.name,
            "kind": self.kind,
            "channels": list(self.channels),
            "params": {name: declared.describe() for name, declared in self.params.items()},
            "halo": self.halo,
            "random": self.random,
            "native": self.native,
            "doc": self.doc,
        }

    @classmethod
    def from_description(cls, data: Mapping[str, Any]) -> "Spec":
        """The declaration back from `describe`."""
        params = {name: Param.from_description(item) for name, item in data["params"].items()}
        fields = {**data, "channels": tuple(data["channels"]), "params": params}
        return cls(**fields)


Render = Callable[..., Tensor]
"""The render function itself: `where, **params` to the image at `where`, `(*pixels, channels)`."""

Jvp = Callable[[Any, Mapping[str, Tensor], Mapping[str, Tensor]], tuple[Tensor, Tensor]]


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """A renderer on a device: its declaration, its function and, where it has one, its own jvp."""

    spec: Spec
    function: Render
    device: torch.device
    dtype: torch.dtype
    jvp: Jvp | None = None

    def __call__(
        self, where: Pixels | Frame, params: Mapping[str, Tensor], seed: int = 0
    ) -> Tensor:
        """The image at `where`, shape `(*pixels, channels)`, checked to be one.

        Raises:
            OutputError: the function answered with no floating-point image of that shape.
        """
        if self.spec.random:
            image = self.function(where, **params, seed=seed)
        else:
            image = self.function(where, **params)
        return self._checked(image, where)

    def _checked(self, image: object, where: Pixels | Frame) -> Tensor:
        pixels = (
            tuple(where.shape)
            if isinstance(where, Pixels)
            else (where.stop - where.start, where.width)
        )
        shape = (*pixels, len(self.spec.channels))
        if not isinstance(image, Tensor):
            raise OutputError(
                f"Renderer {self.spec.name!r} must return a tensor; got {type(image).__name__}."
            )
        if len(self.spec.channels) == 1 and tuple(image.shape) == pixels:
            image = image.unsqueeze(-1)
        if tuple(image.shape) != shape:
            raise OutputError(
                f"Renderer {self.spec.name!r} must return an image of shape {list(shape)} for "
                f"channels {', '.join(self.spec.channels)}; got {list(image.shape)}."
            )
        if not image.is_floating_point():
            raise OutputError(
                f"Renderer {self.spec.name!r} must return real numbers; got {image.dtype}. "
                "A cast to integers has no derivative: return the values before quantisation.",
                code="quantised_output",
            )
        return image


@dataclass(frozen=True, slots=True, eq=False)
class Renderer:
    """A render function that can be loaded on a device.

    Attributes:
        spec: the declaration.
        source: the decorated function or class.
        options: what the operator may set when the renderer is loaded, with defaults.
    """

    spec: Spec
    source: Callable[..., Any]
    options: tuple[str, ...] = ()

    def load(
        self,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
        options: Mapping[str, str] | None = None,
    ) -> Loaded:
        """Place the renderer's state on the device.

        Args:
            device: where tiles will be computed.
            dtype: dtype of its state and of what it is given.
            options: settings of the operator, such as the file of a volume.

        Raises:
            DeclarationError: an option that the renderer does not have.
        """
        device = torch.device(device)
        for name in options or {}:
            if name not in self.options:
                raise DeclarationError(
                    f"Renderer {self.spec.name!r} has no option {name!r}."
                    + suggestion(name, self.options)
                )
        if not inspect.isclass(self.source):
            return Loaded(self.spec, self.source, device, dtype)
        make: Callable[..., Any] = self.source
        state = make(device, dtype, **(options or {}))
        return Loaded(self.spec, state.render, device, dtype, getattr(state, "jvp", None))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the decorated function, or make an object of the decorated class."""
        return self.source(*args, **kwargs)


def renderer(
    *,
    channels: str | tuple[str, ...] = "rgb",
    halo: int | None = None,
    random: bool = False,
    name: str = "",
) -> Callable[[Callable[..., Any]], Renderer]:
    """Declare a function, or a class with a `render` method, to be a renderer.

    The first argument tells the kind: `pixels` makes a pixel renderer, `frame` a frame renderer.
    Every other argument has `param(...)` for a default; a `random` one also takes `seed`.

    Args:
        channels: `rgb`, `grey`, or the names of the image's channels.
        halo: for a frame renderer, how many rows outside a window its rows depend on; None when
            it must be evaluated whole. The engine asks for that many more and cuts them off.
        random: whether the function takes a `seed`; the same seed must give the same bytes.
        name: how it is asked for; the function's name, or the class's in lower case, by default.

    Raises:
        DeclarationError: a signature that is not of that form.
    """

    def declare(source: Callable[..., Any]) -> Renderer:
        function = getattr(source, "render", None) if inspect.isclass(source) else source
        if function is None:
            raise DeclarationError("A renderer class has a method `render(self, pixels, ...)`.")
        kind, params = _signature(function, random=random)
        if kind == "pixel" and halo is not None:
            raise DeclarationError("A pixel renderer needs no `halo`: it is asked pixel by pixel.")
        if halo is not None and halo < 0:
            raise DeclarationError(f"`halo` counts rows; got {halo}.")
        spec = Spec(
            name=_checked_name(name or _snake(source.__name__)),
            kind=kind,
            channels=_channel_names(channels),
            params=params,
            halo=0 if kind == "pixel" else halo,
            random=random,
            native=hasattr(source, "jvp"),
            doc=inspect.getdoc(source) or "",
        )
        return Renderer(spec, source, _options(source))

    return declare


def _signature(function: Callable[..., Any], *, random: bool) -> tuple[Kind, dict[str, Param]]:
    arguments = [a for a in inspect.signature(function).parameters.values() if a.name != "self"]
    if not arguments or arguments[0].name not in ("pixels", "frame"):
        raise DeclarationError("The first argument of a render function is `pixels` or `frame`.")
    kind: Kind = "pixel" if arguments[0].name == "pixels" else "frame"
    params: dict[str, Param] = {}
    for argument in arguments[1:]:
        if random and argument.name == "seed":
            continue
        if not isinstance(argument.default, Param):
            raise DeclarationError(
                f"Argument {argument.name!r} needs `param(...)` for its default."
                + (
                    " (Declare `random=True` to be given a seed.)"
                    if argument.name == "seed"
                    else ""
                )
            )
        params[_checked_name(argument.name)] = argument.default
    if random and all(a.name != "seed" for a in arguments):
        raise DeclarationError("A `random` renderer takes an argument named `seed`.")
    return kind, params


def _options(source: Callable[..., Any]) -> tuple[str, ...]:
    if not inspect.isclass(source):
        return ()
    arguments = inspect.signature(source).parameters.values()
    return tuple(a.name for a in arguments if a.kind is a.KEYWORD_ONLY)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _checked_name(name: str) -> str:
    if not NAME.fullmatch(name):
        raise DeclarationError(
            f"{name!r} is no name: lower-case letters, digits and underscores, a letter first."
        )
    return name


def _channel_names(channels: str | tuple[str, ...]) -> tuple[str, ...]:
    names = CHANNELS.get(channels) if isinstance(channels, str) else tuple(channels)
    if not names or len(set(names)) != len(names):
        raise DeclarationError(f"`channels` is `rgb`, `grey` or distinct names; got {channels!r}.")
    return names
