"""The message array before and after compaction: what was cleared, summarised or kept.

The two columns share one scale. Before the first compaction there is one column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from learnkit.core.events import Event
from learnkit.core.text import blocks_of, content_text, count, one_line
from learnkit.core.token_count import estimate_tokens
from learnkit.views.drawing import static, theme
from learnkit.views.drawing.base import Drawn, DrawnView, css_beside
from learnkit.views.drawing.static import Picture
from learnkit.views.drawing.text import esc

_THINKING = ("thinking", "redacted_thinking")

#: What happened to a message, by key.
FATES = {
    "kept": ("=", "kept"),
    "cleared": ("⊘", "cleared"),
    "summarised": ("▼", "summarised"),
    "shorter": ("◐", "thinking dropped"),
    "summary": ("Σ", "summary"),
    "note": ("Σ", "note"),
}
_MARKS = {"cleared": "blocked", "summarised": "blocked", "shorter": "idle"}


@dataclass(frozen=True, slots=True)
class Entry:
    """A message as a row: its mark, its text in short, its tokens, and its fate."""

    key: str
    text: str
    tokens: int
    message: dict[str, Any] = field(compare=False, repr=False)
    fate: str = ""


@dataclass(frozen=True, slots=True)
class State(Drawn):
    """The array now, and as it was before the last rewrite; the longest message's tokens."""

    before: tuple[Entry, ...] = ()
    after: tuple[Entry, ...] = ()
    scale: int = 1


class Compaction(DrawnView[State]):
    """The message array before and after, with what was cleared marked."""

    name = "compaction"
    css = css_beside(__file__)
    start = State()

    def step(self, state: State, event: Event) -> State:
        return super().step(state, event) if event.lane == (self.lane or "lead") else state

    def fold(self, state: State, event: Event) -> State:
        if event.type == "message.added":
            new = _entry(event.data.get("message") or {})
            return replace(state, after=(*state.after, new), scale=max(state.scale, new.tokens))
        if event.type == "messages.rewritten":
            now = [_entry(one) for one in event.data.get("messages", [])]
            before, after = _fates([replace(one, fate="") for one in state.after], now)
            scale = max([1, *(one.tokens for one in (*before, *after))])
            return replace(state, before=before, after=after, scale=scale)
        return state

    def draw(self, state: State, old: State) -> dict[str, str]:
        html: dict[str, str] = {}
        halves = (("before", state.before, old.before), ("after", state.after, old.after))
        for region, entries, earlier in halves:
            if entries:
                name = region if state.before else "the array"
                size = f"<small>{_sum(entries)}</small>"
                html[f"{region}/ title"] = f'<div class="col" data-quiet>{name} {size}</div>'
            for place, one in enumerate(entries):
                key = f"{region}/{place}"
                gone = region == "before" and one.fate in ("cleared", "summarised")
                same = state.scale == old.scale and earlier[place : place + 1] == (one,)
                html[key] = old.html[key] if same else _row(one, state.scale, gone)
        return html

    def line(self, state: State) -> str:
        return f"{self.name}: {_saved(state)} {state.head}"

    def picture(self, state: State, rows: int) -> Picture:
        picture = Picture(f"{self.line(state)} The messages stand in the table below.")
        columns = [("before", state.before), ("after", state.after)]
        columns = [one for one in columns if one[1]] or [("the array", ())]
        width = (static.WIDTH - 32 - 16 * (len(columns) - 1)) / len(columns)
        bottom = 0.0
        for place, (title, entries) in enumerate(columns):
            x, y = 16 + place * (width + 16), 24.0
            picture.text(x, y, f"{title}: {_sum(entries)}", "b", width)
            y += 8
            for one in static.cut(entries, rows):
                if isinstance(one, static.Gap):
                    y += picture.left_out(x + 8, y + 15, one.hidden, "", 22)
                    continue
                mark = _mark(one)
                picture.box(x, y, width, 19, mark)
                picture.bar(x, y + 17, max(width * one.tokens / state.scale, 1), 2, one.key)
                label = f"{_label(one)}  {one.text}"
                picture.text(x + 6, y + 13.5, label, "", width - 70, mark)
                picture.text(x + width - 6, y + 13.5, f"≈{one.tokens:,}", "e", 60, mark)
                y += 22
            bottom = max(bottom, y)
        picture.text(16, bottom + 16, _saved(state), "b")
        picture.height = bottom + 30
        return picture

    def facts(self, state: State, rows: int) -> str:
        tables = []
        for title, entries in (("before", state.before), ("after", state.after)):
            body: list[list[object]] = [
                ["…", f"{one.hidden} messages left out", "", ""]
                if isinstance(one, static.Gap)
                else [one[0], _label(one[1]), one_line(one[1].text, 60), one[1].tokens]
                for one in static.cut(list(enumerate(entries)), rows)
            ]
            tables.append(static.table([title, "what", "text", "≈ tokens"], body))
        return "".join(tables)


