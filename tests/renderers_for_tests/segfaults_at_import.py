"""Does not load: a library of it takes the process down."""

import ctypes

ctypes.string_at(0)
