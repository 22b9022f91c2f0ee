"""Maps with the words that belong to them: where what was computed meets how it is drawn."""

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from app.imaging import MapData, Maps
from renderers import Spec, Subject

# An image-shaped parameter has a million entries, and nobody reads a million labels.
MOST_LABELS = 1024
MOST_LISTED = 8
MOST_TERMS = 4


def captioned(
    arrays: Mapping[str, NDArray[Any]],
    spec: Spec,
    subject: Subject,
    *,
    second: str = "",
    facts: Sequence[Mapping[str, Any]] = (),
) -> Maps:
    """The maps `image.shape + wrt.shape` with title, unit, and a label for each entry.

    Args:
        arrays: the primal image as `image`, and each map by its name.
        spec: the renderer.
        subject: what the maps are of.
        second: what the map of which these are the derivatives is of, where they are second ones.
        facts: what is to be said of each map alone; nothing where there are none.
    """
    labels = [tuple(each.labels()) if each.shape else () for each in subject.wrt] or [()]
    entries = tuple(
        MapData(
            name=name,
            values=arrays[name],
            image=arrays["image"],
            channels=spec.channels,
            labels=labels[number] if len(labels[number]) <= MOST_LABELS else (),
            title=_title(name, second),
            unit=subject.units()[number],
            facts=facts[number] if facts else {},
        )
        for number, name in enumerate(subject.names)
    )
    return Maps(entries, title=_title(_listed(subject), second))


def _title(of: str, second: str) -> str:
    return f"d²(image)/d({second})d({of})" if second else f"d(image)/d({of})"


def _listed(subject: Subject) -> str:
    """What all maps are of: the names, or how far each parameter moves."""
    if subject.wrt:
        return ", ".join(subject.names[:MOST_LISTED]) + ", ..." * (len(subject.names) > MOST_LISTED)
    terms = [
        (float(moved[tuple(place)]), name + (f"[{','.join(map(str, place))}]" if place else ""))
        for name, moved in subject.direction.items()
        for place in moved.nonzero().tolist()
    ]
    if len(terms) > MOST_TERMS:
        return " + ".join(subject.direction)
    text = " ".join(f"{'-' if by < 0 else '+'} {_factor(by)}{name}" for by, name in terms)
    return text.removeprefix("+ ")


def _factor(by: float) -> str:
    return "" if abs(by) == 1 else f"{abs(by):g} "