def _entry(message: dict[str, Any]) -> Entry:
    """A message as a row, with the mark of its most important blocks."""
    blocks = blocks_of(message.get("content"))
    if results := [block for block in blocks if block.get("type") == "tool_result"]:
        key = "error" if all(one.get("is_error") for one in results) else "result"
        text = " · ".join(content_text(one.get("content")) for one in results)
    elif calls := [block for block in blocks if block.get("type") == "tool_use"]:
        key, text = "call", ", ".join(f"{one.get('name')} {one.get('input')}" for one in calls)
    else:
        key = "user" if message.get("role") == "user" else "assistant"
        text = content_text([block for block in blocks if block.get("type") not in _THINKING])
    return Entry(key, one_line(text, 120), estimate_tokens(message), message)


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
        return "kept"
    return "shorter" if _bare(old) == _bare(new) else "cleared"


def _bare(entry: Entry) -> Any:
    """A message without its thinking."""
    blocks = blocks_of(entry.message.get("content"))
    kept = [block for block in blocks if block.get("type") not in _THINKING]
    return entry.message.get("role"), kept


def _mark(entry: Entry) -> str:
    return _MARKS.get(entry.fate, entry.key)


def _label(entry: Entry) -> str:
    if entry.fate in ("", "kept"):
        return theme.MARKS[entry.key].label
    glyph, word = FATES[entry.fate]
    return f"{glyph} {word}"


def _sum(entries: Sequence[Entry]) -> str:
    tokens = sum(one.tokens for one in entries)
    return f"{count(len(entries), 'message')}, ≈{tokens:,} tokens"


def _saved(state: State) -> str:
    if not state.before:
        return f"nothing was compacted; {_sum(state.after)}."
    old, new = (sum(one.tokens for one in half) for half in (state.before, state.after))
    fates = [one.fate for one in state.before]
    counts = [
        f"{fates.count(key)} {FATES[key][1]}"
        for key in ("cleared", "summarised", "shorter", "kept")
        if key in fates
    ]
    share = 100 * (old - new) / old if old else 0
    return (
        f"of {count(len(state.before), 'message')} {', '.join(counts)}; "
        f"≈{old:,} tokens then, ≈{new:,} now ({share:.0f} % less)."
    )


def _row(one: Entry, scale: int, gone: bool) -> str:
    mark, label = _mark(one), _label(one)
    glyph, _, word = label.replace("\u00a0", " ").partition(" ")
    width = max(100 * one.tokens / scale, 0.5)
    return (
        f'<div class="was m-{mark}{" gone" if gone else ""}" role="group"'
        f' aria-label="{esc(label)}: ≈{one.tokens:,} tokens"><span>{glyph}</span>'
        f'<span>{word}</span><span class="text" title="{esc(one.text)}">{esc(one.text)}</span>'
        f'<span class="n">≈{one.tokens:,}</span><span class="len" aria-hidden="true" '
        f'style="width:{width:.1f}%;background:var(--lk-{one.key}-edge)"></span></div>'
    )
