"""From a Python signature to the JSON Schema that a model reads, and back: checking arguments.

pydantic does the work, and is imported when the first schema is asked for. What it makes is put
into a normal form of our own, so that schemas do not change with the version of pydantic: no
titles, no references, optional parameters by their type alone.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
import types
import typing
from collections.abc import Callable
from functools import cached_property
from typing import Any

from learnkit.errors import ArgumentsError, UsageError

Json = dict[str, Any]

#: Parameters that the harness fills in, and a model never sees.
INJECTED = ("agent", "call")

_ORDER = ("type", "description", "enum", "items", "properties", "required")


class Arguments:
    """The arguments a model may give to a function."""

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self._function, self._name = function, name
        self.text, self._notes = _split_docstring(function)
        signature = _signature(function)
        self.injected = tuple(name for name in INJECTED if name in signature.parameters)
        self.takes_self = next(iter(signature.parameters), "") == "self"
        self._parameters = {
            key: parameter
            for key, parameter in signature.parameters.items()
            if key not in INJECTED and not (self.takes_self and key == "self")
        }
        for parameter in self._parameters.values():
            self._refuse_unsupported(parameter)
        unknown = set(self._notes) - set(self._parameters) - set(INJECTED)
        if unknown:
            raise self._error(f"Args: describes {min(unknown)!r}, which is no parameter of it")

    @cached_property
    def schema(self) -> Json:
        """JSON Schema of the arguments, an object."""
        made = self.model.model_json_schema(by_alias=True)
        defs = made.get("$defs", {})
        schema = _normal(made, defs, ())
        # A type that contains itself cannot be written out: it stays a reference.
        if any(_refers(schema, name) for name in defs):
            schema["$defs"] = {name: _normal(one, defs, (name,)) for name, one in defs.items()}
        return schema

    def check(self, given: Any) -> Json:
        """Check what the model wrote, and turn it into Python values.

        ``"5"`` passes for an integer, 5 for a text, and a JSON text for a list or an object:
        models write both.
        """
        import pydantic

        if not isinstance(given, dict):
            raise ArgumentsError(f"{self._name}: the arguments must be an object, not {given!r}")
        try:
            model = self.model.model_validate(self._parsed(given))
        except pydantic.ValidationError as error:
            problems = [self._problem(one) for one in error.errors(include_url=False)]
            raise ArgumentsError(f"{self._name}: {'; '.join(problems)}") from None
        fields = zip(self._parameters, type(model).model_fields, strict=True)
        return {k: getattr(model, f) for k, f in fields if f in model.model_fields_set}

    @cached_property
    def model(self) -> Any:
        """The arguments as a pydantic model, which checks them and knows their schema."""
        import pydantic

        hints = self._hints()
        fields: Json = {}
        # Fields have neutral names, because a parameter may be called "json" or "_x".
        for number, (name, parameter) in enumerate(self._parameters.items()):
            fields[f"field_{number}"] = (hints[name], self._field(parameter, hints[name]))
        strict = pydantic.ConfigDict(extra="forbid", coerce_numbers_to_str=True)
        return pydantic.create_model(self._name, __config__=strict, **fields)

    def _field(self, parameter: inspect.Parameter, hint: Any) -> Any:
        """What the schema says about a parameter beside its type."""
        import pydantic

        about: Json = {"alias": parameter.name, "description": self._notes.get(parameter.name)}
        if isinstance(parameter.default, (str, int, float)):
            about["default"] = parameter.default
        elif parameter.default is not parameter.empty:  # nothing that a schema could show
            about["default"] = None
        try:
            pydantic.TypeAdapter(hint).json_schema()
        except pydantic.errors.PydanticUserError as error:
            said = f"parameter {parameter.name!r} has no JSON Schema: {error}"
            raise self._error(said) from None
        return pydantic.Field(**about)

    def _hints(self) -> Json:
        holder = types.SimpleNamespace(
            __annotations__={name: p.annotation for name, p in self._parameters.items()}
        )
        scope = getattr(inspect.unwrap(self._function), "__globals__", {})
        try:
            return typing.get_type_hints(holder, globalns=scope, include_extras=True)
        except NameError as error:
            raise self._error(f"{error}; define or import the type at the top level") from None

    def _refuse_unsupported(self, parameter: inspect.Parameter) -> None:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise self._error(f"{parameter} cannot be described to a model; name each parameter")
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise self._error(f"{parameter.name!r} is positional only; remove the '/'")
        if parameter.annotation is parameter.empty:
            raise self._error(
                f"parameter {parameter.name!r} has no type, as in {parameter.name}: str"
            )

    def _parsed(self, given: Json) -> Json:
        """Lists and objects that came as JSON text, read."""
        texts = {k: v for k, v in given.items() if k in self._structured and isinstance(v, str)}
        return {**given, **{key: _read(text) for key, text in texts.items()}}

    @cached_property
    def _structured(self) -> set[str]:
        """The parameters that are lists or objects."""
        types = {key: one.get("type") for key, one in self.schema["properties"].items()}
        return {key for key, type in types.items() if type in ("array", "object")}

    def _problem(self, error: Any) -> str:
        path = ".".join(str(part) for part in error["loc"])
        if error["type"] == "missing":
            return f"argument {path!r} is missing"
        if error["type"] == "extra_forbidden" and len(error["loc"]) == 1:
            known = ", ".join(self._parameters) or "none"
            return f"there is no argument {path!r}; the arguments are: {known}"
        shown = repr(error["input"])
        shown = shown if len(shown) <= 60 else shown[:59] + "…"
        return f"argument {path!r}: {error['msg']}, not {shown}"

    def _error(self, text: str) -> UsageError:
        return UsageError(f"tool {self._name!r}: {text}")


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    if sys.version_info >= (3, 14):
        import annotationlib

        # `agent: Agent` may name a class that is imported for type checkers only.
        return inspect.signature(function, annotation_format=annotationlib.Format.FORWARDREF)
    return inspect.signature(function)


def _split_docstring(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """The docstring without its section ``Args:``, and what that says of each parameter."""
    text = inspect.getdoc(function) or ""
    found = re.search(r"^Args:\n((?:[ \t]+.*\n?|\n)+)", text, re.MULTILINE)
    if found is None:
        return text, {}
    body = inspect.cleandoc("\n" + found[1])
    entries = re.findall(r"^(\w+)(?: \(.*?\))?: ?(.*(?:\n(?:[ \t]+.*)?)*)", body, re.MULTILINE)
    notes = {name: " ".join(note.split()) for name, note in entries}
    return (text[: found.start()] + text[found.end() :]).strip(), notes


def _read(text: str) -> Any:
    """The list or dict that a text holds as JSON; else the text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, (list, dict)) else text


