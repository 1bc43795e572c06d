"""Contexts: how many tokens each agent has in its context, as bars on one scale.

Each agent has a row, and a subagent's row comes after its parent's. What a subagent read makes its
own row long, but only one short result of it is in the parent's row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import itemgetter
from typing import Any

from learnkit.core.token_count import estimate_tokens
from learnkit.events.log import Event
from learnkit.events.loop import MessageAdded, MessagesRewritten, RunEnded, RunStarted
from learnkit.events.subagents import SubagentEnded, SubagentStarted
from learnkit.events.text import blocks_of, clean, content_text, count, one_line
from learnkit.events.vocabulary import read
from learnkit.views import people as folk
from learnkit.views.drawing import theme
from learnkit.views.drawing.base import Diagram, Worded
from learnkit.views.drawing.display import Canvas
from learnkit.views.drawing.plot import legend
from learnkit.views.drawing.text import scale_of

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
#: The parts that an agent has read with tools.
_READ = ("result", "error")
#: The most segments in a bar: of more, each too narrow to see, those of a kind are drawn as one.
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
class State:
    """Contexts by lane, in the order in which they began."""

    lanes: dict[str, Context] = field(default_factory=dict)

    @property
    def children(self) -> list[Context]:
        """The subagents."""
        return [one for one in self.lanes.values() if one.parent]

    @property
    def scale(self) -> int:
        """The tokens that the full width represents: a round number."""
        return scale_of(max((one.tokens for one in self.lanes.values()), default=0))


class Contexts(Worded[State], Diagram[State]):
    """Parent and subagents, each with the tokens in its context."""

    name = "contexts"
    start = State()

    def fold(self, state: State, event: Event) -> State:
        lane = event.lane
        one = before = state.lanes.get(lane) or Context(lane)
        match read(event):
            case SubagentStarted(parent=parent, description=title, prompt=prompt):
                one = replace(one, parent=parent, title=title or prompt)
            case SubagentEnded(reason=reason, returned=returned):
                one = replace(one, ended=reason, returned=returned)
            case RunStarted(system=system, tools=tools, prompt=asked):
                head = estimate_tokens(system) + estimate_tokens(list(tools))
                rest = one.parts[1:] if one.parts[:1] and one.parts[0][0] == "system" else one.parts
                title = one.title or content_text(asked)
                one = _holding(replace(one, title=title, ended=""), [("system", head), *rest])
            case MessageAdded(message=message, injected=injected):
                new = _parts(message, injected)
                parts = (*one.parts[:-1], *_joined([*one.parts[-1:], *new]))
                tokens = one.tokens + sum(tokens for _, tokens in new)
                one = replace(one, parts=parts, tokens=tokens)
            case MessagesRewritten(messages=messages):
                start = [part for part in one.parts[:1] if part[0] == "system"]
                all = [part for message in messages for part in _parts(message)]
                one = _holding(one, [*start, *all])
            case RunEnded(reason=reason) if not one.parent:
                one = replace(one, ended=reason)
        return state if one == before else replace(state, lanes={**state.lanes, lane: one})

    def told(self, state: State, old: State, event: Event) -> str:
        return folk.sentence(event)

    def _says(self, state: State) -> list[str]:
        first = "Every context is still empty."
        if parent := next((one for one in state.lanes.values() if not one.parent), None):
            verb, far = ("ends with", "") if parent.ended else ("has", " so far")
            first = f"{parent.lane} {verb} ≈{parent.tokens:,} tokens{far} in its context."
        children = state.children
        if not children:
            return [first]
        still = sum(not one.ended for one in children)
        many = f"{count(len(children), 'subagent')}{f' ({still} still working)' if still else ''}"
        read = sum(tokens for one in children for key, tokens in one.parts if key in _READ)
        back = f"and returned ≈{sum(one.returned for one in children):,}"
        return [first, f"{many} read ≈{read:,} tokens of results {'so far' if still else back}."]

    def draw(self, state: State, width: float, rows: int) -> Canvas:
        canvas = Canvas(width)
        narrow, scale, y = width < 480, state.scale, 4.0
        left, number = (0.0, width) if narrow else (190.0, width - 104)
        shown = [*state.lanes.values()][:rows]
        for one in shown:
            key = f"lane {clean(one.lane)}"
            indent = 14 if one.parent else 0
            canvas.text(f"mark {key}", indent, y + 15, one.mark.glyph, "", one.mark.key, width=20)
            who = _who(one)
            style, room = "" if one.parent else "b", (width if narrow else left) - indent - 122
            room = room if narrow else left - indent - 26
            says = _words(one)
            canvas.text(f"who {key}", indent + 20, y + 15, who, style, width=room, says=says)
            canvas.text(f"tokens {key}", width, y + 15, f"≈{one.tokens:,} tokens", "e", width=102)
            y += 20 * narrow
            x = left
            for place, (part, tokens) in enumerate(_drawable(one)):
                length = (number - left) * tokens / scale
                size = (max(length - 0.7, 0.6), 16)
                canvas.bar(f"{key} {place}", x, y + 3, *size, part)
                x += length
            y += 26
        y += 24 * canvas.left_out("left out", 20, y + 15, len(state.lanes) - len(shown), "agent")
        used = [(key, name) for key, name in _PARTS.items() if key in _used(state)]
        y = legend(canvas, 0, y + 6, [*used, ("", f"full width: ≈{scale:,} tokens")])
        canvas.height = y + 4
        return canvas


def _parts(message: dict[str, Any], injected: bool = False) -> list[tuple[str, int]]:
    """The parts of a message, each with its tokens; together they are those of the message."""
    parts = list(_split(message, injected))
    if parts:  # what holds them together goes with the longest
        rest = estimate_tokens(message) - sum(tokens for _, tokens in parts)
        place = max(range(len(parts)), key=lambda number: parts[number][1])
        parts[place] = parts[place][0], parts[place][1] + rest
    return parts


def _split(message: dict[str, Any], injected: bool) -> Iterator[tuple[str, int]]:
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
    kinds = groupby(parts, key=itemgetter(0))
    return tuple((key, sum(tokens for _, tokens in its)) for key, its in kinds)


def _words(one: Context) -> str:
    """A context in words: how many tokens each part has, and how many its parent got."""
    sums = [f"{name} {n:,}" for part, name in _PARTS.items() if (n := _sum(one, part))]
    back = [f"given back ≈{one.returned:,}"] if one.parent else []
    return f"{one.lane}, {one_line(_who(one), 60)}: {', '.join([*sums, *back])} tokens"


def _sum(one: Context, part: str) -> int:
    return sum(tokens for kind, tokens in one.parts if kind == part)


def _drawable(one: Context) -> list[tuple[str, int]]:
    """The parts to draw: at most ``SEGMENTS``."""
    if len(one.parts) <= SEGMENTS:
        return list(one.parts)
    sums = [(key, _sum(one, key)) for key in _PARTS]
    return [part for part in sums if part[1]]


def _used(state: State) -> list[str]:
    present = {key for one in state.lanes.values() for key, _ in one.parts}
    return [key for key in _PARTS if key in present]


def _who(one: Context) -> str:
    return one.title or one.lane if one.parent else one.lane
