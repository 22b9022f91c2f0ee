"""The fields of a request from a query string, so that `<img src>` can ask what a body asks."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from app.api.errors import RequestError
from renderers import Spec, parse_value, split_wrt, suggestion

WORDS: Mapping[str, bool] = {"true": True, "1": True, "false": False, "0": False}
TEXT_FIELDS = frozenset({"second", "along", "strategy", "dtype", "colormap_name", "norm"})
FLAG_FIELDS = frozenset({"symmetric", "colorbar", "certify", "boomerang", "lines", "stream"})
LIST_FIELDS = frozenset({"values"})
BY_NAME_FIELDS = frozenset({"direction", "normalise"})


def fields(items: Iterable[tuple[str, str]], model: type[BaseModel], spec: Spec) -> dict[str, Any]:
    """The body that a query string stands for.

    A parameter is its name (`radius=0.7`, `colour=1,0.4,0.1`), or `params.name` where a field of
    the request has the same name.

    Raises:
        RequestError: an unknown name, or one given twice.
        ParameterError: a value that is no number.
    """
    body: dict[str, Any] = {}
    params: dict[str, Any] = {}
    known = [name for name in model.model_fields if name != "params"]
    for name, text in items:
        if name in known:
            target, key, value = body, name, _field(name, text)
        elif name.removeprefix("params.") in spec.params:
            key = name.removeprefix("params.")
            target, value = params, parse_value(key, text)
        else:
            raise RequestError(
                422,
                "unknown_field",
                "There is no such field or parameter."
                + suggestion(name[:64], {*known, *spec.params}),
                field=name if name.isidentifier() and len(name) <= 64 else "",
            )
        if key in target:
            raise RequestError(422, "repeated_field", f"{key!r} is given twice.", field=key)
        target[key] = value
    return {**body, "params": params} if params else body


def only(items: Iterable[tuple[str, str]], known: Sequence[str]) -> None:
    """Refuse a query that holds anything but these fields, once each at most.

    Raises:
        RequestError: an unknown name, or one given twice.
    """
    seen: set[str] = set()
    for name, _ in items:
        if name not in known:
            raise RequestError(
                422,
                "unknown_field",
                "The fields of a request stand in its body." + suggestion(name[:64], known),
            )
        if name in seen:
            raise RequestError(422, "repeated_field", f"{name!r} is given twice.", field=name)
        seen.add(name)


def _field(name: str, text: str) -> Any:
    if name in TEXT_FIELDS:
        return text
    if name == "wrt":
        names = split_wrt(text)
        return names if len(names) > 1 else text
    if name in BY_NAME_FIELDS and ":" in text:
        return _by_name(name, text)
    if name in FLAG_FIELDS | BY_NAME_FIELDS:
        # Anything else is left as it is, for the schema to refuse in its own words.
        return WORDS.get(text.lower(), text)
    if name == "rescale" and text == "auto":
        return text
    if name == "channel":
        return int(text) if re.fullmatch(r"[0-9]{1,6}", text) else text
    value = parse_value(name, text)
    return [value] if name in LIST_FIELDS and not isinstance(value, list) else value


def _by_name(field: str, text: str) -> dict[str, Any]:
    """Read `radius:1,light[0]:-0.5`."""
    found: dict[str, Any] = {}
    for part in split_wrt(text):
        name, _, number = part.rpartition(":")
        if name in found:
            raise RequestError(422, "repeated_field", f"{name[:64]!r} is given twice.", field=field)
        found[name] = parse_value(field, number)
    return found
