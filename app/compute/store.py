"""Finished results, kept for whoever asks for the same numbers in another form."""

from collections import OrderedDict

from app.compute.work import Result

UNREPEATABLE = "not_deterministic"
# Each holds descriptors of shared memory in both processes, of which a process may have a thousand.
MOST_KEPT = 64


class Store:
    """Results by address, no more than so many bytes of them; the longest unused goes first."""

    def __init__(self, most_bytes: int) -> None:
        """Keep that much; 0 keeps nothing."""
        self.most_bytes = most_bytes
        self.bytes = 0
        self._kept: OrderedDict[str, Result] = OrderedDict()

    def get(self, address: str) -> Result | None:
        """The result at an address, if it is still there."""
        if address not in self._kept:
            return None
        self._kept.move_to_end(address)
        return self._kept[address]

    def put(self, address: str, result: Result) -> None:
        """Keep a result, if it may stand for another one and is no larger than all that is kept."""
        size = size_of(result)
        if address in self._kept or size > self.most_bytes or not repeatable(result):
            return
        self._kept[address] = result
        self.bytes += size
        while self.bytes > self.most_bytes or len(self._kept) > MOST_KEPT:
            _, oldest = self._kept.popitem(last=False)
            self.bytes -= size_of(oldest)


def size_of(result: Result) -> int:
    """Bytes of a result's arrays."""
    return sum(array.nbytes for array in result.arrays.values())


def repeatable(result: Result) -> bool:
    """Whether the same work would give the same numbers.

    The certificate knows; of what has none it is not known.
    """
    certificate = result.facts.get("certificate")
    if not certificate:
        return False
    return UNREPEATABLE not in {warning["code"] for warning in certificate["warnings"]}
