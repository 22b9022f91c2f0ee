"""Pluggable differentiable render functions: one file each, and how to declare more."""

from renderers._contract import Loaded, Renderer, renderer
from renderers._errors import (
    DeclarationError,
    LoadError,
    OutputError,
    ParameterError,
    RendererError,
    UnknownRendererError,
    suggestion,
)
from renderers._params import Param, Wrt, param, parse_value, parse_wrt
from renderers._positions import Frame, Pixels
from renderers._registry import Registry, load, load_file, reason, split_target
from renderers._spec import Spec
from renderers._subject import Subject, parse_subject, split_wrt

__all__ = [
    "DeclarationError",
    "Frame",
    "LoadError",
    "Loaded",
    "OutputError",
    "Param",
    "ParameterError",
    "Pixels",
    "Registry",
    "Renderer",
    "RendererError",
    "Spec",
    "Subject",
    "UnknownRendererError",
    "Wrt",
    "load",
    "load_file",
    "param",
    "parse_subject",
    "parse_value",
    "parse_wrt",
    "reason",
    "renderer",
    "split_target",
    "split_wrt",
    "suggestion",
]
