"""Differentiation and tiling. No HTTP, no pictures, no environment, no files."""

from app.engine.certificate import Certificate
from app.engine.check import Report, check
from app.engine.device import open_device
from app.engine.errors import (
    CancelledError,
    DeviceError,
    DeviceMemoryError,
    DisagreementError,
    EngineError,
    RenderError,
    StrategyError,
    UnknownStrategyError,
)
from app.engine.findings import CODES, Finding
from app.engine.ladder import Verdict, decide
from app.engine.loop import Arrays
from app.engine.method import Method, find_method, with_recording
from app.engine.plan import DEFAULT_BUDGET, Cost, Plan
from app.engine.recording import MOST
from app.engine.sensitivity import Progress, SensitivityMap, allocate, sensitivity_map
from app.engine.statistics import Statistics
from app.engine.strategies import CHOICES as STRATEGY_CHOICES
from app.engine.strategies import check as check_strategy
from app.engine.task import Task
from app.engine.text import without_paths

__all__ = [
    "CODES",
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
    "Method",
    "Plan",
    "Progress",
    "RenderError",
    "Report",
    "SensitivityMap",
    "Statistics",
    "StrategyError",
    "Task",
    "UnknownStrategyError",
    "Verdict",
    "allocate",
    "check",
    "check_strategy",
    "decide",
    "find_method",
    "open_device",
    "sensitivity_map",
    "with_recording",
    "without_paths",
]
