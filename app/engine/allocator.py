"""The C library's allocator, told to keep the memory of temporaries.

glibc asks the system for every large block anew and gives it back at once: a band's temporaries are
then mapped, zeroed page by page and unmapped again, which takes as long as their arithmetic.
"""

import ctypes

# Of malloc.h.
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3
# Blocks up to this size are kept; glibc takes no more than this for a threshold (HEAP_MAX / 2).
KEPT_BYTES = 32 << 20
# So much free memory at the end of the heap before it is given back.
SPARE_BYTES = 256 << 20


def keep_temporaries() -> bool:
    """Have the allocator keep blocks of this process; False where it is not glibc's."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    return bool(mallopt(MMAP_THRESHOLD, KEPT_BYTES) and mallopt(TRIM_THRESHOLD, SPARE_BYTES))
