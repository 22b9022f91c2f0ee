"""Errors of the engine.

EngineError
├── DeviceError             a device that was asked for is not there
├── UnknownStrategyError    no strategy of that name
├── StrategyError           a strategy cannot differentiate this renderer
├── DisagreementError       a strategy that was asked for gives a wrong map
├── RenderError             the renderer raised while it was evaluated or differentiated
├── StrideError             no pixel of a map can be left out
├── RegionError             a region that a probe cannot look at
├── DeviceMemoryError       the smallest tile does not fit on the device
└── CancelledError          the caller asked to stop
"""


class EngineError(Exception):
    """Anything that keeps a map from being computed.

    Attributes:
        code: stable identifier of the error, for programs.
        field: name of the request field that is at fault, or an empty string.
    """

    code = "engine_error"
    field = ""


class DeviceError(EngineError):
    """A device that was asked for is not there."""

    code = "no_device"


class UnknownStrategyError(EngineError):
    """No strategy of that name."""

    code = "unknown_strategy"
    field = "strategy"


class StrategyError(EngineError):
    """A strategy cannot differentiate this renderer."""

    code = "strategy_failed"
    field = "strategy"


class DisagreementError(EngineError):
    """A strategy that was asked for gives a wrong map."""

    code = "strategy_disagrees"
    field = "strategy"


class RenderError(EngineError):
    """The renderer raised while it was evaluated or differentiated."""

    code = "renderer_failed"


class StrideError(EngineError):
    """No pixel of a map can be left out."""

    code = "not_sparse"
    field = "stride"


class RegionError(EngineError):
    """A region that a probe cannot look at, or outputs and entries that are not there."""

    code = "invalid_region"
    field = "regions"

    def __init__(self, message: str, *, code: str = "", field: str = "") -> None:
        super().__init__(message)
        self.code = code or type(self).code
        self.field = field or type(self).field


class DeviceMemoryError(EngineError):
    """The smallest tile does not fit on the device."""

    code = "device_out_of_memory"


class CancelledError(EngineError):
    """The caller asked to stop."""

    code = "cancelled"
