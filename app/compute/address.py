"""The content address of work: equal work has an equal address, whatever is made of its result."""

import hashlib
import json

from app.compute.work import Work


def address(work: Work) -> str:
    """A digest of all that decides the numbers. Nothing of a format or a style is in it."""
    text = json.dumps(work.to_json(), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
