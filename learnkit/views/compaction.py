"""What compaction did to the message array: each message with its length before and after.

Filled is what stays, dashed what is gone. The picture is of the moment of a compaction: messages
that come later are not in it. Before the first compaction it shows the array as it grows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from learnkit.core.events import Event
from learnkit.core.text import arguments, blocks_of, content_text, count, listed, one_line
from learnkit.core.token_count import estimate_tokens
from learnkit.core.vocabulary import MessageAdded, MessagesRewritten, read
from learnkit.views.drawing import static, theme
from learnkit.views.drawing.base import Diagram
from learnkit.views.drawing.display import Canvas

_THINKING = ("thinking", "redacted_thinking")
#: The tag that a summary begins with.
_OPENING = re.compile(r"^<summary\b[^>]*>\s*")
#: Height of a row, and width of what stands beside its bar, in pixels.
_LINE, _LABEL, _TOKENS = 22, 116, 86

#: What happened to a message, by key: glyph, word, and what is said of one and of several.
FATES = {
    "cleared": ("⊘", "cleared", "is cleared", "are cleared"),
    "summarised": ("▼", "summarised", "becomes a summary", "become a summary"),
    "shorter": ("◐", "less thinking", "loses its thinking", "lose their thinking"),
    "earlier": ("⊘", "cleared before", "was cleared before", "were cleared before"),
    "kept": ("=", "kept", "stays as it was", "stay as they were"),
    "summary": ("Σ", "summary"),
    "note": ("Σ", "note"),
}


@dataclass(frozen=True, slots=True)
class Entry:
    """A message as a row: its mark, its text in short, its tokens, and its fate."""

    key: str
    text: str
    tokens: int
    message: dict[str, Any] = field(compare=False, repr=False)
    fate: str = ""


@dataclass(frozen=True, slots=True)
class State:
    """The array now, and as it was just before and just after the last compaction.

    Attributes:
        now: all messages.
        before: the messages when the last compaction began; empty if there was none.
        after: the messages when it was over.
        times: how many compactions there were.
        saved: tokens that they took out together.
    """

    now: tuple[Entry, ...] = ()
    before: tuple[Entry, ...] = ()
    after: tuple[Entry, ...] = ()
    times: int = 0
    saved: int = 0

    @property
    def rows(self) -> list[tuple[str, Entry | None, Entry | None]]:
        """Each message with its key, as it was and as it is; None where it isn't there."""
        if not self.before:
            return [(f"{place}", one, one) for place, one in enumerate(self.now)]
        old = [(f"{place}", one) for place, one in enumerate(self.before)]
        if len(self.before) == len(self.after):
            return [(key, was, one) for (key, was), one in zip(old, self.after, strict=True)]
        new = [("made", None, one) for one in self.after if one.fate != "kept"]
        stay = [one.fate == "kept" for one in self.before]
        # The new messages stand where the old ones end.
        end = len(stay) - stay[::-1].index(False) if False in stay else 0
        rows = [(key, was, was if was.fate == "kept" else None) for key, was in old]
        made = [(f"{key} {place}", was, one) for place, (key, was, one) in enumerate(new)]
        return [*rows[:end], *made, *rows[end:]]


