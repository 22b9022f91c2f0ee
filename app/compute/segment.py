"""Memory that two processes share and that no crash can leave behind."""

import mmap
import os
import tempfile
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """Anonymous shared memory, known by a file descriptor and by no name.

    A descriptor is handed to the worker; the memory goes when the last process lets go of it, so
    that a killed worker or server leaks nothing. It does not count against `/dev/shm`, which
    containers keep at 64 MB.
    """

    memory: mmap.mmap
    descriptor: int

    @classmethod
    def create(cls, size: int) -> Self:
        """New memory of `size` bytes, all zero; pages are taken when they are first written."""
        if hasattr(os, "memfd_create"):
            descriptor = os.memfd_create("sensmap", os.MFD_CLOEXEC)
        else:  # an unlinked file does the same on other systems
            with tempfile.TemporaryFile() as file:
                descriptor = os.dup(file.fileno())
        size = max(1, size)  # no memory at all cannot be mapped
        os.ftruncate(descriptor, size)
        return cls(mmap.mmap(descriptor, size), descriptor)

    @classmethod
    def attach(cls, descriptor: int) -> Self:
        """The memory behind a descriptor received from the other process."""
        return cls(mmap.mmap(descriptor, os.fstat(descriptor).st_size), descriptor)

    def close_descriptor(self) -> None:
        """Close the descriptor; the mapping stays for as long as arrays view it."""
        os.close(self.descriptor)
