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
from learnkit.views.drawing.display import Canvas
from learnkit.views.drawing.plot import legend
from learnkit.views.drawing.text import scale_of

#: The most parts that are drawn one by one.
PARTS = 12
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
        ratio = whole / now if now else 0.0
        times = f" ({ratio:.{int(ratio < 10)}f} times as many)" if ratio >= 2 else ""
        return [first, f"≈{now:,} tokens of skills in a request; all upfront, ≈{whole:,}{times}."]

    def draw(self, state: Shelf, width: float, rows: int) -> Canvas:
        canvas = Canvas(width, 30)
        if state == self.start:
            canvas.text("none", 0, 18, "No skills were listed yet.", "q")
            return canvas
        scale = scale_of(max(state.everything, *(one.tokens for one in state.stacks), 0))
        hidden = max(len(state.stacks) - rows, 0)
        y = 20.0 * canvas.left_out("gone", 0, 14, hidden, "earlier stack")
        for before, stack in pairwise([Stack(0, 0, ()), *state.stacks][hidden:]):
            y = _stack(canvas, state, stack, before.parts, scale, y)
        y = _everything(canvas, state, scale, y)
        lines = [f"✗ {problem}" for problem in state.problems[:rows]]
        y = canvas.rows("problem", 0, y + 14, lines, "", "error", 20) - 14
        used = {part.mark for stack in state.stacks for part in stack.parts}
        marks = [(key, words) for key, words in _LEGEND.items() if key in used]
        full = ("", f"full width: ≈{scale:,} tokens (≈4 characters each)")
        canvas.height = legend(canvas, 0, y + 6, [*marks, full]) + 4
        return canvas


def _stack(
    canvas: Canvas, shelf: Shelf, stack: Stack, before: Sequence[object], scale: int, y: float
) -> float:
    """Draw what a request has, with the names of what is new in it; return the lower edge."""
    key = f"{stack.first}"
    several = f"requests {stack.first}–{stack.last}"
    label = several if stack.last > stack.first else f"request {stack.first}"
    if stack.first > shelf.requests:
        label = "the next request"
    canvas.text(f"label {key}", 0, y + 14, label, "b", width=116)
    new = [part for part in stack.parts if part not in before]
    said = ", ".join(f"{part.name} ≈{part.tokens:,}" for part in new)
    canvas.text(f"new {key}", 118, y + 14, f"+ {said}" if said else "", width=canvas.width - 226)
    canvas.text(f"tokens {key}", canvas.width, y + 14, f"≈{stack.tokens:,} tokens", "e", width=104)
    x, parts = 0.0, [*stack.parts[:PARTS]]
    if rest := stack.parts[PARTS:]:
        parts.append(Part("result", f"{len(rest)} more", sum(part.tokens for part in rest)))
    for place, part in enumerate(parts):
        length = canvas.width * part.tokens / scale
        says = f"{label}: {part.name}, ≈{part.tokens:,} tokens"
        size = (max(length - 1, 1), 16)
        canvas.bar(f"part {key} {place}", x, y + 20, *size, part.mark, says=says)
        x += length
    return y + 44


def _everything(canvas: Canvas, shelf: Shelf, scale: int, y: float) -> float:
    """Draw how long all instructions would be; return the lower edge, in pixels."""
    whole = shelf.everything
    label = f"all {count(len(shelf.sizes), 'skill')} upfront: not sent"
    canvas.text("whole", 0, y + 14, label, "b", width=canvas.width - 112)
    canvas.text("whole tokens", canvas.width, y + 14, f"≈{whole:,} tokens", "e", width=110)
    length = canvas.width * whole / scale
    says = f"{label}: ≈{whole:,} tokens"
    canvas.box("whole bar", 0, y + 20, length, 16, "pending", (), "d", says=says)
    return y + 44
