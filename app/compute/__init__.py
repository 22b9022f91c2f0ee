"""Who runs a tile, when, and where."""

from app.compute.backends import Backend, Catalogue, LocalBackend, LocalSettings, Watch
from app.compute.compiling import CompileSettings
from app.compute.errors import (
    BusyError,
    ComputeError,
    NotReadyError,
    TimedOutError,
    WorkerDiedError,
    WorkFailedError,
)
from app.compute.scheduler import Limits, Scheduler
from app.compute.work import Output, Result, Work

__all__ = [
    "Backend",
    "BusyError",
    "Catalogue",
    "CompileSettings",
    "ComputeError",
    "Limits",
    "LocalBackend",
    "LocalSettings",
    "NotReadyError",
    "Output",
    "Result",
    "Scheduler",
    "TimedOutError",
    "Watch",
    "Work",
    "WorkFailedError",
    "WorkerDiedError",
]
