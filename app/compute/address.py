"""The content address of work: equal work has an equal address, whatever is made of its result."""

import hashlib
import json

from app.compute.work import Work


def address(work: Work, instance: str) -> str:
    """A digest of all that decides the numbers. Nothing of a format or a style is in it.

    Args:
        work: what is computed.
        instance: of which worker: the next one may have read other code under the same names.
    """
    text = json.dumps([instance, work.to_json()], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
