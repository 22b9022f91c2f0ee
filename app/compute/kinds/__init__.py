"""What can be computed: one file a kind, one contract, one table.

A kind makes work out of what is asked, in the process that serves, and does it in the process that
owns the device.
"""

from collections.abc import Mapping
from types import MappingProxyType

from app.compute.kinds import checking, diagonal, entries, informing, maps, probing, sweep
from app.compute.kinds._contract import Do, Run

KINDS: Mapping[str, Do] = MappingProxyType(
    {kind.KIND: kind.do for kind in (maps, checking, diagonal, entries, informing, probing, sweep)}
)

__all__ = [
    "KINDS",
    "Do",
    "Run",
    "checking",
    "diagonal",
    "entries",
    "informing",
    "maps",
    "probing",
    "sweep",
]
