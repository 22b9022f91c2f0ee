"""Differentiation and tiling. No HTTP, no pictures, no environment, no files."""

from app.engine.adopt import adopt, given_to
from app.engine.allocator import keep_temporaries
from app.engine.calibration import calibrated
from app.engine.certificate import Certificate
from app.engine.check import Report, check
from app.engine.compiled import SETTINGS as COMPILE_SETTINGS
from app.engine.compiled import Needs, Source, UncompilableError, build, pack
from app.engine.device import open_device
from app.engine.errors import (
    CancelledError,
    DeviceError,
    DeviceMemoryError,
    DisagreementError,
    EngineError,
    RenderError,
    StrategyError,
    StrideError,
    UnknownStrategyError,
)
from app.engine.findings import CODES, Finding
from app.engine.informing import Informed, information_of
from app.engine.ladder import Verdict, decide
from app.engine.loop import Arrays
from app.engine.method import Method, with_recording
from app.engine.plan import DEFAULT_BUDGET, Cost, Plan
from app.engine.recording import MOST, Recording
from app.engine.search import find_method
from app.engine.second import first_derivative
from app.engine.sensitivity import Progress, SensitivityMap, allocate, sensitivity_map
from app.engine.several import Methods, key, part_of, sensitivity_maps
from app.engine.statistics import Statistics, combined
from app.engine.strategies import CHOICES as STRATEGY_CHOICES
from app.engine.strategies import check as check_strategy
from app.engine.task import Task
from app.engine.text import without_paths

__all__ = [
    "CODES",
    "COMPILE_SETTINGS",
    "DEFAULT_BUDGET",
    "MOST",
    "STRATEGY_CHOICES",
    "Arrays",
    "CancelledError",
    "Certificate",
    "Cost",
    "DeviceError",
    "DeviceMemoryError",
    "DisagreementError",
    "EngineError",
    "Finding",
    "Informed",
    "Method",
    "Methods",
    "Needs",
    "Plan",
    "Progress",
    "Recording",
    "RenderError",
    "Report",
    "SensitivityMap",
    "Source",
    "Statistics",
    "StrategyError",
    "StrideError",
    "Task",
    "UncompilableError",
    "UnknownStrategyError",
    "Verdict",
    "adopt",
    "allocate",
    "build",
    "calibrated",
    "check",
    "check_strategy",
    "combined",
    "decide",
    "find_method",
    "first_derivative",
    "given_to",
    "information_of",
    "keep_temporaries",
    "key",
    "open_device",
    "pack",
    "part_of",
    "sensitivity_map",
    "sensitivity_maps",
    "with_recording",
    "without_paths",
]
