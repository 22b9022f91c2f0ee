"""What there is to say of maps, sweeps and labels, as plain data: for JSON, archives, pictures."""

from typing import Any

from app.imaging.labels import LabelMap
from app.imaging.mapdata import MapData
from app.imaging.maps import Maps
from app.imaging.sweep import Sweep


def described(maps: Maps, *, facts: bool = True) -> dict[str, Any]:
    """The words and the shape of a map; of several, what they share, and a list of the rest.

    Args:
        facts: Whether to say what is known of these maps alone.
    """
    if maps.several:
        return {
            "title": maps.title,
            "unit": maps.unit,
            "channels": list(maps.channels),
            "maps": [_named(entry, facts=facts) for entry in maps.entries],
        }
    (entry,) = maps.entries
    return {
        "title": entry.title,
        "unit": entry.unit,
        "channels": list(entry.channels),
        "labels": list(entry.labels),
        "shape": list(entry.values.shape),
        "dtype": str(entry.values.dtype),
        **(entry.facts if facts else {}),
    }


def told(maps: Maps, *, facts: bool = True) -> dict[str, Any]:
    """What a picture says beside what it shows: of several maps which they are."""
    if maps.several:
        return {"maps": [_named(entry, facts=facts) for entry in maps.entries]}
    return dict(maps.entries[0].facts) if facts else {}


def swept(sweep: Sweep) -> dict[str, Any]:
    """The parameter that runs along a range, its value in each frame, and what is known of each."""
    words: dict[str, Any] = {
        "parameter": sweep.parameter,
        "unit": sweep.unit,
        "values": list(sweep.values),
    }
    facts = [_facts(frame) for frame in sweep.frames]
    return words | ({"frames": facts} if any(facts) else {})


def counted(labels: LabelMap) -> dict[str, Any]:
    """The names on a label map, and how many pixels each has."""
    return {
        "title": labels.title,
        "shape": list(labels.values.shape),
        "names": list(labels.names),
        "pixels": list(labels.pixels),
        "none": labels.unlabelled,
    }


def _named(entry: MapData, *, facts: bool) -> dict[str, Any]:
    return {
        "name": entry.name,
        "title": entry.title,
        "unit": entry.unit,
        "labels": list(entry.labels),
        "shape": list(entry.values.shape),
        "dtype": str(entry.values.dtype),
        **(entry.facts if facts else {}),
    }


def _facts(frame: Maps) -> dict[str, Any]:
    """What is known of one frame alone; of several maps by their names."""
    if not frame.several:
        return dict(frame.entries[0].facts)
    return {entry.name: dict(entry.facts) for entry in frame.entries if entry.facts}
