"""Errors of the renderers' room.

RendererError
├── DeclarationError        a renderer is declared in a way that cannot work
├── LoadError               a renderer's file, entry point or scene does not load
├── UnknownRendererError    no renderer of that name
├── ParameterError          a value, name or entry of a parameter is not acceptable
└── OutputError             a render function answered with something that is no image
"""

from collections.abc import Iterable
from difflib import get_close_matches


class RendererError(Exception):
    """Anything that is wrong with a renderer or with what was asked of it.

    Attributes:
        code: stable identifier of the error, for programs.
        field: name of the request field that is at fault, or an empty string.
    """

    code = "renderer_error"

    def __init__(self, message: str, *, code: str = "", field: str = "") -> None:
        super().__init__(message)
        self.code = code or type(self).code
        self.field = field


class DeclarationError(RendererError):
    """A renderer is declared in a way that cannot work."""

    code = "invalid_declaration"


class LoadError(RendererError):
    """A renderer's file, entry point or scene does not load."""

    code = "load_failed"


class UnknownRendererError(RendererError):
    """No renderer of that name."""

    code = "unknown_renderer"


class ParameterError(RendererError):
    """A value, name or entry of a parameter is not acceptable."""

    code = "invalid_parameter"


class OutputError(RendererError):
    """A render function answered with something that is no image of the declared shape."""

    code = "invalid_output"


def suggestion(name: str, choices: Iterable[str]) -> str:
    """The sentence that names the choices, and the nearest one first where one is near."""
    known = sorted(choices)
    near = get_close_matches(name, known, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"{hint} Choices: {', '.join(known) or 'none'}."