class Compaction(Diagram[State]):
    """The message array before and after, with what was cleared marked."""

    name = "compaction"
    start = State()

    def fold(self, state: State, event: Event) -> State:
        if event.lane != (self.lane or "lead"):
            return state
        match read(event):
            case MessageAdded(message=message):
                return replace(state, now=(*state.now, _entry(message)))
            case MessagesRewritten(messages=messages):
                now = tuple(map(_entry, messages))
                before, after = _fates(state.now, now)
                saved = state.saved + _tokens(state.now) - _tokens(now)
                return State(after, before, after, state.times + 1, saved)
        return state

    def told(self, state: State, old: State, event: Event) -> str:
        compacted = event.type == "messages.rewritten"
        return self.finding(state) if compacted else super().told(state, old, event)

    def finding(self, state: State) -> str:
        if not state.before:
            return f"Nothing was compacted: {_sum(state.now)}."
        old, new = _tokens(state.before), _tokens(state.after)
        fates = [one.fate for one in state.before]
        said: list[str] = []
        for key, (_, _, *words) in FATES.items():
            if number := fates.count(key):
                of = f"{number} of {count(len(fates), 'message')}" if not said else f"{number}"
                said.append(f"{of} {words[number > 1]}")
        share = f" ({(old - new) / old:.0%} less)" if old > new else ""
        last = f"≈{old:,} tokens become ≈{new:,}{share}: {listed(said)}."
        if state.times == 1:
            return last
        many = f"{state.times} compactions remove ≈{state.saved:,} tokens."
        return f"{many} In the last one, drawn here, {last}"

    def draw(self, state: State, width: float, rows: int) -> Canvas:
        canvas = Canvas(width)
        all = state.rows
        scale = max([1, *(one.tokens for _, *both in all for one in both if one)])
        # On a narrow page the lengths are worth more than the beginning of a text.
        left = _LABEL + (width - _LABEL) * 0.36 * (width > 480)
        room, y = width - left - _TOKENS, 22.0
        canvas.text("unit", width, 14, "≈ tokens", "q e")
        for row in static.cut(all, rows):
            if isinstance(row, static.Gap):
                y += _LINE * canvas.left_out("gap", 0, y + 14, row, "message")
                continue
            key, was, one = row
            shown = one or was
            if shown is None:
                continue
            mark, label = _mark(shown), _label(shown)
            old, new = was.tokens if was else 0, one.tokens if one else 0
            says = f"{label}: {_change_of(old, new)} tokens; {shown.text}"
            canvas.text(f"what {key}", 0, y + 14, label, "", mark, width=_LABEL)
            if left > _LABEL:
                style = "" if one else "q"
                canvas.text(
                    f"text {key}", _LABEL, y + 14, shown.text, style, width=left - _LABEL - 10
                )
            if old > new:
                length = max(room * old / scale, 2)
                canvas.box(f"was {key}", left, y + 3, length, 14, "blocked", (), "d", says=says)
            if new:
                length = max(room * new / scale, 1.5)
                told = "" if old > new else says
                canvas.bar(f"is {key}", left, y + 3, length, 14, shown.key, says=told)
            canvas.text(f"tokens {key}", width, y + 14, _change_of(old, new), "e", width=_TOKENS)
            y += _LINE
        if state.before:
            canvas.text("legend", 0, y + 16, "dashed: removed · filled: kept", "q")
        canvas.height = y + 26 * bool(state.before)
        return canvas

    def facts(self, state: State, rows: int) -> str:
        body: list[list[object]] = []
        for row in static.cut(state.rows, rows):
            if isinstance(row, static.Gap):
                body.append(["…", f"{row} messages left out", "", ""])
                continue
            _, was, one = row
            shown = one or was
            if shown:
                sizes = was.tokens if was else "", one.tokens if one else ""
                body.append([_label(shown), one_line(shown.text, 60), *sizes])
        return static.table(["what", "text", "≈ tokens before", "after"], body)


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
    text = _OPENING.sub("", text)  # the tag and its path say nothing that the row's label doesn't
    return Entry(key, one_line(text, 120), estimate_tokens(message), message)


def _call(block: dict[str, Any]) -> str:
    return f"{block.get('name')} {arguments(block.get('input'))}"


def _fates(
    old: Sequence[Entry], new: Sequence[Entry]
) -> tuple[tuple[Entry, ...], tuple[Entry, ...]]:
    """Compare two arrays: the fate of each old message, and the origin of each new one."""
    if len(old) == len(new):
        before = after = [_change(one, other) for one, other in zip(old, new, strict=True)]
    else:
        start, shorter = 0, min(len(old), len(new))
        while start < shorter and old[start].message == new[start].message:
            start += 1
        end = 0
        while end < shorter - start and _bare(old[-1 - end]) == _bare(new[-1 - end]):
            end += 1
        made = ["summary" if "<summary" in str(one.message) else "note" for one in new]
        before = ["kept"] * start + ["summarised"] * (len(old) - start - end) + ["kept"] * end
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


def _mark(entry: Entry) -> str:
    return "blocked" if entry.fate in ("cleared", "earlier", "summarised") else entry.key


def _label(entry: Entry) -> str:
    if entry.fate in ("", "kept"):
        return theme.MARKS[entry.key].label
    glyph, word, *_ = FATES[entry.fate]
    return f"{glyph} {word}"


def _tokens(entries: Sequence[Entry]) -> int:
    return sum(one.tokens for one in entries)


def _sum(entries: Sequence[Entry]) -> str:
    return f"{count(len(entries), 'message')}, ≈{_tokens(entries):,} tokens"


def _change_of(old: int, new: int) -> str:
    return f"≈{old:,} → {new:,}" if old != new and old else f"≈{new:,}"