def _refers(schema: Any, name: str) -> bool:
    return f'"#/$defs/{name}"' in json.dumps(schema)


def _normal(schema: Json, defs: Json, inside: tuple[str, ...]) -> Json:
    """Our form of a schema: no titles, references replaced, ``X | None = None`` as ``X``."""
    if reference := schema.get("$ref"):
        name = reference.rpartition("/")[2]
        if name in inside:
            return {"$ref": f"#/$defs/{name}"}
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        return _normal({**defs[name], **rest}, defs, (*inside, name))
    if "default" in schema and schema["default"] is None:
        rest = {k: v for k, v in schema.items() if k not in ("anyOf", "default")}
        choices = [one for one in schema.get("anyOf", ()) if one != {"type": "null"}]
        if len(choices) > 1:
            rest["anyOf"] = choices
        return _normal({**(choices[0] if len(choices) == 1 else {}), **rest}, defs, inside)

    def below(value: Any) -> Any:
        return _normal(value, defs, inside) if isinstance(value, dict) else value

    result: Json = {}
    for key, value in schema.items():
        if key == "properties":
            result[key] = {name: below(one) for name, one in value.items()}
        elif key in ("items", "additionalProperties"):
            result[key] = below(value)
        elif key in ("anyOf", "oneOf", "allOf", "prefixItems"):
            result[key] = [below(one) for one in value]
        elif key not in ("title", "$defs", "discriminator"):
            result[key] = value
    first = {key: result[key] for key in _ORDER if key in result}
    return first | dict(sorted(result.items()))
