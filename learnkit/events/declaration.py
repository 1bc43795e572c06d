"""How a type of event is declared, written into a log, and read from it.

The files beside this one declare the types of the package, one file a subject. A mechanism of your
own declares its types beside itself, with :func:`event`; a view that does not know them ignores
them.
"""

from __future__ import annotations

import dataclasses
import functools
import types
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar, Union, cast, dataclass_transform, get_args, get_origin
from typing import get_type_hints as hints_of

from learnkit.errors import UsageError

#: The template of a sentence, as in ``sentences.py``, or a function of the typed event.
Sentence = str | Callable[[Any], str]
C = TypeVar("C")
_Reader = Callable[[Any], Any]
_Writer = Callable[[Any], dict[str, Any]]

#: What a reader returns for a value that is not of its type.
_ODD: Any = object()
#: Larger numbers, infinity and NaN are odd: JSON's readers elsewhere cannot hold them.
_LARGEST = 2**53
_PLAIN: dict[Any, tuple[type, ...]] = {str: (str,), bool: (bool,), dict: (dict,), list: (list,)}


@dataclasses.dataclass(frozen=True, slots=True)
class Detail:
    """A field of an event, or of a record in it.

    Attributes:
        name: of the attribute.
        key: in the log.
        type: as it is annotated.
        default: what is read where the value is missing or odd; ``dataclasses.MISSING`` if nothing
            can be read without it.
        sometimes: what is logged leaves it out where it has its default.
    """

    name: str
    key: str
    type: Any
    default: Any
    sometimes: bool

    @property
    def needed(self) -> bool:
        """Whether an event without it cannot be read."""
        return self.default is dataclasses.MISSING


@dataclasses.dataclass(frozen=True, slots=True)
class Declaration:
    """What is known of a type of event.

    Attributes:
        name: of the type, such as ``task.completed``.
        cls: the class of its typed events.
        lesson: ``s01`` to ``s12``, where it is met first; None outside of the lessons.
        sentence: what the event means.
        read: makes a typed event of logged details; None if they are none.
    """

    name: str
    cls: type
    lesson: str | None
    sentence: Sentence
    read: Callable[[dict[str, Any]], object | None]


_DECLARED: dict[str, Declaration] = {}
_NAMES: dict[type, str] = {}
#: What the details of an event, or a part of it, are in the log: class -> how they are written.
WRITERS: dict[type, _Writer] = {}


def detail(
    *,
    default: Any = dataclasses.MISSING,
    key: str = "",
    sometimes: bool = False,
    whole: bool = False,
) -> Any:
    """Say more of a field than its type and default.

    A record that may have further keys in the log has them all in a field that is ``whole``.
    """
    about = {"key": key, "sometimes": sometimes, "whole": whole}
    return dataclasses.field(default=default, compare=not whole, repr=not whole, metadata=about)


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(detail,))
def record(cls: type[C]) -> type[C]:
    """Declare a part of events: a frozen dataclass with slots, written and read like an event.

    Its fields are in the order in which they are logged, and given by name.
    """
    made = dataclasses.dataclass(frozen=True, slots=True, kw_only=True)(cls)
    WRITERS[made] = _writer(made)
    return made


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(detail,))
def event(
    name: str, *, sentence: Sentence, lesson: str | None = None
) -> Callable[[type[C]], type[C]]:
    """Declare a type of event: a frozen dataclass with slots, whose docstring says when it happens.

    A field without a default is needed: an event that lacks it, or has something else there, is
    read as None. Any other that is missing or odd gets its default, and items of a list that are
    odd are left out.

    Args:
        name: noun and participle, such as ``task.completed``.
        sentence: what the event means, with its full stop: a template such as
            ``"{name} is {role}."``, or a function of the typed event.
        lesson: ``s01`` to ``s12``, where it is met first.

    Returns:
        A decorator. A class of its fields may annotate them with ``str``, ``int``, ``float``,
        ``bool``, ``Any``, ``dict`` and ``list`` (taken as they are), ``Literal``, ``tuple[X, …]``,
        ``Mapping[str, X]``, a :func:`record`, and unions of these.

    Raises:
        UsageError: from the decorator, if another class has the type, the class has no docstring,
            or a field has a type that cannot be read.
    """

    def declare(cls: type[C]) -> type[C]:
        known = _DECLARED.get(name)
        if known and (known.cls.__module__, known.cls.__qualname__) != (
            cls.__module__,
            cls.__qualname__,  # the same one may be declared anew: a notebook's cell runs twice
        ):
            raise UsageError(f"{name!r} is declared already, by {known.cls.__qualname__}")
        if not cls.__doc__:
            raise UsageError(f"{cls.__qualname__} has no docstring; say when it happens")
        made = record(cls)
        reader = _record_reader(cast(Any, made))

        def read_details(data: Any) -> Any:
            found = reader(data)
            return None if found is _ODD else found

        _DECLARED[name], _NAMES[made] = (
            Declaration(name, made, lesson, sentence, read_details),
            name,
        )
        return made

    return declare


def declarations() -> list[Declaration]:
    """Every type that is declared so far, in the order of the declarations."""
    return list(_DECLARED.values())


