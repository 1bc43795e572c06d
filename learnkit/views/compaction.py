"""What compaction did to the message array: each message with its length before and after.

Both halves are on one scale: filled is what stays, dashed what is gone. The request that code puts
back beside a summary has its own row. So have the system prompt and the tools, which count towards
the threshold and never go. The picture is of the moment of a compaction: messages that come later
are not in it. Before the first compaction it shows the array as it grows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import attrgetter
from typing import Any

from learnkit.core.frames import defused
from learnkit.core.token_count import estimate_tokens
from learnkit.events.log import Event
from learnkit.events.loop import MessageAdded, MessagesRewritten, RunStarted
from learnkit.events.text import arguments, blocks_of, content_text, count, listed, one_line
from learnkit.events.vocabulary import read
from learnkit.views.drawing import static, theme
from learnkit.views.drawing.base import Diagram
from learnkit.views.drawing.display import Canvas

_THINKING = ("thinking", "redacted_thinking")
#: The tags around a summary, which say nothing that the label of its row doesn't.
_OPENING = re.compile(r"^<summary\b[^>]*>\s*")
_CLOSING = re.compile(r"\s*</summary>")
#: The block beside a summary in which code has put the request back.
_REQUEST = re.compile(r"<request>\n(.*)\n</request>", re.DOTALL)
#: What is said of the system prompt and the tools, which each request has.
_FIXED = "system prompt and tools"
#: Height of a row, and width of the number beside its bar, in pixels.
_LINE, _TOKENS = 22, 86

#: What happened to a message, by key: glyph, word, and what is said of one and of several.
FATES = {
    "cleared": ("⊘", "cleared", "is cleared", "are cleared"),
    "summarised": ("▼", "summarised", "becomes a summary", "become a summary"),
    "shorter": ("◐", "less thinking", "loses its thinking", "lose their thinking"),
    "earlier": ("⊘", "cleared before", "was cleared before", "were cleared before"),
    "kept": ("=", "kept", "stays as it was", "stay as they were"),
    "carried": ("=", "put back"),
    "summary": ("Σ", "summary"),
    "fixed": ("▲", "fixed"),
}


@dataclass(frozen=True, slots=True)
class Entry:
    """A message as a row: its mark, its text in short, its tokens, and its fate.

    A ``part`` is the request that stands in the message of a summary.
    """

    key: str
    text: str
    tokens: int
    message: dict[str, Any] = field(compare=False, repr=False)
    fate: str = ""
    part: bool = False


#: A key, a message as it was and as it is, None where it isn't there, and the one to show.
Row = tuple[str, Entry | None, Entry | None, Entry]


@dataclass(frozen=True, slots=True)
class State:
    """The array now, and as it was just before and just after the last compaction.

    Attributes:
        now: all messages.
        before: the messages when the last compaction began; empty if there was none.
        after: the messages when it was over.
        head: tokens of the system prompt and the tools.
    """

    now: tuple[Entry, ...] = ()
    before: tuple[Entry, ...] = ()
    after: tuple[Entry, ...] = ()
    head: int = 0

    @property
    def rows(self) -> list[Row]:
        """A row for what every request has, and one for each message."""
        head = Entry(theme.SYSTEM.key, _FIXED, self.head, {}, "fixed")
        fixed = [("fixed", head, head, head)] if self.head and (self.before or self.now) else []
        return [*fixed, *self._messages]

    @property
    def _messages(self) -> list[Row]:
        if not self.before:
            return [(f"{place}", one, one, one) for place, one in enumerate(self.now)]
        old = [(f"{place}", one) for place, one in enumerate(self.before)]
        fates = {one.fate for one in (*self.before, *self.after)}
        if len(self.before) == len(self.after) and not fates & {"summarised", "summary"}:
            return [(key, was, one, one) for (key, was), one in zip(old, self.after, strict=True)]
        stays = ("kept", "carried")
        gone = {one.fate for one in self.before}
        new = [one for one in self.after if one.fate not in stays or one.fate not in gone]
        stay = [one.fate == "kept" for one in self.before]
        # The new messages stand where the old ones end.
        end = len(stay) - stay[::-1].index(False) if False in stay else 0
        rows: list[Row]
        rows = [(key, was, was if was.fate in stays else None, was) for key, was in old]
        made = [(f"made {place}", None, one, one) for place, one in enumerate(new)]
        return [*rows[:end], *made, *rows[end:]]


class Compaction(Diagram[State]):
    """The message array before and after, with what was cleared marked."""

    name = "compaction"
    start = State()
    alone = True

    def fold(self, state: State, event: Event) -> State:
        match read(event):
            case RunStarted(system=system, tools=tools):
                head = estimate_tokens(system) + estimate_tokens(list(tools))
                return replace(state, head=head)
            case MessageAdded(message=message):
                return replace(state, now=(*state.now, _entry(message)))
            case MessagesRewritten(messages=messages):
                now = tuple(one for message in messages for one in _entries(message))
                before, after = _fates(state.now, now)
                return State(after, before, after, state.head)
        return state

    def says(self, state: State) -> list[str]:
        fixed = f"{_FIXED.capitalize()} are ≈{state.head:,} tokens." if state.head else ""
        old, new, now = (
            state.head + _tokens(half) for half in (state.before, state.after, state.now)
        )
        if not state.before:
            return [f"Nothing was compacted: {_messages(state.now)}, ≈{now:,} tokens.", fixed]
        fates = [one.fate for one in state.before if not one.part]
        said: list[str] = []
        for key, (_, _, *words) in FATES.items():
            if words and (number := fates.count(key)):
                of = f"{number} of {_messages(state.before)}" if not said else f"{number}"
                said.append(f"{of} {words[number > 1]}")
        if any(one.fate == "carried" for one in state.after):
            said.append("the request is put back word for word")
        did = "A summary" if "summarised" in fates else "Clearing"
        return [f"{did} makes ≈{new:,} tokens of ≈{old:,}.", f"{listed(said)}.", fixed]

    def draw(self, state: State, width: float, rows: int) -> Canvas:
        canvas = Canvas(width)
        all = state.rows
        y = _halves(canvas, state)
        scale = max([1, *(one.tokens for _, *both in all for one in both if one)])
        left = width * 0.44
        room = width - left - _TOKENS
        for row in static.cut(all, rows):
            if isinstance(row, static.Gap):
                y += _LINE * canvas.left_out("gap", 0, y + 14, row, "message")
                continue
            key, was, one, shown = row
            old, new = was.tokens if was else 0, one.tokens if one else 0
            label = _label(shown)
            says = f"{label}: {_change_of(old, new)} tokens; {shown.text}"
            # On a narrow page the glyph stands for the label.
            what = f"{label}: {shown.text}" if width > 480 else f"{label.split()[0]} {shown.text}"
            canvas.text(f"what {key}", 0, y + 14, what, "", _mark(shown), width=left - 14)
            if old > new:
                length = max(room * old / scale, 2)
                canvas.box(f"was {key}", left, y + 3, length, 14, "", (), "d", says=says)
            if new:
                length = max(room * new / scale, 1.5)
                told = "" if old > new else says
                canvas.bar(f"is {key}", left, y + 3, length, 14, shown.key, says=told)
            style = "e" if one else "eq"
            canvas.text(f"tokens {key}", width, y + 14, _change_of(old, new), style, width=_TOKENS)
            y += _LINE
        canvas.height = y + 8
        return canvas


def _halves(canvas: Canvas, state: State) -> float:
    """The whole array before and after on one scale, what is gone as an outline; its lower end."""
    if not state.before and not state.now:
        return 22.0
    fixed = [one for key, *_, one in state.rows[:1] if key == "fixed"]
    halves = {"before": state.before, "after": state.after} if state.before else {"now": state.now}
    left, y = 52.0, 4.0
    scale = (canvas.width - left - _TOKENS) / max(
        1, *(state.head + _tokens(half) for half in halves.values())
    )
    pieces = {
        name: [(key, _tokens([*its])) for key, its in groupby((*fixed, *half), attrgetter("key"))]
        for name, half in halves.items()
    }
    summed = any(scale * tokens < 3 for half in pieces.values() for _, tokens in half)
    if summed:
        for name, half in pieces.items():  # a kind is one piece, so that none is lost
            kinds = dict.fromkeys(key for key, _ in half)
            pieces[name] = [(kind, sum(n for key, n in half if key == kind)) for kind in kinds]
    end = left
    for name, half in pieces.items():
        canvas.text(f"half {name}", 0, y + 15, name, "b")
        x = left
        for number, (key, tokens) in enumerate(half):
            wide = max(tokens * scale, 3)
            canvas.bar(f"half {name} {number}", x, y, wide - 1, 20, key)
            x += wide
        if end - x > 2:
            canvas.box("gone", x, y, end - x - 1, 20, "", (), "d")
        total = sum(tokens for _, tokens in half)
        canvas.text(f"total {name}", canvas.width, y + 15, f"≈{total:,}", "eb", width=_TOKENS)
        end, y = x, y + 26
    canvas.text("unit", canvas.width, y + 12, "≈ tokens", "qe")
    if state.before:
        said = "dashed: removed" + "; summed by kind" * summed
        canvas.text("legend", 0, y + 12, said, "q", width=canvas.width - 60)
    return y + 20


def _messages(entries: Sequence[Entry]) -> str:
    return count(sum(not one.part for one in entries), "message")


def _entry(message: dict[str, Any]) -> Entry:
    """A message as a row, with the mark of its most important blocks."""
    blocks = blocks_of(message.get("content"))
    if results := [block for block in blocks if block.get("type") == "tool_result"]:
        key = "error" if all(one.get("is_error") for one in results) else "result"
        text = " · ".join(content_text(one.get("content")) for one in results)
    elif calls := [block for block in blocks if block.get("type") == "tool_use"]:
        key, text = "call", ", ".join(map(_call, calls))
    else:
        key = "user" if message.get("role") == "user" else "assistant"
        text = content_text([block for block in blocks if block.get("type") not in _THINKING])
    if _OPENING.match(text):
        text = _CLOSING.sub("", _OPENING.sub("", text))
    return Entry(key, one_line(text, 80), estimate_tokens(message), message)


def _entries(message: dict[str, Any]) -> list[Entry]:
    """A message as a row, or as two: a summary, and the request that code has put beside it."""
    whole, blocks = _entry(message), blocks_of(message.get("content"))
    said = [str(block.get("text", "")) for block in blocks]
    found = next((place for place, one in enumerate(said) if _REQUEST.fullmatch(one)), 0)
    if not found or not _OPENING.match(said[0]):
        return [whole]
    asked = {"role": "user", "content": said[found].split("\n", 1)[1].rpartition("\n")[0]}
    request = replace(_entry(asked), part=True)
    rest = {**message, "content": [*blocks[:found], *blocks[found + 1 :]]}
    return [replace(_entry(rest), tokens=whole.tokens - request.tokens), request]


def _call(block: dict[str, Any]) -> str:
    return f"{block.get('name')} {arguments(block.get('input'))}"


def _fates(
    old: Sequence[Entry], new: Sequence[Entry]
) -> tuple[tuple[Entry, ...], tuple[Entry, ...]]:
    """Compare two arrays: the fate of each old message, and the origin of each new one."""
    same = [one.message for one in old[:1]] == [one.message for one in new[:1]]
    if len(old) == len(new) and (same or not any(one.part for one in new)):
        before = after = [_change(one, other) for one, other in zip(old, new, strict=True)]
    else:
        start, shorter = 0, min(len(old), len(new))
        while start < shorter and old[start].message == new[start].message:
            start += 1
        end = 0
        for one, other in zip(old[start:][::-1], new[start:][::-1], strict=False):
            if other.part or _bare(one) != _bare(other):
                break
            end += 1
        made = ["carried" if one.part else "summary" for one in new]
        before = ["kept"] * start + ["summarised"] * (len(old) - start - end) + ["kept"] * end
        requests = [_asked(one) for one in new if one.part]
        asked = [place for place in range(start, len(old) - end) if _asked(old[place]) in requests]
        for place in asked[-1:]:  # the last one, if there are more
            before[place] = "carried"
        after = ["kept"] * start + made[start : len(new) - end] + ["kept"] * end
    return _labelled(old, before), _labelled(new, after)


def _labelled(entries: Sequence[Entry], fates: Sequence[str]) -> tuple[Entry, ...]:
    return tuple(replace(one, fate=fate) for one, fate in zip(entries, fates, strict=True))


def _change(old: Entry, new: Entry) -> str:
    if old.message == new.message:
        return "earlier" if old.fate in ("cleared", "earlier") else "kept"
    return "shorter" if _bare(old) == _bare(new) else "cleared"


def _bare(entry: Entry) -> Any:
    """A message without its thinking."""
    blocks = blocks_of(entry.message.get("content"))
    kept = [block for block in blocks if block.get("type") not in _THINKING]
    return entry.message.get("role"), kept


def _asked(entry: Entry) -> str | None:
    """The text of a user's message as a summary's frame holds it; None if it is another one."""
    if entry.key != theme.USER.key:
        return None
    return defused(content_text(entry.message.get("content")))


def _mark(entry: Entry) -> str:
    return "blocked" if entry.fate in ("cleared", "earlier", "summarised") else entry.key


def _label(entry: Entry) -> str:
    if entry.fate in ("", "kept"):
        return theme.MARKS[entry.key].label
    glyph, word, *_ = FATES[entry.fate]
    return f"{glyph} {word}"


def _tokens(entries: Sequence[Entry]) -> int:
    return sum(one.tokens for one in entries)


def _change_of(old: int, new: int) -> str:
    if not new:
        return f"−{old:,}"
    return f"{old:,} → {new:,}" if old and old != new else f"{new:,}"
