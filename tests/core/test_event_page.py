"""docs/events.md says of every type of event what the vocabulary declares; it is written from it.

After a change: ``RENEW=1 .venv/bin/pytest -n 0 tests/core/test_event_page.py``.
"""

from __future__ import annotations

import dataclasses
import inspect
import os
import re
import types
from collections.abc import Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from learnkit.course.content import load
from learnkit.events import vocabulary
from learnkit.events.declaration import Declaration, details_of
from learnkit.events.log import VERSION

PAGE = Path(__file__).resolve().parents[2] / "docs" / "events.md"
HEAD = f"""# Events

A run is a log of events, and every picture is drawn from it. This page lists the types of event
that learnkit appends. It is written from the classes in `learnkit/events/`; do not edit it.

`log.save(path)` writes version {VERSION} of the log. In Python, `vocabulary.read(event)` returns
the typed event, with the fields below as attributes. It returns `None` for a type that is not
declared, and for an event that lacks a field in **bold** or has something else there. Any other
field that is missing or odd gets its default. A field with a `?` is left out of the log where it
does not apply.

A mechanism of your own declares its types with `lk.event`, beside itself:

```python
@lk.event("memory.stored", sentence="{{key}} is remembered.")
class MemoryStored:
    \"\"\"The model has stored something for later runs.\"\"\"

    key: str
    text: str = ""
```

It logs one with `self.emit(MemoryStored(key="port"))`. Without a declaration,
`self.emit("memory.stored", key="port")` logs the same. Views ignore types that they do not know.
"""


def page() -> str:
    """The page, from the declarations of the package."""
    modules = {subject.__name__ for subject in vocabulary.SUBJECTS}
    ours = [one for one in vocabulary.declarations() if one.cls.__module__ in modules]
    parts = [HEAD]
    by_lesson = sorted(ours, key=lambda one: one.lesson or "")
    for lesson, found in groupby(by_lesson, key=lambda one: one.lesson):
        title = f"Lesson {int(lesson[1:])} · {load(lesson).title}" if lesson else "No lesson"
        parts.append(f"## {title}\n\n| type | when | fields | in a sentence |\n|---|---|---|---|")
        parts += [_row(one) for one in found]
        parts.append("")
    parts.append("## Parts of events\n\n| part | what it is | fields |\n|---|---|---|")
    records = {one for each in ours for one in _records(each.cls)}
    for cls in sorted(records, key=lambda one: one.__name__):
        parts.append(f"| `{cls.__name__}` | {_doc(cls)} | {_fields(cls)} |")
    return "\n".join([*parts, ""])


def _row(one: Declaration) -> str:
    sentence = one.sentence if isinstance(one.sentence, str) else ""
    said = re.sub(r"\{([\w.]+):?[^}]*\}", r"*\1*", sentence)
    return f"| `{one.name}` | {_doc(one.cls)} | {_fields(one.cls)} | {said} |"


def _doc(cls: type) -> str:
    return inspect.cleandoc(cls.__doc__ or "").partition("\n\n")[0].replace("``", "`")


def _fields(cls: type) -> str:
    return "<br>".join(
        f"{'**' if one.needed else ''}`{one.key}`{'**' if one.needed else ''}"
        f"{'?' if one.sometimes else ''}: {_type(one.type)}"
        for one in details_of(cls)
    )


def _type(hint: Any) -> str:
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return " or ".join(map(_type, inner))
    if origin is Literal:
        return ", ".join(f'"{one}"' for one in inner)
    if origin in (tuple, list):
        return f"list of {_type(inner[0])}"
    if origin is Mapping:
        return f"object of {_type(inner[1])}"
    if dataclasses.is_dataclass(hint):
        return f"`{hint.__name__}`"  # type: ignore[union-attr]
    plain = {str: "text", int: "whole number", float: "number", bool: "true or false"}
    return plain.get(hint, "object" if origin is dict else "null" if hint is type(None) else "any")


def _records(hint: Any) -> set[type]:
    found: set[type] = set()
    if dataclasses.is_dataclass(hint):
        for one in details_of(hint):  # type: ignore[arg-type]
            parts = [one.type, *get_args(one.type)]
            for part in parts:
                if dataclasses.is_dataclass(part):
                    found |= {part, *_records(part)}  # type: ignore[arg-type]
    return found


def test_the_page_of_events_is_what_the_vocabulary_declares() -> None:
    text = page()
    if os.environ.get("RENEW"):
        PAGE.write_text(text, "utf-8")
    assert text.splitlines() == PAGE.read_text("utf-8").splitlines()
