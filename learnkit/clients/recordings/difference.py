"""What differs between two requests, in words that a learner can read.

A request repeats the whole conversation, and most of it is the same. What is left are a few places,
each with the words that were added and removed.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from learnkit.core.frames import FRAMES
from learnkit.core.transcript import texts
from learnkit.events.text import blocks_of, listed, one_line

#: Words of unchanged text that stay around a change, and the characters of one text that are shown.
AROUND, MOST = 8, 1500
#: Two texts that have less than this in common are shown one after the other.
ALIKE = 0.4
#: Beyond this many words and signs in both together, lines are compared instead.
MANY = 5000

#: A word with the white space before it, so that words that changed in a row are one change.
_WORDS = re.compile(r"\s*\w+|\s*[^\w\s]|\s+")
_SLOT = re.compile(r"⟦slot \d+⟧")

_AFTER = "a message after the recording's last one"

#: ``same``, ``gone`` or ``new``, and the text.
Piece = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Change:
    """One place in which the new request differs from the recorded one.

    Attributes:
        where: the place, as the subject of a sentence: ``the description of the tool 'bash'``.
        pieces: the text of both: what is the same, gone and new, in order.
    """

    where: str
    pieces: tuple[Piece, ...]

    def __str__(self) -> str:
        marks = {"same": "{}", "gone": "[-{}-]", "new": "[+{}+]"}
        return f"{self.where}: {''.join(marks[kind].format(text) for kind, text in self.pieces)}"


def changes(recorded: Sequence[str], asked: Sequence[str]) -> tuple[Change, ...]:
    """Return the places in which two requests differ; of the messages, only the first one."""
    these, those = [[json.loads(_SLOT.sub("…", one)) for one in r] for r in (recorded, asked)]
    found = [one for one in _head(these[0], those[0]) if one.pieces]
    for place, (old, new) in enumerate(zip(these[1:], those[1:], strict=False), start=1):
        if old != new:
            return (*found, *_message(old, new, these[:place]))
    if more := those[len(these) :]:
        found.append(Change(_AFTER, (("new", _short(_said(more[0]))),)))
    if missing := these[len(those) :]:
        found.append(Change("the number of messages", (("gone", _short(_said(missing[0]))),)))
    return tuple(found)


def finding(found: Sequence[Change]) -> str:
    """Return in a sentence why no recorded reply fits."""
    places = list(dict.fromkeys(one.where for one in found))
    if not places:
        return "No recorded reply fits this request."
    if places == [_AFTER]:
        return "No recorded reply fits: the recording ends before this request."
    more = [f"{len(places) - 2} more"] if len(places) > 2 else []
    named = listed([*places[:2], *more])
    return f"No recorded reply fits this request, because it changes {named}."


def words(old: str, new: str) -> tuple[Piece, ...]:
    """Compare two texts word by word; long stretches that are the same are shortened."""
    if old == new:
        return ()
    these, those = _WORDS.findall(old), _WORDS.findall(new)
    if len(these) + len(those) > MANY:
        these, those = old.splitlines(keepends=True), new.splitlines(keepends=True)
    matcher = difflib.SequenceMatcher(None, these, those, autojunk=False)
    if matcher.ratio() < ALIKE:
        return _whole(_short(old), _short(new))
    pieces: list[Piece] = []
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            pieces.append(("same", "".join(these[a:b])))
        else:
            pieces += _whole("".join(these[a:b]), "".join(those[c:d]))
    return tuple(_shortened(pieces))


def _shortened(pieces: list[Piece]) -> Iterator[Piece]:
    for place, (kind, text) in enumerate(pieces):
        if kind != "same":
            yield kind, _short(text)
            continue
        parts = text.split(" ")
        first, last = place == 0, place == len(pieces) - 1
        if len(parts) > 2 * AROUND + 4 or ((first or last) and len(parts) > AROUND + 4):
            start = "" if first else " ".join(parts[:AROUND]) + " "
            end = "" if last else " " + " ".join(parts[-AROUND:])
            text = f"{start}…{end}"
        yield kind, text


def _short(text: str) -> str:
    left = len(text) - MOST
    return text if left <= 0 else f"{text[:MOST]}… ({left:,} characters more)"


# The head: everything but the messages


def _head(old: dict[str, Any], new: dict[str, Any]) -> Iterator[Change]:
    for key in dict.fromkeys([*old, *new]):
        before, after = old.get(key), new.get(key)
        if before == after:
            continue
        if key == "system":
            yield Change("the system prompt", words(before or "", after or ""))
        elif key == "tools":
            yield from _tools(before or [], after or [])
        else:
            shown = ["" if one is None else json.dumps(one) for one in (before, after)]
            yield Change(key, _whole(*shown))


def _tools(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> Iterator[Change]:
    before, after = ({tool.get("name", ""): tool for tool in one} for one in (old, new))
    for name in dict.fromkeys([*before, *after]):
        one, other = before.get(name), after.get(name)
        if one is None or other is None:
            kind, tool = ("new", other) if one is None else ("gone", one)
            text = str((tool or {}).get("description", "")) or name
            yield Change(f"the tool {name!r}", ((kind, _short(text)),))
            continue
        about = [str(tool.get("description") or "") for tool in (one, other)]
        yield Change(f"the description of the tool {name!r}", words(*about))
        schemas = [json.dumps(tool.get("input_schema"), indent=1) for tool in (one, other)]
        yield Change(f"the arguments of the tool {name!r}", words(*schemas))
    if set(before) == set(after) and list(before) != list(after):
        yield Change("the order of the tools", _whole(", ".join(before), ", ".join(after)))


def _whole(old: str, new: str) -> tuple[Piece, ...]:
    return tuple((kind, text) for kind, text in (("gone", old), ("new", new)) if text)


# The messages


def _message(
    old: dict[str, Any], new: dict[str, Any], before: Sequence[dict[str, Any]]
) -> Iterator[Change]:
    """The blocks of a message that differ."""
    these, those = (blocks_of(one.get("content")) for one in (old, new))
    nothing: dict[str, Any] = {}
    for one, other in zip_longest(these, those, fillvalue=nothing):
        if one != other:
            where = _where(other or one, new["role"], before)
            pieces = words(_text(one), _text(other))
            yield Change(where, pieces or _whole(json.dumps(one), json.dumps(other)))


def _where(block: dict[str, Any], role: str, before: Sequence[dict[str, Any]]) -> str:
    kind = block.get("type")
    if kind == "tool_result":
        return f"the result of {_call(str(block.get('tool_use_id')), before)}"
    if role == "assistant":
        return "what the model said before"
    framed = re.match("<([a-z-]+)>", _text(block))
    if framed and framed[1] in FRAMES:
        return f"what stands in {framed[0]}"
    after_calls = any(one.get("type") == "tool_use" for one in blocks_of(before[-1].get("content")))
    return "what follows the results" if after_calls else "your prompt"


def _call(id: str, before: Sequence[dict[str, Any]]) -> str:
    """A call in words: the tool, and its first argument."""
    for message in reversed(before):
        for block in blocks_of(message.get("content")):
            if block.get("type") == "tool_use" and block.get("id") == id:
                given = next(iter(block.get("input", {}).values()), "")
                return f"{block.get('name')}({one_line(str(given), 60)})"
    return "a call"


def _text(block: dict[str, Any]) -> str:
    if not block:
        return ""
    if block.get("type") == "text":
        return str(block.get("text", ""))
    if block.get("type") == "tool_result":
        marked = "(error) " if block.get("is_error") else ""
        return marked + "\n".join(texts(block.get("content") or ""))
    kept = {key: value for key, value in block.items() if key not in ("type", "id")}
    return json.dumps(kept, ensure_ascii=False, indent=1)


def _said(message: dict[str, Any]) -> str:
    return "\n".join(_text(block) for block in blocks_of(message.get("content")))
