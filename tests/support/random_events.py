"""Random logs, made from the declarations of the events: what views must survive, whatever comes.

Ids, names and numbers repeat, so that events relate to each other; words are hostile; and now and
then a detail is missing, or is something else altogether, as in a log that was edited by hand.
"""

from __future__ import annotations

import dataclasses
import functools
import types
from collections.abc import Mapping
from typing import Any, Literal, Union, get_args, get_origin

from hypothesis import strategies as st

from learnkit.events import vocabulary
from learnkit.events.declaration import Declaration, Detail, details_of
from learnkit.events.log import EventLog

Strategy = st.SearchStrategy[Any]

words = st.text(max_size=40) | st.sampled_from(
    ["", "<script>", "a\nb\nc\nd", "x" * 400, "\ud800", "\u202e", '" onx="', "]]>"]
)
ids = st.sampled_from(["t1", "t2", "t 3", "<t>"])
names = st.sampled_from(["lead", "alice", "bash", "<b>"])
lanes = st.sampled_from(["lead", "lead.t1", "alice", "<alice>"])
_ODD: list[Any] = [None, True, -1, 0, 2.5, 10**30, float("inf"), "?", "", [], [None], {}]
odd = st.sampled_from([*_ODD, [{"id": "1"}], {"id": 1, "from": [], "name": None}])

_block = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, words),
    st.builds(lambda text: {"type": "thinking", "thinking": text, "signature": "s"}, words),
    st.builds(
        lambda id, name, text: {"type": "tool_use", "id": id, "name": name, "input": {"a": text}},
        *(ids, names, words),
    ),
    st.builds(
        lambda id, text, bad: {
            **{"type": "tool_result", "tool_use_id": id},
            **{"content": text, "is_error": bad},
        },
        *(ids, words, st.booleans()),
    ),
    st.builds(lambda kind: {"type": kind, "more": [1]}, words),
)
_content = words | st.lists(_block, max_size=4)
_message = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant"]), "content": _content}
)

_NUMBERS = st.integers(1, 5)
#: Texts, by the name of their field, that must repeat.
_TEXTS: dict[str, Strategy] = {
    **dict.fromkeys(("id", "call", "request_id"), ids),
    **dict.fromkeys(
        ("name", "sender", "to", "by", "owner", "parent", "worktree", "reader", "writer"), names
    ),
}
#: Other fields, by name, for which any value of their type would say too little.
_KNOWN: dict[str, Strategy] = {
    "message": _message,
    "messages": st.lists(_message, max_size=4),
    "prompt": _content | st.none(),
    "tools": st.lists(st.fixed_dictionaries({"name": names}), max_size=3),
    "input": st.dictionaries(words, words, max_size=2) | words,
    "ids": st.lists(ids, max_size=2),
    "data": st.dictionaries(words, words, max_size=2),
    **dict.fromkeys(("parents", "writers", "preloaded", "refs"), st.lists(ids | names, max_size=3)),
    "task_id": _NUMBERS | st.none(),
    **dict.fromkeys(("blocked_by", "blocks", "freed"), st.lists(_NUMBERS, max_size=3)),
}
_PLAIN: dict[Any, Strategy] = {
    str: words,
    int: st.integers(0, 9) | st.integers(0, 9000),
    float: st.floats(0, 900) | st.integers(0, 900),
    bool: st.booleans(),
    type(None): st.none(),
    Any: odd,
}
_details = functools.cache(details_of)
# Strategies are made once: hypothesis looks through each new one before it draws from it, and that
# takes longer than the drawing.


@functools.cache
def of(declared: Declaration, *, strange: bool = True) -> st.SearchStrategy[dict[str, Any]]:
    """Details of a type of event.

    Args:
        declared: the type.
        strange: now and then a detail is missing, or of another type.
    """
    return _record(declared.cls, strange)


def events(*of_types: str, strange: bool = True) -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
    """Events of some types, or of all that are declared and one that is not."""
    chosen = [
        one for one in vocabulary.declarations() if not of_types or one.name.startswith(of_types)
    ]
    kinds = [_event(one, strange) for one in chosen]
    if not of_types:
        kinds.append(st.just(("lesson.invented", {"what": 1})))
    return st.one_of(kinds)


@functools.cache
def _event(declared: Declaration, strange: bool) -> Strategy:
    return st.tuples(st.just(declared.name), of(declared, strange=strange))


def logs(*of_types: str, max_size: int = 14, strange: bool = True) -> st.SearchStrategy[EventLog]:
    """Logs of several agents."""
    if of_types:
        return _steps(events(*of_types, strange=strange), max_size).map(_log)
    # A few nouns each, so that their events have to do with each other.
    nouns = sorted({f"{one.name.partition('.')[0]}." for one in vocabulary.declarations()})
    some = st.lists(st.sampled_from(nouns), min_size=1, max_size=5, unique=True)
    each = some.flatmap(lambda nouns: _steps(events(*nouns, strange=strange), max_size))
    return (each | _steps(events(strange=strange), max_size)).map(_log)


def _steps(event: Strategy, max_size: int) -> Strategy:
    step = st.tuples(lanes, event)
    sizes = st.integers(0, max_size)
    return sizes.flatmap(lambda size: st.lists(step, min_size=size // 2, max_size=max_size))


def _log(steps: list[tuple[str, tuple[str, dict[str, Any]]]]) -> EventLog:
    log = EventLog()
    for lane, (type, data) in steps:
        log.append(type, lane=lane, time=len(log) / 4, **data)
    return log


@functools.cache
def _record(cls: type, strange: bool) -> st.SearchStrategy[dict[str, Any]]:
    fields = _details(cls)
    values = {one.key: _field(one, strange) for one in fields}
    always = {one.key: values[one.key] for one in fields if not one.sometimes}
    at_times = {key: value for key, value in values.items() if key not in always}
    whole = st.fixed_dictionaries(always, optional=at_times)
    if not strange:
        return whole
    # Seldom: the parts of a record may be strange as well.
    lacking = st.fixed_dictionaries({}, optional=values)
    damaged = st.tuples(whole, st.sampled_from([*values]), odd).map(
        lambda parts: {**parts[0], parts[1]: parts[2]}
    )
    return st.integers(0, 15).flatmap(lambda n: {14: damaged, 15: lacking}.get(n, whole))


def _field(one: Detail, strange: bool) -> Strategy:
    if one.type is int:
        return _NUMBERS if one.name == "id" else _PLAIN[int]
    if one.type is str:
        return _TEXTS.get(one.name, words)
    known = None if get_origin(one.type) is Literal else _KNOWN.get(one.name)
    return _value(one.type, strange) if known is None else known


def _value(hint: Any, strange: bool) -> Strategy:
    origin, inner = get_origin(hint), get_args(hint)
    if dataclasses.is_dataclass(hint):
        return _record(hint, strange)  # type: ignore[arg-type]
    if origin in (Union, types.UnionType):
        return st.one_of([_value(one, strange) for one in inner])
    if origin is Literal:
        return st.sampled_from(inner)
    if origin is tuple:
        return st.lists(_value(inner[0], strange), max_size=4)
    if origin is Mapping:
        return st.dictionaries(names, _value(inner[1], strange), max_size=3)
    return _PLAIN[hint]
