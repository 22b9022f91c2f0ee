"""What a backend is: a place where work is computed."""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from app.compute.work import Arrays, Result, Work
from renderers import Spec


def _deaf(*_: object) -> None:
    """Hear nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class Watch:
    """Who looks on while work is done.

    Attributes:
        begun: called with the arrays that are being filled; once more wherever what was in them
            no longer counts, because the work begins anew.
        advanced: called with `rows done, rows in all`, now and then. These rows lie in the arrays,
            from the top. That all are done is told by the result.
    """

    begun: Callable[[Arrays], None] = _deaf
    advanced: Callable[[int, int], None] = _deaf


UNWATCHED = Watch()


@dataclass(frozen=True, slots=True)
class Catalogue:
    """What a backend can render.

    Attributes:
        device: where it is computed.
        specs: the declarations, by name.
        failures: what did not load, with the reason.
        verdicts: by renderer and parameter, how it is differentiated, as far as that is known.
        instance: another one for every worker that comes up: its renderers may be other code.
    """

    device: str
    specs: Mapping[str, Spec] = field(default_factory=dict)
    failures: Mapping[str, str] = field(default_factory=dict)
    verdicts: dict[str, dict[str, Any]] = field(default_factory=dict)
    instance: str = field(default_factory=lambda: secrets.token_hex(8))


class Backend(Protocol):
    """A place where work is computed, one piece at a time for each slot."""

    @property
    def catalogue(self) -> Catalogue | None:
        """What it can render, or None while it is not up."""

    @property
    def trouble(self) -> str:
        """Why it is not up, or an empty string."""

    async def start(self) -> None:
        """Begin to come up; `catalogue` tells when it is."""

    async def submit(self, work: Work, watch: Watch) -> Result:
        """Compute a piece of work; cancelling the call stops it at the end of a tile.

        The call ends when the device is free again, not before.

        Raises:
            NotReadyError: the backend is not up.
            WorkFailedError: the worker said why it could not be computed.
            WorkerDiedError: the process died over it; another one is coming up.
        """

    async def replace(self) -> None:
        """Kill what computes now, and bring up another."""

    async def stop(self) -> None:
        """Let go of everything."""
