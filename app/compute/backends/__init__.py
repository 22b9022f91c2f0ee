"""Where work is computed: one file a place, one contract."""

from app.compute.backends._contract import Backend, Catalogue, Progress
from app.compute.backends.local import LocalBackend, LocalSettings

__all__ = ["Backend", "Catalogue", "LocalBackend", "LocalSettings", "Progress"]
