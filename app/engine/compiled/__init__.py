"""Compiled tiles: a recording's work on a tile as one kernel, in place of its replay."""

from app.engine.compiled.build import SETTINGS, Needs, build
from app.engine.compiled.errors import UncompilableError
from app.engine.compiled.kernel import Kernel, load_package
from app.engine.compiled.portable import pack
from app.engine.compiled.proof import near, prove
from app.engine.compiled.source import Source

__all__ = [
    "SETTINGS",
    "Kernel",
    "Needs",
    "Source",
    "UncompilableError",
    "build",
    "load_package",
    "near",
    "pack",
    "prove",
]
