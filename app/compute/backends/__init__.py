"""Where work is computed: one file a place, one contract."""

from app.compute.backends._contract import UNWATCHED, Backend, Catalogue, Watch
from app.compute.backends.local import LocalBackend, LocalSettings

__all__ = ["UNWATCHED", "Backend", "Catalogue", "LocalBackend", "LocalSettings", "Watch"]
