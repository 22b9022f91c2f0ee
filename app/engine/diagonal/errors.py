"""Errors of diagonals and divergences.

EngineError
├── NotSquareError          the image has not the shape of the parameter
├── UnknownMethodError      no method of that name
├── PassesError             too few passes to estimate from, or too many to hold
└── PatternError            a method was asked for whose pattern the Jacobian does not have
"""

from app.engine.errors import EngineError


class NotSquareError(EngineError):
    """The image has not the shape of the parameter, so that the Jacobian has no diagonal."""

    code = "not_square"
    field = "wrt"


class UnknownMethodError(EngineError):
    """No method of that name."""

    code = "unknown_method"
    field = "method"


class PassesError(EngineError):
    """Too few passes to estimate from, or more than the memory budget holds."""

    code = "passes_out_of_range"
    field = "passes"


class PatternError(EngineError):
    """A method was asked for whose pattern the Jacobian does not have."""

    code = "pattern_disagrees"
    field = "method"
