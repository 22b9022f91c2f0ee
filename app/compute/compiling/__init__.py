"""Compiling tiles: jobs, the process that does them, and the shelf of what is done."""

from app.compute.compiling.compiler import (
    AHEAD,
    BACKGROUND,
    MODES,
    OFF,
    Compiler,
    CompileSettings,
    Package,
)
from app.compute.compiling.job import Job
from app.compute.compiling.workshop import Workshop, compile_now

__all__ = [
    "AHEAD",
    "BACKGROUND",
    "MODES",
    "OFF",
    "CompileSettings",
    "Compiler",
    "Job",
    "Package",
    "Workshop",
    "compile_now",
]
