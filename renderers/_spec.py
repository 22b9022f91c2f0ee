"""The declaration of a renderer, as plain data."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from torch import Tensor

from renderers._errors import ParameterError, suggestion
from renderers._params import NAME, Param

Kind = Literal["pixel", "frame"]


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
