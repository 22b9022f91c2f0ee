"""Why a computation cannot be recorded."""

from app.engine.errors import EngineError


class UnrecordableError(EngineError):
    """A replay would not do what the renderer does.

    Attributes:
        code: the kind of reason, for programs.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
