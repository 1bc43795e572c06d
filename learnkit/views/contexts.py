"""Contexts: how many tokens each agent has in its context, as bars on one scale.

Each agent has a row, and a subagent's row comes after its parent's. What a subagent read makes its
own row long, but only one short result of it is in the parent's row. The difference is what the
parent was spared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from learnkit.core.events import Event
from learnkit.core.text import blocks_of, clean, count, one_line
from learnkit.core.token_count import estimate_tokens
from learnkit.views.drawing import static, theme
from learnkit.views.drawing.base import Drawn, DrawnView, css_beside
from learnkit.views.drawing.static import Picture
from learnkit.views.drawing.text import esc, scale_of

#: Names of the parts of a context by key, in the order of the legend.
_PARTS = {
    "system": "system prompt and tools",
    "user": "request",
    "assistant": "text",
    "call": "calls",
    "result": "results",
    "error": "errors",
    "injected": "injected",
}


#: The most segments in a bar: with more, each would be too narrow to see.
SEGMENTS = 60


@dataclass(frozen=True, slots=True)
class Context:
    """One agent's context.

    Attributes:
        lane: the agent's name.
        parent: the agent that started it; empty if no agent did.
        title: the task it was started for.
        parts: the key of a mark and a number of tokens for each part, in order; neighbours of the
            same kind are merged.
        tokens: the sum over all parts.
        ended: the reason its run ended; empty while it works.
        returned: tokens of the result that its parent got.
    """

    lane: str
    parent: str = ""
    title: str = ""
    parts: tuple[tuple[str, int], ...] = ()
    tokens: int = 0
    ended: str = ""
    returned: int = 0

    @property
    def mark(self) -> theme.Mark:
        """Working, done or failed."""
        if not self.ended:
            return theme.WORKING
        return theme.DONE if self.ended in ("end_turn", "stop_sequence") else theme.FAILED


@dataclass(frozen=True, slots=True)
class State(Drawn):
    """Contexts by lane, in the order in which they began."""

    lanes: dict[str, Context] = field(default_factory=dict)

    @property
    def children(self) -> list[Context]:
        """The subagents."""
        return [one for one in self.lanes.values() if one.parent]

    @property
    def scale(self) -> int:
        """The tokens that the full width represents: a round number."""
        longest = max((one.tokens for one in self.lanes.values()), default=0)
        return scale_of(longest)


class Contexts(DrawnView[State]):
    """Parent and subagents, each with the tokens in its context."""

    name = "contexts"
    css = css_beside(__file__)
    start = State()

    def fold(self, state: State, event: Event) -> State:
        data, lane = event.data, event.lane
        one = before = state.lanes.get(lane) or Context(lane)
        if event.type == "subagent.started":
            title = str(data.get("description") or data.get("prompt", ""))
            one = replace(one, parent=str(data.get("parent", "?")), title=title)
        elif event.type == "subagent.ended":
            returned = int(data.get("returned", 0))
            one = replace(one, ended=str(data.get("reason", "")), returned=returned)
        elif event.type == "run.started":
            head = estimate_tokens(data.get("system")) + estimate_tokens(data.get("tools"))
            rest = one.parts[1:] if one.parts[:1] and one.parts[0][0] == "system" else one.parts
            title = one.title or str(data.get("prompt") or "")
            one = _holding(replace(one, title=title, ended=""), [("system", head), *rest])
        elif event.type == "message.added":
            new = list(_parts(data.get("message", {}), bool(data.get("injected"))))
            parts = (*one.parts[:-1], *_joined([*one.parts[-1:], *new]))
            tokens = one.tokens + sum(tokens for _, tokens in new)
            one = replace(one, parts=parts, tokens=tokens)
        elif event.type == "messages.rewritten":
            start = [part for part in one.parts[:1] if part[0] == "system"]
            all = [part for message in data.get("messages", []) for part in _parts(message)]
            one = _holding(one, [*start, *all])
        elif event.type == "run.ended" and not one.parent:
            one = replace(one, ended=str(data.get("reason", "")))
        return state if one == before else replace(state, lanes={**state.lanes, lane: one})

    def draw(self, state: State, old: State) -> dict[str, str]:
        html = {"contexts/ scale": _legend(state)}
        for one in state.lanes.values():
            key, changed = f"contexts/{clean(one.lane)}", one is not old.lanes.get(one.lane)
            same = not changed and state.scale == old.scale
            html[key] = old.html[key] if same else _row(one, state.scale, changed)
        if state.children:
            html["contexts/ spared"] = f'<div class="spared" data-quiet>{esc(_spared(state))}</div>'
        return html

    def line(self, state: State) -> str:
        if not state.children:
            own = ", ".join(f"{one.lane} ≈{one.tokens:,}" for one in state.lanes.values())
            return f"{self.name}: {own or 'none'} tokens; {state.head}"
        return f"{self.name}: {_spared(state)} {state.head}"

    def picture(self, state: State, rows: int) -> Picture:
        picture = Picture(f"{self.line(state)} Every length stands in the table below.")
        shown = list(state.lanes.values())[:rows]
        left, right, scale = 236, 80, state.scale
        width = static.WIDTH - left - right
        picture.text(left, 24, f"full width: ≈{scale:,} tokens (≈4 characters each)", "q")
        y = 34.0
        for one in shown:
            indent = 14 if one.parent else 0
            picture.text(16 + indent, y + 15, one.mark.glyph, "", 20, one.mark.key)
            picture.text(36 + indent, y + 15, _who(one), "" if one.parent else "b", 190 - indent)
            x = float(left)
            for key, tokens in _drawable(one):
                length = width * tokens / scale
                picture.bar(x, y + 3, max(length - 0.7, 0.6), 15, key)
                x += length
            picture.text(static.WIDTH - 16, y + 15, f"≈{one.tokens:,}", "e", right)
            y += 24
        y += picture.left_out(36, y + 15, len(state.lanes) - len(shown), "", 24)
        x = 16.0
        for key in _used(state):
            picture.bar(x, y + 8, 10, 10, key)
            picture.text(x + 15, y + 17, _PARTS[key], "q", 200)
            x += 28 + len(_PARTS[key]) * static.NARROW
        y += 24
        if state.children:
            picture.text(16, y + 17, _spared(state), "b")
            y += 22
        picture.height = y + 12
        return picture

    def facts(self, state: State, rows: int) -> str:
        used = _used(state)
        body: list[list[object]] = []
        for one in list(state.lanes.values())[:rows]:
            sums = [sum(n for kind, n in one.parts if kind == key) for key in used]
            back = one.returned if one.parent else ""
            body.append([one.lane, one_line(one.title, 60), *sums, one.tokens, back])
        after = static.more(len(state.lanes) - rows)
        head = ["agent", "for", *(_PARTS[key] for key in used), "≈ tokens", "given back"]
        said = f"<p>{esc(_spared(state))}</p>" if state.children else ""
        return static.table(head, body, after=after) + said


def _parts(message: dict[str, Any], injected: bool = False) -> Iterator[tuple[str, int]]:
    """The parts of a message, each with its tokens."""
    role = message.get("role")
    after_results = False
    for block in blocks_of(message.get("content")):
        kind = block.get("type")
        if kind == "tool_result":
            after_results = True
            yield ("error" if block.get("is_error") else "result"), estimate_tokens(block)
        elif kind == "tool_use":
            yield "call", estimate_tokens(block)
        elif role == "user":
            text = block.get("text", block)
            yield ("injected" if injected or after_results else "user"), estimate_tokens(text)
        else:
            yield "assistant", estimate_tokens(block.get("text", block))


def _holding(one: Context, parts: Sequence[tuple[str, int]]) -> Context:
    return replace(one, parts=_joined(parts), tokens=sum(tokens for _, tokens in parts))


def _joined(parts: Sequence[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    """The parts with neighbours of the same kind merged."""
    joined: list[tuple[str, int]] = []
    for key, tokens in parts:
        if joined and joined[-1][0] == key:
            joined[-1] = key, joined[-1][1] + tokens
        else:
            joined.append((key, tokens))
    return tuple(joined)


def _drawable(one: Context) -> list[tuple[str, int]]:
    """The parts to draw: at most ``SEGMENTS``; merged neighbours get the largest part's kind."""
    if len(one.parts) <= SEGMENTS:
        return list(one.parts)
    drawn: list[tuple[str, int]] = []
    bucket: dict[str, int] = {}
    least = one.tokens / SEGMENTS
    for place, (key, tokens) in enumerate(one.parts, start=1):
        bucket[key] = bucket.get(key, 0) + tokens
        full = sum(bucket.values()) >= least
        if full or place == len(one.parts):
            drawn.append((max(bucket, key=bucket.__getitem__), sum(bucket.values())))
            bucket = {}
    return drawn


