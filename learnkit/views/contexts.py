"""Contexts: how many tokens each agent has in its context, as bars on one scale.

Each agent has a row, and a subagent's row comes after its parent's. What a subagent read makes its
own row long; what goes back to its parent is a sliver at the right, on the same scale as far as it
can be seen and has room, with a line up to the parent's row.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from learnkit.core.token_count import estimate_tokens
from learnkit.events.log import Event
from learnkit.events.loop import MessageAdded, MessagesRewritten, RunEnded, RunStarted
from learnkit.events.subagents import SubagentEnded, SubagentStarted
from learnkit.events.text import blocks_of, clean, content_text, count, one_line
from learnkit.events.vocabulary import read
from learnkit.views.drawing import theme
from learnkit.views.drawing.base import Diagram
from learnkit.views.drawing.display import Canvas, wrapped
from learnkit.views.drawing.plot import Bars, legend
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
#: In pixels: where rows begin, from one to the next, the most that all slivers take together, and
#: the room for numbers and slivers.
TOP, ROW, SLIVERS, RIGHT = 26.0, 34, 28.0, 112


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


#: Contexts by lane, in the order in which they began.
State = dict[str, Context]


class Contexts(Diagram[State]):
    """Parent and subagents, each with the tokens in its context."""

    name = "contexts"
    start: ClassVar[State] = {}

    def fold(self, state: State, event: Event) -> State:
        lane = event.lane
        one = before = state.get(lane) or Context(lane)
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
        return state if one == before else {**state, lane: one}

    def says(self, state: State) -> list[str]:
        first = "Every context is still empty."
        if parent := next((one for one in state.values() if not one.parent), None):
            far = "" if parent.ended else " so far"
            first = f"The context of {parent.lane} has ≈{parent.tokens:,} tokens{far}."
        children = [one for one in state.values() if one.parent]
        if not children:
            return [first]
        read = sum(one.parts["result"] + one.parts["error"] for one in children)
        back = f"≈{sum(one.returned for one in children):,}"
        still = sum(not one.ended for one in children)
        many = count(len(children), "subagent") + f", {still} still working" * bool(still)
        says = [f"Subagents read ≈{read:,} tokens, and {back} come back.", f"{many}.", first]
        rest = parent.parts["result"] - sum(one.returned for one in children) if parent else 0
        beside = f"Of its results ≈{rest:,} are ids, brackets and other output."
        return [*says, beside] if rest > 0 and not still else says

    def draw(self, state: State, width: float, rows: int) -> Canvas:
        shown, canvas = [*state.values()][:rows], Canvas(width)
        back = [one for one in shown if one.returned and one.parent in state]
        scale = scale_of(max((one.tokens for one in shown), default=0))
        bars, low = Bars(canvas, scale, RIGHT), TOP + ROW * len(shown)
        bars.axis(TOP - 4, low)
        ends: dict[str, tuple[float, float]] = {}
        for place, one in enumerate(shown):
            key, x, y = f"lane {clean(one.lane)}", 14 * bool(one.parent), TOP + ROW * place
            canvas.text(f"mark {key}", x, y + 15, one.mark.glyph, "", one.mark.key, width=20)
            name = wrapped(one.name, bars.left - x - 28, most=2)
            bars.label(f"who {key}", x + 18, y, name, _words(one))
            parts = [(f"{key} {part}", part, one.parts[part], "") for part in _PARTS]
            ends[one.lane] = bars.row(key, y, [part for part in parts if part[2]]) + 8, y + 11
        if back:
            _flow(bars, back, ends)
        low += 24 * canvas.left_out("left out", 18, low + 34, len(state) - rows, "agent")
        every = sum((one.parts for one in shown), Counter[str]())
        used = [(part, name) for part, name in _PARTS.items() if every[part]]
        canvas.height = legend(canvas, 0, low + 28, used) + 4
        return canvas


def _flow(bars: Bars, back: list[Context], ends: dict[str, tuple[float, float]]) -> None:
    """Draw what each subagent gave back as a sliver beside its row and beside its parent's."""
    each = min(bars.length(1), SLIVERS / sum(one.returned for one in back))
    wide = [max(each * one.returned, 1) for one in back]
    canvas, at = bars.canvas, bars.canvas.width - sum(wide)
    goal, level = ends[back[0].parent]
    canvas.edge("tip", f"M{at - 2:.1f} 0H{goal:g}m5 -4l-5 4l5 4", "result", y=level)
    for one, w in zip(back, wide, strict=True):
        (x, y), (_, up), key = ends[one.lane], ends[one.parent], clean(one.lane)
        path = f"M{x:g} {y:g}H{at:.1f}M{at + w / 2:.1f} {y - 11:g}V{up + 11:g}"
        canvas.edge(f"back {key}", path, "result")
        canvas.bar(f"gives {key}", at, y - 11, w, 22, "result")
        canvas.bar(f"gets {key}", at, up - 11, w, 22, "result")
        at += w
    got = sum(one.returned for one in back if one.parent == back[0].parent)
    canvas.text("back", canvas.width, 12, f"≈{got:,} come back", "e", "result", width=RIGHT)


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
