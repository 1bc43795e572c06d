"""Skill layers: what each request has of the skills, and what sending everything would cost.

A request is a stack: the catalogue, what is preloaded, then what was loaded, in order. Requests in
a row that have the same stack share one. Below, on the same scale, is the length of everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from learnkit.events.log import Event
from learnkit.events.text import clean, count, one_line
from learnkit.views.drawing.base import Diagram, Worded
from learnkit.views.drawing.display import Canvas
from learnkit.views.drawing.plot import legend
from learnkit.views.drawing.text import scale_of
from learnkit.views.shelf import Part, Shelf, Stack, grow

#: The most parts that are drawn one by one.
PARTS = 12
_LEGEND = {
    "system": "catalogue: each skill's name and description",
    "injected": "preloaded instructions",
    "result": "loaded when they were needed",
}


@dataclass(frozen=True, slots=True)
class State:
    """Every agent's skills."""

    shelves: dict[str, Shelf] = field(default_factory=dict)

    @property
    def scale(self) -> int:
        """The tokens that the full width represents: a round number."""
        shelves = self.shelves.values()
        stacks = [one.tokens for shelf in shelves for one in shelf.stacks]
        return scale_of(max([0, *stacks, *(shelf.everything for shelf in shelves)]))


class Skills(Worded[State], Diagram[State]):
    """What the skills add to each request, as lengths."""

    name = "skill layers"
    start = State()

    def fold(self, state: State, event: Event) -> State:
        old = state.shelves.get(event.lane) or Shelf(event.lane)
        new = grow(old, event)
        return state if new == old else State({**state.shelves, event.lane: new})

    def _says(self, state: State) -> list[str]:
        if not state.shelves:
            return ["No skills were listed yet."]
        parts: list[str] = []
        for lane, shelf in state.shelves.items():
            loaded, all = len(shelf.loaded), count(len(shelf.sizes), "skill")
            is_loaded = f"{loaded or 'none'} of {all} {'are' if loaded > 1 else 'is'} loaded"
            now, whole = shelf.now.tokens, shelf.everything
            ratio = whole / now if now else 0.0
            times = f" ({ratio:.{int(ratio < 10)}f} times as many)" if ratio >= 2 else ""
            said = f"≈{now:,} tokens of skills in a request; all upfront, ≈{whole:,}{times}."
            name = f"{one_line(lane, 40)}: " if len(state.shelves) > 1 else ""
            parts += [f"{name}{is_loaded[:1].upper()}{is_loaded[1:]}.", said]
        return parts

    def draw(self, state: State, width: float, rows: int) -> Canvas:
        canvas, y = Canvas(width), 0.0
        for lane, shelf in state.shelves.items():
            if len(state.shelves) > 1:
                canvas.text(f"lane {clean(lane)}", 0, y + 16, lane, "h")
                y += 24
            most = max(rows // len(state.shelves), 1)
            shown = shelf.stacks[-most:]
            hidden = len(shelf.stacks) - len(shown)
            y += 20 * canvas.left_out(f"gone {clean(lane)}", 0, y + 14, hidden, "earlier stack")
            for stack in shown:
                place = shelf.stacks.index(stack)
                before = shelf.stacks[place - 1].parts if place else ()
                y = _stack(canvas, shelf, stack, before, state.scale, y)
            y = _everything(canvas, shelf, state, y)
            lines = [f"✗ {problem}" for problem in shelf.problems[:most]]
            y = canvas.rows(f"problem {clean(lane)}", 0, y + 14, lines, "", "error", 20) - 14
        used = {part.mark for one in state.shelves.values() for s in one.stacks for part in s.parts}
        marks = [(key, words) for key, words in _LEGEND.items() if key in used]
        scale = ("", f"full width: ≈{state.scale:,} tokens (≈4 characters each)")
        if state.shelves:
            y = legend(canvas, 0, y + 6, [*marks, scale])
        else:
            canvas.text("none", 0, 18, "No skills were listed yet.", "q")
        canvas.height = max(y + 4, 30)
        return canvas


def _stack(
    canvas: Canvas, shelf: Shelf, stack: Stack, before: Sequence[object], scale: int, y: float
) -> float:
    """Draw what a request has, with the names of what is new in it; return the lower edge."""
    key = f"{clean(shelf.lane)} {stack.first}"
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


def _everything(canvas: Canvas, shelf: Shelf, state: State, y: float) -> float:
    """Draw how long all instructions would be; return the lower edge, in pixels."""
    key, whole = clean(shelf.lane), shelf.everything
    label = f"all {count(len(shelf.sizes), 'skill')} upfront: not sent"
    canvas.text(f"whole {key}", 0, y + 14, label, "b", width=canvas.width - 112)
    canvas.text(f"whole tokens {key}", canvas.width, y + 14, f"≈{whole:,} tokens", "e", width=110)
    length = canvas.width * whole / state.scale
    says = f"{label}: ≈{whole:,} tokens"
    canvas.box(f"whole bar {key}", 0, y + 20, length, 16, "pending", (), "d", says=says)
    return y + 44
