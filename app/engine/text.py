"""Words of foreign code, made fit for an answer."""

import re

PATH = re.compile(r"(?:[A-Za-z]:)?[\\/](?:[\w .\-]+[\\/])+[\w.\-]*")


def without_paths(message: str) -> str:
    """A message with file paths taken out: they are the operator's, not the caller's."""
    return PATH.sub("<path>", message).strip()
