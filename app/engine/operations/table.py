"""The table of operations that are given a forward formula."""

from app.engine.operations import cdist, grid_sample
from app.engine.operations._contract import Operation, StandIns, merge

OPERATIONS: tuple[Operation, ...] = (grid_sample.OPERATION, cdist.OPERATION)
STAND_INS: StandIns = merge(OPERATIONS)
