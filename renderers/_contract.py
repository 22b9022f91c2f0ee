"""What a renderer is: a declared, pure function from positions and parameters to an image."""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor

from renderers._errors import DeclarationError, OutputError, suggestion
from renderers._params import NAME, Param
from renderers._positions import Frame, Pixels
from renderers._spec import Kind, Spec

CHANNELS: Mapping[str, tuple[str, ...]] = {"rgb": ("r", "g", "b"), "grey": ("grey",)}

Render = Callable[..., Tensor]
"""The render function itself: `where, **params` to the image at `where`, `(*pixels, channels)`."""

Jvp = Callable[[Any, Mapping[str, Tensor], Mapping[str, Tensor]], tuple[Tensor, Tensor]]


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """A renderer on a device.

    Attributes:
        spec: the declaration.
        function: the render function, with what it keeps on the device.
        device: where it computes.
        dtype: of its state and of what it is given.
        load_as: the same renderer in another dtype, loaded when it is first asked for.
        jvp: its own derivative, where it has one.
    """

    spec: Spec
    function: Render
    device: torch.device
    dtype: torch.dtype
    load_as: Callable[[torch.dtype], "Loaded"]
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

        @cache
        def load_as(other: torch.dtype) -> Loaded:
            if not inspect.isclass(self.source):
                return Loaded(self.spec, self.source, device, other, load_as)
            make: Callable[..., Any] = self.source
            state = make(device, other, **(options or {}))
            jvp = getattr(state, "jvp", None)
            return Loaded(self.spec, state.render, device, other, load_as, jvp)

        return load_as(dtype)

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
