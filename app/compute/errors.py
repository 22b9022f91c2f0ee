"""Errors of the compute room.

ComputeError
├── BusyError             the queue is full
├── NotReadyError         no worker is up yet, or the server is stopping
├── WorkerDiedError       the process that computed it died
├── TimedOutError         it took longer than it may
└── WorkFailedError       the worker says why it could not be computed
"""


class ComputeError(Exception):
    """Anything that keeps work from being done.

    Attributes:
        code: stable identifier of the error, for programs.
        field: name of the request field that is at fault, or an empty string.
    """

    code = "compute_error"

    def __init__(self, message: str, *, code: str = "", field: str = "") -> None:
        super().__init__(message)
        self.code = code or type(self).code
        self.field = field


class BusyError(ComputeError):
    """The queue is full."""

    code = "queue_full"


class NotReadyError(ComputeError):
    """No worker is up yet, or the server is stopping."""

    code = "not_ready"


class WorkerDiedError(ComputeError):
    """The process that computed it died."""

    code = "renderer_crashed"


class TimedOutError(ComputeError):
    """It took longer than it may."""

    code = "timed_out"


class WorkFailedError(ComputeError):
    """The worker says why it could not be computed; `code` is the cause's."""

    code = "work_failed"
