"""How much memory a computation needs at its peak, and the error that says there was not enough."""

import weakref
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

# What messages hold for which torch has no exception class: of the CPU's allocator, and of CUDA
# where pinned host memory is refused.
MESSAGES = (
    "DefaultCPUAllocator",
    "not enough memory",
    "can't allocate memory",
    "CUDA error: out of memory",
)


def out_of_memory(error: BaseException) -> bool:
    """Whether an error says that the device has no memory left."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(word in str(error) for word in MESSAGES)


def peak_bytes(run: Callable[[], object], device: torch.device) -> int:
    """Bytes that `run` holds at its peak beyond what was held before.

    On CUDA the allocator counts. On the CPU nothing counts, so every operation's outputs are
    watched from their birth to the release of their storage; what a kernel takes and returns
    within one operation is not seen.
    """
    if device.type == "cuda":
        torch.cuda.synchronize(device)
        before = torch.cuda.memory_allocated(device)
        torch.cuda.reset_peak_memory_stats(device)
        run()
        torch.cuda.synchronize(device)
        return torch.cuda.max_memory_allocated(device) - before
    watch = _Watch()
    with watch:
        run()
    return watch.peak


def made_bytes(run: Callable[[], object]) -> int:
    """Bytes of all that `run` makes, whether it is kept or not: the work of operations so short
    that memory is what they wait for. It is the same each time, which seconds are not.
    """
    watch = _Watch()
    with watch:
        run()
    return watch.made


class _Watch(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the bytes of live storages made under it."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.live = 0
        self.peak = 0
        self.made = 0
        self._seen: set[int] = set()

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # Else the first operation under the mode loads torch's compiler, which takes seconds.
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        # A view of what was there before (a volume, weights) is no new memory.
        given = {leaf.untyped_storage()._cdata for leaf in _tensors((args, kwargs))}
        for leaf in _tensors(result):
            if leaf.untyped_storage()._cdata not in given:
                self._count(leaf.untyped_storage())
        return result

    def _count(self, storage: torch.UntypedStorage) -> None:
        key, size = storage._cdata, storage.nbytes()
        if key in self._seen or size == 0:
            return
        self.made += size
        self._seen.add(key)
        self.live += size
        self.peak = max(self.peak, self.live)
        weakref.finalize(storage, self._release, key, size)

    def _release(self, key: int, size: int) -> None:
        self._seen.discard(key)
        self.live -= size


def _tensors(tree: Any) -> Iterator[torch.Tensor]:
    """The tensors of an operation's arguments; torch's own walk takes as long as the operations."""
    if isinstance(tree, torch.Tensor):
        yield tree
    elif isinstance(tree, list | tuple):
        for branch in tree:
            yield from _tensors(branch)
    elif isinstance(tree, dict):
        yield from _tensors(tuple(tree.values()))
