"""Whether what learnkit logs is what its vocabulary declares; watched through all tests.

A reader of the log forgives what is missing or odd. Who writes it is held to every word here: all
fields, with their types, and no others.
"""

from __future__ import annotations

import dataclasses
import functools
import sys
import types
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

import learnkit
from learnkit.core import vocabulary
from learnkit.core.event_types import details_of
from learnkit.core.events import EventLog

PACKAGE = str(Path(learnkit.__file__).parent)
#: Functions that only hand on what their caller logs.
_HANDED_ON = ("append", "emit", "checked")

#: What has been logged against its declaration, since it was looked at last.
found: list[str] = []
_details = functools.cache(details_of)


def watch() -> None:
    """From now on, in this process, note what the package's own code logs wrongly."""
    append = EventLog.append

    @functools.wraps(append)
    def checked(self: EventLog, type: str, *args: Any, **data: Any) -> Any:
        event = append(self, type, *args, **data)
        if wrong := problems(event.type, event.data):
            frame = sys._getframe()
            while frame.f_code.co_name in _HANDED_ON and frame.f_back:
                frame = frame.f_back
            place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
            if place.startswith(PACKAGE):
                found.append(f"{place} logs {type}: {'; '.join(wrong)}")
        return event

    EventLog.append = checked  # type: ignore[method-assign]


def problems(type: str, data: dict[str, Any]) -> list[str]:
    """What is wrong with an event's details; nothing, if its type is not declared."""
    known = vocabulary.declaration(type)
    return [] if known is None else list(_wrong(known.cls, data, type))


def _wrong(hint: Any, value: Any, path: str) -> Iterator[str]:
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return
    if dataclasses.is_dataclass(hint):
        if not isinstance(value, dict):
            yield f"{path} is {value!r}"
            return
        fields = {one.key: one for one in _details(hint)}  # type: ignore[arg-type]
        for key, one in fields.items():
            if key in value:
                yield from _wrong(one.type, value[key], f"{path}.{key}")
            elif not one.sometimes:
                yield f"{path}.{key} is missing"
        if not getattr(hint, "more_keys", False):
            yield from (f"{path}.{key} is not declared" for key in value.keys() - fields.keys())
    elif origin in (Union, types.UnionType):
        each = [list(_wrong(one, value, path)) for one in inner]
        if all(each):
            yield from min(each, key=len)
    elif origin is tuple and isinstance(value, list):
        for place, one in enumerate(value):
            yield from _wrong(inner[0], one, f"{path}[{place}]")
    elif origin is Mapping and isinstance(value, dict):
        for key, one in value.items():
            yield from _wrong(inner[1], one, f"{path}[{key!r}]")
    elif origin is Literal:
        if value not in inner:
            yield f"{path} is {value!r}"
    elif type(value) is not (origin or hint) and not (hint is float and type(value) is int):
        yield f"{path} is {value!r}"
