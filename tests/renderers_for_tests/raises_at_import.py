"""Does not load: its import raises, with a path in the message."""

from pathlib import Path

raise FileNotFoundError(f"no data at {Path(__file__).resolve()}")
