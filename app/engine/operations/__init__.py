"""Operations of torch that lack a forward formula, with ones of ours: one file each."""

from app.engine.operations._contract import Formula, Operation, StandIns, evaluate, merge
from app.engine.operations.mode import ForwardFormulas
from app.engine.operations.table import OPERATIONS, STAND_INS

__all__ = [
    "OPERATIONS",
    "STAND_INS",
    "Formula",
    "ForwardFormulas",
    "Operation",
    "StandIns",
    "evaluate",
    "merge",
]
