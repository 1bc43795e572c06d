"""Skill layers: what each request has of the skills, and what sending everything would cost.

A request is a stack: the catalogue, what is preloaded, then what was loaded, in order. Requests in
a row that have the same stack share one. Below, on the same scale, is the length of everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from learnkit.events.log import Event
from learnkit.events.loop import MessageAdded, ModelRequested
from learnkit.events.skills import SkillLoaded, SkillRead, SkillsListed
from learnkit.events.text import count
from learnkit.events.vocabulary import read
from learnkit.views.drawing.base import Diagram
from learnkit.views.drawing.display import Canvas, wrapped
from learnkit.views.drawing.plot import Bars, legend
from learnkit.views.drawing.text import scale_of

#: The most parts that are drawn one by one, and the pixels from row to row.
PARTS, ROW = 12, 38
_LEGEND = {
    "system": "catalogue: each skill's name and description",
    "injected": "preloaded instructions",
    "result": "loaded when they were needed",
}


@dataclass(frozen=True, slots=True)
class Part:
    """Something of the skills in a request.

    Attributes:
        mark: the key of its mark: of the system prompt, or of a tool's result.
        name: what it is, in words.
        tokens: its length.
    """

    mark: str
    name: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Stack:
    """The parts that one request had, or several in a row.

    Attributes:
        first: number of the first of these requests.
        last: number of the last one.
        parts: in the order in which the model reads them.
    """

    first: int
    last: int
    parts: tuple[Part, ...]

    @property
    def tokens(self) -> int:
        """All its parts together."""
        return sum(part.tokens for part in self.parts)


@dataclass(frozen=True, slots=True)
class Shelf:
    """One agent's skills.

    Attributes:
        catalogue: tokens of all names and descriptions, in the system prompt.
        sizes: tokens of each skill's instructions, by name.
        preloaded: names of the skills whose instructions are in the system prompt.
        used: skill, file (empty for its instructions) and tokens of all that was loaded since the
            conversation began, in order.
        problems: why folders were left out.
        sent: what the requests had; the same in a row stands there once.
        requests: how many there were.
    """

    catalogue: int = 0
    sizes: dict[str, int] = field(default_factory=dict)
    preloaded: tuple[str, ...] = ()
    used: tuple[tuple[str, str, int], ...] = ()
    problems: tuple[str, ...] = ()
    sent: tuple[Stack, ...] = ()
    requests: int = 0

    @property
    def everything(self) -> int:
        """Tokens of all instructions."""
        return sum(self.sizes.values())

    @property
    def now(self) -> Stack:
        """What the next request will have."""
        parts = [Part("system", f"{count(len(self.sizes), 'skill')} listed", self.catalogue)]
        parts += [
            Part("injected", f"{name}, preloaded", self.sizes.get(name, 0))
            for name in self.preloaded
        ]
        parts += [Part("result", file or name, tokens) for name, file, tokens in self.used]
        number = self.requests + 1
        return Stack(number, number, tuple(part for part in parts if part.tokens))

    @property
    def stacks(self) -> tuple[Stack, ...]:
        """What the requests had, and what the next one will have if that differs."""
        last = self.sent[-1].parts if self.sent else ()
        return self.sent if self.now.parts == last else (*self.sent, self.now)

    @property
    def loaded(self) -> set[str]:
        """The skills whose instructions are in the requests."""
        return {*self.preloaded, *(name for name, file, _ in self.used if not file)}


class Skills(Diagram[Shelf]):
    """What the skills add to each of an agent's requests, as lengths."""

    name = "skill layers"
    start = Shelf()
    alone = True

    def fold(self, state: Shelf, event: Event) -> Shelf:
        match read(event):
            case SkillsListed() as all:
                listed = replace(state, catalogue=all.catalogue, problems=all.problems)
                return replace(listed, sizes=dict(all.skills), preloaded=all.preloaded)
            case MessageAdded(index=0):
                # A new conversation doesn't have what the last one loaded.
                return replace(state, used=())
            case SkillLoaded(name=name, tokens=tokens):
                return replace(state, used=(*state.used, (name, "", tokens)))
            case SkillRead(name=name, file=file, tokens=tokens):
                return replace(state, used=(*state.used, (name, file, tokens)))
            case ModelRequested(purpose="conversation") if state.now.parts:
                sent, now = state.sent, state.now
                if sent and sent[-1].parts == now.parts:
                    now, sent = replace(sent[-1], last=now.last), sent[:-1]
                return replace(state, sent=(*sent, now), requests=now.last)
        return state

    def says(self, state: Shelf) -> list[str]:
        if state == self.start:
            return ["No skills were listed yet."]
        loaded, all = len(state.loaded), count(len(state.sizes), "skill")
        first = f"{loaded or 'None'} of {all} {'are' if loaded > 1 else 'is'} loaded."
        now, whole = state.now.tokens, state.everything
        return [f"Skills on demand: ≈{now:,} tokens in a request instead of ≈{whole:,}.", first]

    def draw(self, state: Shelf, width: float, rows: int) -> Canvas:
        canvas = Canvas(width, 30)
        if state == self.start:
            return canvas
        rest = state.everything
        bars = Bars(canvas, scale_of(max(rest, *(one.tokens for one in state.stacks), 1)), 64)
        hidden = max(len(state.stacks) - rows, 0)
        top = 4.0 + 20 * canvas.left_out("gone", 0, 14, hidden, "earlier stack")
        shown = [*pairwise([Stack(0, 0, ()), *state.stacks][hidden:])]
        low = top + ROW * (len(shown) + 1)
        bars.axis(top - 4, low)
        for before, stack in shown:
            _stack(bars, state, stack, before.parts, top)
            top += ROW
        label = f"all {len(state.sizes)} upfront"
        bars.label("whole", 0, top, [label, "not sent"])
        says = f"{label}, not sent: ≈{rest:,} tokens"
        bars.row("whole", top, [("whole bar", "plain", rest, says)], pale=True)
        used = {part.mark for stack in state.stacks for part in stack.parts}
        low = legend(canvas, 0, low + 28, [item for item in _LEGEND.items() if item[0] in used])
        lines = [line for it in state.problems[:rows] for line in wrapped(f"✗ {it}", width)]
        canvas.height = canvas.rows("problem", 0, low + 14, lines, "", "error") - 10
        return canvas


def _stack(bars: Bars, shelf: Shelf, stack: Stack, before: Sequence[object], y: float) -> None:
    """Draw what a request has, with the names of what is new in it."""
    label = f"requests {stack.first}–{stack.last}"
    if stack.last == stack.first:
        label = f"request {stack.first}"
    if stack.first > shelf.requests:
        label = "the next request"
    new = ", ".join(part.name for part in stack.parts if part not in before)
    key = f"{stack.first}"
    bars.label(f"label {key}", 0, y, [label, f"+ {new}"] if new else [label])
    parts = [*stack.parts[:PARTS]]
    if rest := stack.parts[PARTS:]:
        parts.append(Part("result", f"{len(rest)} more", sum(part.tokens for part in rest)))
    drawn = [
        (f"part {key} {n}", it.mark, it.tokens, f"{label}: {it.name}, ≈{it.tokens:,} tokens")
        for n, it in enumerate(parts)
    ]
    bars.row(key, y, drawn)
