"""Forms: from a tool's JSON Schema to input fields, and from what was typed back to a reply.

A learner who plays the model fills in a form where a model would write JSON. What comes out is
what a model would have sent: arguments with their types, optional ones left out, several calls in
one reply. A form refuses what is incomplete; JSON written by hand may be as wrong as one likes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from learnkit.errors import UsageError

Json = dict[str, Any]

#: The blocks that a reply may have, and what each of them needs.
_BLOCKS: dict[str, dict[str, type]] = {
    "text": {"text": str},
    "thinking": {"thinking": str},
    "tool_use": {"name": str, "input": dict},
}
_STOPS = ("end_turn", "tool_use", "max_tokens", "stop_sequence", "refusal", "pause_turn")


class FormError(UsageError):
    """A form cannot be sent as it is.

    Attributes:
        part: which part of the reply, from 0.
        field: which of its fields; empty when it is the part itself.
    """

    def __init__(self, text: str, part: int = 0, field: str = "") -> None:
        super().__init__(text)
        self.part, self.field = part, field


@dataclass(frozen=True, slots=True)
class Field:
    """One input of a form.

    Attributes:
        name: the argument.
        kind: ``text``, ``integer``, ``number``, ``choice`` (booleans too) or ``json``.
        type: the type in words, for readers.
        required: it must be filled in; others are left out of the call when they are empty.
        about: the schema's description of it.
        options: what a choice offers; values that are no strings stand as JSON.
    """

    name: str
    kind: str
    type: str
    required: bool
    about: str = ""
    options: tuple[str, ...] = ()


def fields(schema: Json) -> list[Field]:
    """Return the inputs for the arguments that a schema describes, in its order."""
    required = schema.get("required") or []
    made = []
    for name, one in (schema.get("properties") or {}).items():
        options = tuple(_choices(one))
        made.append(
            Field(
                name=name,
                kind="choice" if options else _kind(one.get("type")),
                type=type_in_words(one),
                required=name in required,
                about=str(one.get("description") or ""),
                options=options,
            )
        )
    return made


def form(spec: Json) -> Json:
    """Return a tool's form as the page that draws it needs it: name, description and fields."""
    made = [asdict(one) for one in fields(spec.get("input_schema") or {})]
    return {"name": spec["name"], "about": spec.get("description") or "", "fields": made}


def read(schema: Json, values: Mapping[str, str], part: int = 0) -> Json:
    """Return the arguments that the user has typed into a form."""
    properties, given = schema.get("properties") or {}, {}
    for field in fields(schema):
        typed = values.get(field.name) or ""
        if typed:
            given[field.name] = _value(field, properties[field.name], typed, part)
        elif field.required:
            why = "is required: fill it in, or edit as JSON to leave it out or send it empty"
            raise FormError(f"{field.name} {why}", part, field.name)
    return given


def assemble(parts: Sequence[Json], specs: Sequence[Json]) -> list[Json]:
    """The blocks of one reply, made of texts and filled-in forms."""
    schemas = {spec["name"]: spec.get("input_schema") or {} for spec in specs}
    content: list[Json] = []
    for number, part in enumerate(parts):
        if "tool" not in part:
            if str(part.get("text") or "").strip():
                content.append({"type": "text", "text": str(part["text"])})
            continue
        name = str(part["tool"])
        if name not in schemas:
            known = ", ".join(schemas) or "none"
            raise FormError(f"there is no form for {name!r}; the tools are: {known}", number)
        input = read(schemas[name], part.get("values") or {}, number)
        content.append({"type": "tool_use", "name": name, "input": input})
    if not content:
        raise FormError("there is nothing to send yet: choose a tool, or write text")
    return content


def parse(text: str) -> tuple[list[Json], str | None]:
    """A reply from JSON written by hand: its blocks, and its stop_reason if it has one."""
    try:
        given = _json(text)
    except (ValueError, RecursionError) as error:
        raise FormError(f"this is not JSON: {error}") from None
    stop = given.get("stop_reason") if isinstance(given, dict) else None
    content = given.get("content") if isinstance(given, dict) else given
    if not isinstance(content, list):
        raise FormError('a reply is a list of blocks, or {"content": [blocks]}')
    if stop is not None and stop not in _STOPS:
        raise FormError(f"stop_reason {stop!r} is none of {', '.join(_STOPS)}")
    for number, block in enumerate(content):
        kind = block.get("type") if isinstance(block, dict) else None
        if not isinstance(kind, str) or kind not in _BLOCKS:
            raise FormError(f"block {number}: 'type' is one of {', '.join(_BLOCKS)}", number)
        for key, type in _BLOCKS[kind].items():
            if not isinstance(block.get(key), type):
                noun = "an object" if type is dict else "a text"
                raise FormError(f"block {number}: {kind} needs {key!r}, {noun}", number, key)
        if not isinstance(block.get("id", ""), str):
            raise FormError(f"block {number}: an id is a text, not {block['id']!r}", number, "id")
    return content, stop


def type_in_words(schema: Json) -> str:
    """Return a property's type for reading: ``string``, ``list of integer``, ``a or b``."""
    if options := _choices(schema):
        return " or ".join(options)
    if union := schema.get("anyOf") or schema.get("oneOf"):
        return " or ".join(type_in_words(one) for one in union)
    kind = schema.get("type")
    if isinstance(kind, list):
        return " or ".join(map(str, kind))
    if kind == "array":
        items = schema.get("items")
        return f"list of {type_in_words(items)}" if isinstance(items, dict) and items else "list"
    return str(kind or "any JSON")


def _json(text: str) -> Any:
    def refuse(name: str) -> None:
        raise ValueError(f"{name} is no JSON number")

    return json.loads(text, parse_constant=refuse)


def _number(text: str) -> float:
    value = _json(text)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{text} is no number")
    return value


#: How what was typed is read, by a field's kind.
_READ: dict[str, Callable[[str], Any]] = {
    "integer": int,
    "number": _number,
    "json": _json,
}


def _kind(type: Any) -> str:
    return {"string": "text", "integer": "integer", "number": "number"}.get(str(type), "json")


def _choices(schema: Json) -> list[str]:
    if schema.get("type") == "boolean":
        return ["true", "false"]
    values = schema.get("enum") or ([schema["const"]] if "const" in schema else [])
    return [_label(one) for one in values]


def _label(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _value(field: Field, schema: Json, typed: str, part: int) -> Any:
    """What was typed, in the field's type."""
    if field.kind == "text":
        return typed
    if field.kind == "choice":
        values = [True, False] if schema.get("type") == "boolean" else schema.get("enum")
        for value in values or [schema.get("const")]:
            if _label(value) == typed:
                return value
    else:
        try:
            return _READ[field.kind](typed)
        except (ValueError, RecursionError):
            if field.kind == "json" and "string" in field.type.split(" or "):
                return typed
    wanted = {"json": f"JSON ({field.type})", "integer": "an integer", "number": "a number"}.get(
        field.kind, field.type
    )
    shown = typed if len(typed) <= 60 else f"{typed[:59]}…"
    raise FormError(f"{field.name} must be {wanted}, not {shown!r}", part, field.name)
