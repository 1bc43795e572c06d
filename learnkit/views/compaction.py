"""The array before and after a compaction: what was cleared, what became a summary, what stayed.

Two columns on one scale. Before the first compaction there is one: the array as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from learnkit.core.events import Event
from learnkit.core.token_count import estimate_tokens
from learnkit.views.drawing import static, theme
from learnkit.views.drawing.base import Drawn, View, kept
from learnkit.views.drawing.static import Picture
from learnkit.views.drawing.text import blocks_of, content_text, count, esc, one_line
from learnkit.views.words import describe

_THINKING = ("thinking", "redacted_thinking")

#: What became of a message, by key.
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
    """A message as a row: its mark, a few words, its tokens, and what became of it."""

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


class Compaction(View[State]):
    """The message array before and after, with what was cleared marked."""

    name = "compaction"
    css: ClassVar[str] = """
.region[data-region="before"],.region[data-region="after"]{flex:1 1 280px;min-width:0;gap:2px;
 max-height:460px;overflow-y:auto}
.was{display:grid;grid-template-columns:2ch 12ch minmax(0,1fr) 6ch;gap:6px;align-items:center;
 padding:2px 8px;border-left-width:3px;border-left-style:solid;font-size:12px;line-height:18px}
.was>.text{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.was>.n{text-align:right;font-variant-numeric:tabular-nums}
.was>.len{grid-column:1/-1;height:3px;border-radius:1px}
.was.gone>.text{text-decoration:line-through;opacity:.75}
.col{font-weight:600;padding:2px 8px}
.col small{font-weight:400;color:var(--lk-quiet)}
"""

    def init(self) -> State:
        return State()

    def step(self, state: State, event: Event) -> State:
        if event.lane != (self.lane or "lead"):
            return state
        state = replace(state, head=describe(event))
        if event.type == "message.added":
            new = _entry(event.data.get("message") or {})
            return _with(replace(state, after=(*state.after, new)), state.scale)
        if event.type == "messages.rewritten":
            now = [_entry(one) for one in event.data.get("messages", [])]
            before, after = _fates([replace(one, fate="") for one in state.after], now)
            scale = max([1, *(one.tokens for one in (*before, *after))])
            state = replace(state, before=before, after=after, scale=scale)
        else:
            return state
        return replace(state, html=_drawn(state))

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
            first, again = static.middle_cut([1] * len(entries), rows) if entries else (0, 0)
            y += 8
            for number, one in enumerate(entries):
                if first <= number < again:
                    if number == first:
                        picture.text(x + 8, y + 15, f"… {again - first} more …", "q", width)
                        y += 22
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
            first, again = static.middle_cut([1] * len(entries), rows) if entries else (0, 0)
            body: list[list[object]] = [
                [number, _label(one), one_line(one.text, 60), one.tokens]
                for number, one in enumerate(entries)
                if not first <= number < again
            ]
            if first < again:
                body.insert(first, ["…", f"{again - first} messages left out", "", ""])
            tables.append(static.table([title, "what", "text", "≈ tokens"], body))
        return "".join(tables)


def _entry(message: dict[str, Any]) -> Entry:
    """A message in a row: by what it mostly is."""
    blocks = blocks_of(message.get("content"))
    kinds = [block.get("type") for block in blocks]
    if "tool_result" in kinds:
        results = [block for block in blocks if block.get("type") == "tool_result"]
        key = "error" if all(one.get("is_error") for one in results) else "result"
        text = " · ".join(content_text(one.get("content")) for one in results)
    elif "tool_use" in kinds:
        calls = [block for block in blocks if block.get("type") == "tool_use"]
        key, text = "call", ", ".join(f"{one.get('name')} {one.get('input')}" for one in calls)
    else:
        key = "user" if message.get("role") == "user" else "assistant"
        text = content_text([block for block in blocks if block.get("type") not in _THINKING])
    return Entry(key, one_line(text, 120), estimate_tokens(message), message)


def _fates(
    old: Sequence[Entry], new: Sequence[Entry]
) -> tuple[tuple[Entry, ...], tuple[Entry, ...]]:
    """What became of each message of the old array, and where each of the new one is from."""
    if len(old) == len(new):
        pairs = [(one, _change(one, other)) for one, other in zip(old, new, strict=True)]
        return (
            tuple(replace(one, fate=fate) for one, fate in pairs),
            tuple(replace(other, fate=fate) for other, (_, fate) in zip(new, pairs, strict=True)),
        )
    start = 0
    while start < min(len(old), len(new)) and old[start].message == new[start].message:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and _bare(old[-1 - end]) == _bare(new[-1 - end]):
        end += 1
    kept_old = [*range(start), *range(len(old) - end, len(old))]
    before = [
        replace(one, fate="kept" if place in kept_old else "summarised")
        for place, one in enumerate(old)
    ]
    after = []
    for place, one in enumerate(new):
        kept = place < start or place >= len(new) - end
        fate = "kept" if kept else "summary" if "<summary" in str(one.message) else "note"
        after.append(replace(one, fate=fate))
    return tuple(before), tuple(after)


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
    old = sum(one.tokens for one in state.before)
    new = sum(one.tokens for one in state.after)
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


def _with(state: State, scale_before: int) -> State:
    """The state after one more message: the others are drawn again only for another scale."""
    new = state.after[-1]
    if new.tokens > scale_before:
        state = replace(state, scale=new.tokens)
        return replace(state, html=_drawn(state))
    row = {f"after/{len(state.after) - 1}": _row(new, state.scale, gone=False)}
    return replace(state, html={**state.html, "after/ title": _title("after", state), **row})


def _title(region: str, state: State) -> str:
    entries = state.before if region == "before" else state.after
    name = region if state.before else "the array"
    return f'<div class="col" data-quiet>{name} <small>{_sum(entries)}</small></div>'


def _drawn(state: State) -> dict[str, str]:
    """The fragments; one that says the same as before is the same string."""
    html: dict[str, str] = {}
    columns = (("before", state.before), ("after", state.after))
    for region, entries in columns:
        if not entries:
            continue
        html[f"{region}/ title"] = _title(region, state)
        for place, one in enumerate(entries):
            gone = region == "before" and one.fate in ("cleared", "summarised")
            html[f"{region}/{place}"] = _row(one, state.scale, gone)
    return kept(html, state.html)


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