def _used(state: State) -> list[str]:
    present = {key for one in state.lanes.values() for key, _ in one.parts}
    return [key for key in _PARTS if key in present]


def _who(one: Context) -> str:
    return one.title or one.lane if one.parent else one.lane


def _spared(state: State) -> str:
    """What the parents did not have to read, in a sentence."""
    read = sum(one.tokens for one in state.children)
    back = sum(one.returned for one in state.children)
    share = f" ({100 * (read - back) / read:.0f} %)" if read else ""
    whom = "it" if len(state.children) == 1 else "them"
    return (
        f"{count(len(state.children), 'subagent')} had ≈{read:,} tokens in front of {whom} and "
        "gave back "
        f"≈{back:,}: the parent was spared ≈{read - back:,}{share}."
    )


def _legend(state: State) -> str:
    keys = "".join(
        f'<span><i style="background:var(--lk-{key}-edge)"></i>{_PARTS[key]}</span>'
        for key in _used(state)
    )
    return (
        f'<div class="scale" data-quiet>full width: ≈{state.scale:,} tokens '
        f"(≈4 characters each){keys}</div>"
    )


def _row(one: Context, scale: int, changed: bool) -> str:
    bars = "".join(
        f'<i class="m-{key}" style="width:{100 * tokens / scale:.2f}%;border-style:solid;'
        f'background:var(--lk-{key}-edge)" title="{_PARTS[key]}: ≈{tokens:,} tokens"></i>'
        for key, tokens in _drawable(one)
    )
    child = " child" if one.parent else ""
    name = esc(_who(one)) if one.parent else f"<b>{esc(one.lane)}</b>"
    said = f"{one.lane}, {one.mark.word}: ≈{one.tokens:,} tokens"
    return (
        f'<div class="context{child}" role="group" aria-label="{esc(said)}"'
        f'{"" if changed else " data-quiet"}><span class="who" title="{esc(one.lane)}: '
        f'{esc(one.title)}"><span class="t-{one.mark.key}">{one.mark.glyph}</span> {name}</span>'
        f'<span class="bar" aria-hidden="true">{bars}</span><span class="n">≈{one.tokens:,}</span>'
        "</div>"
    )