def declaration(name: str) -> Declaration | None:
    """The declaration of a type of event; None if there is none."""
    return _DECLARED.get(name)


def written(event: object) -> tuple[str, dict[str, Any]]:
    """The type and the details of a typed event, as they are logged."""
    cls = type(event)
    if cls in _NAMES:
        return _NAMES[cls], WRITERS[cls](event)
    raise UsageError(
        f"{event!r} is no event; give the name of a type and its details, or an object of a class "
        "that is declared with @lk.event"
    )


def part(cls: type[C], data: dict[str, Any]) -> C:
    """A part of an event, from what is logged of it."""
    made = _record_reader(cast(Any, cls))(data)
    if made is _ODD:
        raise UsageError(f"{data!r} is no {cls.__name__}: a field is missing, or is something else")
    return cast(C, made)


@functools.cache
def details_of(cls: type) -> list[Detail]:
    """The fields of a typed event or a record."""
    hints = hints_of(cls)
    return [
        Detail(
            one.name,
            one.metadata.get("key") or one.name,
            hints[one.name],
            one.default,
            one.metadata.get("sometimes", False),
        )
        for one in dataclasses.fields(cls)
        if not one.metadata.get("whole")
    ]


def _whole(cls: type) -> str | None:
    """The name of the field that has all of a record."""
    fields = dataclasses.fields(cls)
    return next((one.name for one in fields if one.metadata.get("whole")), None)


def _writer(cls: type) -> _Writer:
    fields = [one for one in dataclasses.fields(cls) if not one.metadata.get("whole")]
    keys = {one.name: one.metadata.get("key") or one.name for one in fields}
    optional = [(keys[one.name], one.default) for one in fields if one.metadata.get("sometimes")]
    # Compiled, as a dataclass's methods are: every turn logs six events.
    details = ", ".join(f"{key!r}: made.{name}" for name, key in keys.items())
    write_all: _Writer = eval(f"lambda made: {{{details}}}")
    whole = _whole(cls)
    if not optional and whole is None:
        return write_all

    def write(made: Any) -> dict[str, Any]:
        if whole is not None and (data := getattr(made, whole)) is not None:
            return dict(data)
        data = write_all(made)
        for key, default in optional:
            if data[key] == default:
                del data[key]
        return data

    return write


# Readers: each returns a value as the typed event has it, or _ODD.


@functools.cache
def _record_reader(cls: type) -> _Reader:
    fields = [(one.key, one.name, _reader(one.type, cls), one.needed) for one in details_of(cls)]
    whole = _whole(cls)

    def read_record(data: Any) -> Any:
        if type(data) is not dict:
            return _ODD
        values = {} if whole is None else {whole: data}
        for key, name, reader, needed in fields:
            value = reader(data[key]) if key in data else _ODD
            if value is not _ODD:
                values[name] = value
            elif needed:
                return _ODD
        return cls(**values)

    return read_record


def _reader(hint: Any, cls: type) -> _Reader:
    if hint is Any:
        return _as_it_is
    origin, inner = get_origin(hint), get_args(hint)
    if hint is int or hint is float:
        return _integer if hint is int else _number
    if dataclasses.is_dataclass(hint):
        return _record_reader(hint)  # type: ignore[arg-type]
    if (kinds := _PLAIN.get(origin or hint)) is not None:
        (kind,) = kinds
        return lambda value: value if type(value) is kind else _ODD
    if origin is Literal:
        return lambda value: value if type(value) is str and value in inner else _ODD
    if hint is type(None):
        return lambda value: None if value is None else _ODD
    if origin in (Union, types.UnionType):
        if inner[1:] == (type(None),):
            reader = _reader(inner[0], cls)
            return lambda value: None if value is None else reader(value)
        return _first([_reader(one, cls) for one in inner])
    if origin is tuple and inner[1:] == (...,):
        return _tuple_reader(_reader(inner[0], cls))
    if origin is Mapping and inner[0] is str:
        return _mapping_reader(_reader(inner[1], cls))
    raise UsageError(f"{cls.__qualname__} has a field of type {hint}, which cannot be read")


def _as_it_is(value: Any) -> Any:
    return value


def _integer(value: Any) -> Any:
    return value if type(value) is int and -_LARGEST <= value <= _LARGEST else _ODD


def _number(value: Any) -> Any:
    return value if type(value) in (int, float) and -_LARGEST <= value <= _LARGEST else _ODD


def _first(readers: list[_Reader]) -> _Reader:
    def read_one_of(value: Any) -> Any:
        for reader in readers:
            if (found := reader(value)) is not _ODD:
                return found
        return _ODD

    return read_one_of


def _tuple_reader(item: _Reader) -> _Reader:
    def read_tuple(value: Any) -> Any:
        if type(value) is not list:
            return _ODD
        return tuple([one for one in map(item, value) if one is not _ODD])

    return read_tuple


def _mapping_reader(item: _Reader) -> _Reader:
    def read_mapping(value: Any) -> Any:
        if type(value) is not dict:
            return _ODD
        read = {key: item(one) for key, one in value.items()}
        return types.MappingProxyType({k: one for k, one in read.items() if one is not _ODD})

    return read_mapping
