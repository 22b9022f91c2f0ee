"""What the information in an image cannot be asked with.

EngineError
├── NoiseError              a noise model that is none, or none of this frame
└── TooManyParametersError  a Fisher matrix of more parameters than can be told of
"""

from app.engine.errors import EngineError


class NoiseError(EngineError):
    """A noise model that is none, or none of this frame."""

    code = "bad_noise"
    field = "noise"


class TooManyParametersError(EngineError):
    """A Fisher matrix of more parameters than can be told of."""

    code = "too_many_parameters"
    field = "wrt"
