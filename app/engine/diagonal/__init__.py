"""Diagonal, trace and divergence of a square Jacobian that is never held."""

from app.engine.diagonal.answer import Diagonal, Divergence
from app.engine.diagonal.diagonal import METHODS, diagonal, diagonal_of
from app.engine.diagonal.divergence import FIELD_METHODS, divergence, divergence_of
from app.engine.diagonal.errors import (
    NotSquareError,
    PassesError,
    PatternError,
    UnknownMethodError,
)
from app.engine.diagonal.frame import diagonal_of_frame, frame_size
from app.engine.diagonal.operator import Operator, operator_of

__all__ = [
    "FIELD_METHODS",
    "METHODS",
    "Diagonal",
    "Divergence",
    "NotSquareError",
    "Operator",
    "PassesError",
    "PatternError",
    "UnknownMethodError",
    "diagonal",
    "diagonal_of",
    "diagonal_of_frame",
    "divergence",
    "divergence_of",
    "frame_size",
    "operator_of",
]
