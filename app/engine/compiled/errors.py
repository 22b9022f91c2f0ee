"""Why a recording is not compiled."""


class UncompilableError(Exception):
    """A recording cannot be compiled, or what came of it is not its equal. Says why."""
