"""Holes in recorded turns, ``${text|py|sh}``, which the words of an invited edit fill.

A pattern says what fits a hole of a message; all around it must be equal. So an edited request is
matched, its words are bound, the turns are filled with them, and the results are compared. Words
are never looked for in a request: a value of ``x`` is in every other word.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from learnkit.clients.request_hash import map_texts
from learnkit.core.content import clean

#: What a filter makes of a value: a word of bash, and a literal of Python.
FILTERS: dict[str, Callable[[str], str]] = {
    "sh": shlex.quote,
    "py": lambda value: json.dumps(value, ensure_ascii=False),
}
#: Characters that a value may have.
LONGEST = 2000

_HOLE = re.compile(r"\$\{([a-z][a-z0-9_]*)((?:\|\w+)*)\}")
#: What a command that failed may say: a pattern of a result fits none of it.
_FAILURES = ("", "[exit code 1]", "Error: it failed", "Permission denied: no")
_QUOTED = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"|\\.", re.DOTALL)


def fill(value: Any, values: Mapping[str, str]) -> Any:
    """The value with its holes filled, filter by filter; a hole without a value stays."""

    def filled(hole: re.Match[str]) -> str:
        text = values.get(hole[1])
        if text is None:
            return hole[0]
        for name in hole[2].split("|")[1:]:
            text = FILTERS[name](text)
        return text

    return map_texts(value, lambda text: _HOLE.sub(filled, text))


def bind(
    message: Any, asked: Any, patterns: Mapping[str, str], values: Mapping[str, str]
) -> dict[str, str] | None:
    """The values with those that an asked message has in the holes of a recorded one.

    None if it does not fit, or if a value is one that is refused. Both are in canonical form, in
    which dates and temporary paths are ``⟦slot 1⟧``: what has a ``⟦`` can't be filled in as it was.
    """
    found = dict(values)
    for recorded, text in _pairs(message, asked):
        pattern, new = "", set[str]()
        for literal, hole in _parts(recorded):
            pattern += re.escape(literal)
            if hole is None:
                continue
            name = hole[1]
            if name in new:
                pattern += f"(?P={name})"
            elif name in patterns and name not in found:
                pattern += f"(?P<{name}>{patterns[name]})"
                new.add(name)
            else:
                pattern += re.escape(fill(hole[0], found))
        if not new:
            continue
        if len(text) > len(pattern) + LONGEST * len(new):
            return None
        fits = re.fullmatch(pattern, text)
        if fits is None or not all(map(_may_be, fits.groupdict().values())):
            return None
        found |= fits.groupdict()
    return found


def _may_be(value: str) -> bool:
    return len(value) <= LONGEST and not {"\0", "⟦"} & set(value) and value == clean(value)


def _pairs(recorded: Any, asked: Any) -> list[tuple[str, str]]:
    """The texts that are in the same places of two values."""
    if isinstance(recorded, str) and isinstance(asked, str):
        return [(recorded, asked)]
    if isinstance(recorded, list) and isinstance(asked, list):
        return [pair for both in zip(recorded, asked, strict=False) for pair in _pairs(*both)]
    if isinstance(recorded, dict) and isinstance(asked, dict):
        keys = [key for key in recorded if key in asked]
        return [pair for key in keys for pair in _pairs(recorded[key], asked[key])]
    return []


def _parts(text: str) -> Iterator[tuple[str, re.Match[str] | None]]:
    """A text in pieces: what stands before each hole, and the hole; after the last one, none."""
    end = 0
    for hole in _HOLE.finditer(text):
        yield text[end : hole.start()], hole
        end = hole.end()
    yield text[end:], None


def holes(value: Any) -> list[tuple[str, list[str]]]:
    """The holes of a value: names and filters."""
    if isinstance(value, str):
        return [(hole[1], hole[2].split("|")[1:]) for hole in _HOLE.finditer(value)]
    parts = list(value.values()) if isinstance(value, dict) else value
    parts = parts if isinstance(parts, list | tuple) else []
    return [hole for part in parts for hole in holes(part)]


def check_holes(value: Any, bound: Collection[str]) -> None:
    """Raise unless all holes of a value can be filled."""
    for name, filters in holes(value):
        if name not in bound:
            raise ValueError(f"nothing binds ${{{name}}}")
        if unknown := [one for one in filters if one not in FILTERS]:
            raise ValueError(f"${{{name}}} has the filters {', '.join(FILTERS)}, not {unknown[0]}")


def check_match(message: Any, patterns: Any) -> None:
    """Raise unless patterns can bind the holes of a message."""
    if not isinstance(patterns, dict) or not patterns:
        raise ValueError("`match` says for each hole of the last message which pattern fits it")
    plain = {name for name, filters in holes(message) if not filters}
    for name, pattern in patterns.items():
        if name not in plain:
            raise ValueError(f"the last message has no hole ${{{name}}} without a filter")
        # Without groups, no quantifier can be inside another one.
        if "(" in re.sub(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", "", str(pattern)):
            raise ValueError(f"the pattern of {name} must have no groups: {pattern}")
        compiled = re.compile(str(pattern))
        if "tool_result" in str(message) and any(map(compiled.fullmatch, _FAILURES)):
            raise ValueError(f"the pattern of {name} fits the result of a failure: {pattern}")


def check_command(command: str) -> None:
    """Raise unless each hole of a command is a whole unquoted word, so that bash sees one word."""
    count = len(holes(command))
    if not count:
        return
    bare = _QUOTED.sub("\0", command)
    words = [hole for word in bare.split() if (hole := _HOLE.fullmatch(word))]
    if len([hole for hole in words if hole[2].endswith("|sh")]) != count or any(
        sign in bare for sign in ("'", '"', "`", "#", "<<", "$\0")
    ):
        raise ValueError(
            f"in a command, a hole is a whole word with the filter sh last, outside of quotes, "
            f"comments and here-documents: {command}"
        )
