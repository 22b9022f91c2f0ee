"""Differentiation and tiling. No HTTP, no pictures, no environment, no files."""

from app.engine.device import open_device
from app.engine.errors import (
    CancelledError,
    DeviceError,
    DeviceMemoryError,
    EngineError,
    RenderError,
    UnknownStrategyError,
)
from app.engine.plan import DEFAULT_BUDGET, Cost, Plan
from app.engine.sensitivity import (
    Arrays,
    SensitivityMap,
    allocate,
    sensitivity_map,
    trial_cost,
)
from app.engine.statistics import Statistics
from app.engine.strategies import CHOICES as STRATEGY_CHOICES
from app.engine.strategies import choose as choose_strategy
from app.engine.task import Task
from app.engine.tile import without_paths

__all__ = [
    "DEFAULT_BUDGET",
    "STRATEGY_CHOICES",
    "Arrays",
    "CancelledError",
    "Cost",
    "DeviceError",
    "DeviceMemoryError",
    "EngineError",
    "Plan",
    "RenderError",
    "SensitivityMap",
    "Statistics",
    "Task",
    "UnknownStrategyError",
    "allocate",
    "choose_strategy",
    "open_device",
    "sensitivity_map",
    "trial_cost",
    "without_paths",
]
