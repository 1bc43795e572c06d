"""Contexts: how many tokens each agent has in its context, as bars on one scale.

Each agent has a row, and a subagent's row comes after its parent's. What a subagent read makes its
own row long, but only one short result of it is in the parent's row.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

from learnkit.core.token_count import estimate_tokens
from learnkit.events.log import Event
from learnkit.events.loop import MessageAdded, MessagesRewritten, RunEnded, RunStarted
from learnkit.events.subagents import SubagentEnded, SubagentStarted
from learnkit.events.text import blocks_of, clean, content_text, count, one_line
from learnkit.events.vocabulary import read
from learnkit.views.drawing import theme
from learnkit.views.drawing.base import Diagram
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


@dataclass(frozen=True, slots=True)
class Context:
    """One agent's context.

    Attributes:
        lane: the agent's name.
        parent: the agent that started it; empty if no agent did.
        title: the task it was started for.
        parts: how many tokens each part has, by the key of its mark.
        ended: the reason its run ended; empty while it works.
        returned: tokens of the result that its parent got.
    """

    lane: str
    parent: str = ""
    title: str = ""
    parts: Counter[str] = field(default_factory=Counter)
    ended: str = ""
    returned: int = 0

    @property
    def tokens(self) -> int:
        """The sum over all parts."""
        return self.parts.total()

    @property
    def name(self) -> str:
        """What a subagent was started for, or the agent's name."""
        return self.title or self.lane if self.parent else self.lane

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


class Contexts(Diagram[State]):
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
                parts = Counter({**one.parts, "system": head})
                title = one.title or content_text(asked)
                one = replace(one, title=title, parts=parts, ended="")
            case MessageAdded(message=message, injected=injected):
                one = replace(one, parts=one.parts + _parts(message, injected))
            case MessagesRewritten(messages=messages):
                parts = Counter(system=one.parts["system"])
                one = replace(one, parts=sum(map(_parts, messages), parts))
            case RunEnded(reason=reason) if not one.parent:
                one = replace(one, ended=reason)
        return state if one == before else replace(state, lanes={**state.lanes, lane: one})

    def says(self, state: State) -> list[str]:
        first = "Every context is still empty."
        if parent := next((one for one in state.lanes.values() if not one.parent), None):
            verb, far = ("ends with", "") if parent.ended else ("has", " so far")
            first = f"{parent.lane} {verb} ≈{parent.tokens:,} tokens{far} in its context."
        children = state.children
        if not children:
            return [first]
        still = sum(not one.ended for one in children)
        many = f"{count(len(children), 'subagent')}{f' ({still} still working)' if still else ''}"
        read = sum(one.parts["result"] + one.parts["error"] for one in children)
        back = f"and returned ≈{sum(one.returned for one in children):,}"
        return [first, f"{many} read ≈{read:,} tokens of results {'so far' if still else back}."]

    def draw(self, state: State, width: float, rows: int) -> Canvas:
        canvas, scale, y = Canvas(width), state.scale, 4.0
        for one in [*state.lanes.values()][:rows]:
            key, mark = f"lane {clean(one.lane)}", one.mark
            indent, style = (14, "") if one.parent else (0, "b")
            canvas.text(f"mark {key}", indent, y + 15, mark.glyph, "", mark.key, width=20)
            room, says = width - indent - 122, _words(one)
            canvas.text(f"who {key}", indent + 20, y + 15, one.name, style, width=room, says=says)
            canvas.text(f"tokens {key}", width, y + 15, f"≈{one.tokens:,} tokens", "e", width=102)
            x = 0.0
            for part in [part for part in _PARTS if one.parts[part]]:
                length = width * one.parts[part] / scale
                canvas.bar(f"{key} {part}", x, y + 20, max(length - 0.7, 0.6), 16, part)
                x += length
            y += 44
        hidden = len(state.lanes) - rows
        y += 24 * canvas.left_out("left out", 20, y + 15, hidden, "agent")
        every = sum((one.parts for one in state.lanes.values()), Counter[str]())
        used = [(part, name) for part, name in _PARTS.items() if every[part]]
        y = legend(canvas, 0, y + 6, [*used, ("", f"full width: ≈{scale:,} tokens")])
        canvas.height = y + 4
        return canvas


def _parts(message: dict[str, Any], injected: bool = False) -> Counter[str]:
    """The tokens of each part of a message; together they are those of the message."""
    parts: Counter[str] = Counter()
    for block in blocks_of(message.get("content")):
        kind, text = block.get("type"), block.get("text", block)
        if kind == "tool_result":
            injected = True  # text after results isn't the user's
            parts["error" if block.get("is_error") else "result"] += estimate_tokens(block)
        elif kind == "tool_use":
            parts["call"] += estimate_tokens(block)
        elif message.get("role") == "user":
            parts["injected" if injected else "user"] += estimate_tokens(text)
        else:
            parts["assistant"] += estimate_tokens(text)
    for key, _ in parts.most_common(1):  # what holds them together goes with the longest
        parts[key] += estimate_tokens(message) - parts.total()
    return parts


def _words(one: Context) -> str:
    """A context in words: how many tokens each part has, and how many its parent got."""
    sums = [f"{name} {one.parts[part]:,}" for part, name in _PARTS.items() if one.parts[part]]
    back = [f"given back ≈{one.returned:,}"] if one.parent else []
    return f"{one.lane}, {one_line(one.name, 60)}: {', '.join([*sums, *back])} tokens"
