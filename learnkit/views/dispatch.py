"""Tool dispatch: each call in a lane of its own, through the gate to its tool, and its result.

The loop passes on a name and an input. The gate lets the call through or refuses it: then its lane
ends there, with the reason. The tool with that name answers, and the result goes to the model. On a
narrow screen the lanes run downwards.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from learnkit.events.log import Event
from learnkit.events.loop import RunStarted, ToolEnded, ToolStarted
from learnkit.events.text import arguments, count, listed, one_line
from learnkit.events.vocabulary import read
from learnkit.views.drawing import theme
from learnkit.views.drawing.base import Diagram
from learnkit.views.drawing.display import Canvas, text_width, wrapped

#: In pixels: the width below which lanes run downwards, from one lane to the next, where arrows are
#: in a lane, and half of the gap in the gate.
_STACKED, _APART, _ARROW, _GAP = 560, 18, 12, 11
#: The sign in the gate for a call that doesn't go through.
_STOP = "M-9 0a9 9 0 1 0 18 0a9 9 0 1 0 -18 0M-6 6L6 -6"
#: The most lanes, and the most lines of an input or a result.
_LANES, _LINES = 8, 4


@dataclass(frozen=True, slots=True)
class Call:
    """A call, and how it ended; ``refused`` says why the gate has not let it through."""

    lane: str
    id: str
    name: str
    input: Any = None
    refused: str = ""
    ended: ToolEnded | None = None

    @property
    def how(self) -> str:
        """``refused``, ``running``, ``unknown`` if there is no such tool, ``ok`` or ``error``."""
        if self.refused or self.ended is None:
            return "refused" if self.refused else "running"
        kept = self.ended.how in ("refused", "unknown")
        return "ok" if self.ended.done else self.ended.how if kept else "error"


@dataclass(frozen=True, slots=True)
class State:
    """The names of the tools that are offered, and the calls, in order."""

    tools: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()


class Dispatch(Diagram[State]):
    """The newest calls: where each went, and what came back."""

    name = "tool dispatch"
    start = State()

    def fold(self, state: State, event: Event) -> State:
        typed = read(event)
        if isinstance(typed, RunStarted):
            names = [str(tool.get("name", "?")) for tool in typed.tools]
            return replace(state, tools=tuple(dict.fromkeys([*state.tools, *names])))
        if not isinstance(typed, ToolStarted | ToolEnded):
            return state
        key, name = (event.lane, typed.id), typed.name
        if isinstance(typed, ToolStarted):
            started = Call(*key, name, typed.input, typed.refused)
            return replace(state, calls=(*state.calls, started))
        running = [one for one in state.calls if (one.lane, one.id, one.ended) == (*key, None)]
        ended = replace(running[-1] if running else Call(*key, name), ended=typed)
        if not running:
            return replace(state, calls=(*state.calls, ended))
        calls = (ended if one is running[-1] else one for one in state.calls)
        return replace(state, calls=tuple(calls))

    def says(self, state: State) -> list[str]:
        ends = Counter((one_line(call.name, 30), call.how) for call in state.calls)
        if not ends:
            return [f"{count(len(state.tools), 'tool')} to call, and no call yet."]
        names = {how: [name for name, its in ends if its == how] for _, how in ends}
        some, refused = [], names.get("refused", [])
        for name in names.get("error", []):
            errors, ok = ends[name, "error"], ends[name, "ok"]
            some.append(f"{name} ({errors} of {errors + ok})" if ok else name)
        said = [f"{listed(some)} failed"] if some else []
        said += [f"{listed(refused)} {'were' if refused[1:] else 'was'} refused"] if refused else []
        said += [f"there is no tool {' or '.join(names['unknown'])}"] if "unknown" in names else []
        first = f" to {count(len(names.get('ok', [])), 'tool')}, {'all ' * (ends.total() > 1)}ok"
        if running := sum(number for (_, how), number in ends.items() if how == "running"):
            first = f", {running} still running"
        return [f"{count(ends.total(), 'call')}{f': {listed(said)}' if said else first}."]

    def draw(self, state: State, width: float, rows: int) -> Canvas:
        canvas, called = Canvas(width), {call.name for call in state.calls}
        lanes = _Lanes(canvas, {*state.tools, *called})
        most = max(1, min(rows // 4, _LANES // (1 + lanes.stacked)))
        hidden = len(state.calls) - most
        lanes.end += 24 * canvas.left_out("gone", 2, lanes.end + 12, hidden, "earlier call")
        for number, call in [*enumerate(state.calls, start=1)][-most:]:
            who = "" if call.lane == state.calls[0].lane else f"{call.lane}: "
            lanes.draw(number, call, who + call.name)
        unused = ", ".join(name for name in state.tools if name not in called)
        said = f"{'not called' if called else 'tools'}: {unused}" if unused else ""
        lines, y = wrapped(said, width - 4, most=2), lanes.end
        canvas.height = canvas.rows("unused", 2, y + 12, lines, "q", says=said) - 8
        return canvas


class _Lanes:
    """The lanes, and where the one that is drawn has got to: the next box is at x and y.

    On a narrow screen a lane goes downwards.
    """

    def __init__(self, canvas: Canvas, names: set[str]) -> None:
        self.canvas, self.stacked = canvas, canvas.width < _STACKED
        self.x = self.y = self.end = 2.0
        self.gate, self.back = (44, 20) if self.stacked else (72, 36)
        #: The widths of call, tool and result.
        self.call = self.tool = self.result = room = canvas.width - 4
        if not self.stacked:
            longest = max([text_width(f"▶ {name}", "m") for name in names], default=0)
            self.tool = min(max(longest + 16, 104), room / 5)
            room -= self.tool + self.gate + self.back
            self.call, self.result = 0.44 * room, 0.56 * room
            tool = 2 + self.call + self.gate
            result = tool + self.tool + self.back
            heads = {"call": 2.0, "gate": tool - self.gate / 2, "tool": tool, "result": result}
            for text, x in heads.items():
                canvas.text(f"head {text}", x, 12, text, "qc" if text == "gate" else "q")
            self.end = 26.0

    def draw(self, number: int, call: Call, name: str) -> None:
        """Draw a lane below those before."""
        canvas, ended, how = self.canvas, call.ended, call.how
        self.x, self.y, top = 2.0, self.end, self.end
        self.box(f"call {number}", self.call, theme.CALL.key, name, arguments(call.input or {}))
        refused, ok = how == "refused", how == "ok"
        far = self.gate / 2 - _GAP if refused else self.gate
        x, y = self.arrow(f"way {number}", far, theme.CALL.key)
        x, y = (x, y + self.gate / 2) if self.stacked else (x + self.gate / 2, y)
        mark, head = (theme.RESULT if ok else theme.ERROR).key, theme.RESULT.label
        said, wide = call.refused or (ended.output if ended else "") or "(empty)", self.result
        if refused:
            canvas.edge(f"stop {number}", _STOP, mark, "w", x=x, y=y)
            self.go(_GAP + 20)
            head = f"{theme.BLOCKED.glyph} refused"
            longest = max(text_width(one, "m") for one in [head, *said[:2000].splitlines()])
            wide = min(longest + 18, canvas.width - 2 - self.x)  # a note at the gate
        else:
            running = theme.WORKING.key, f"{theme.WORKING.glyph} {call.name}"
            tools = {"running": running, "unknown": ("", "no such tool")}
            self.box(f"tool {number}", self.tool, *tools.get(how, (theme.SYSTEM.key, call.name)))
            if ended:
                self.arrow(f"back {number}", self.back, mark)
                head = head if ok else f"{theme.ERROR.glyph} {ended.outcome}"
        if how != "running":
            self.box(f"result {number}", wide, mark, head, said)
        wall = f"M0 {top - y - 9:g}V-11m-7 0h14M0 {self.end - y + 9:g}V11m-7 0h14"
        if self.stacked:
            wall = f"M{2 - x:g} 0H-11m0 -7v14M{canvas.width - x - 36:g} 0H11m0 -7v14"
            canvas.text(f"gate {number}", canvas.width - 2, y + 4, "gate", "qe")
        canvas.edge(f"wall {number}", wall, theme.SYSTEM.key, "w", x=x, y=y)
        self.end += _APART

    def go(self, far: float) -> None:
        """Go on along the lane."""
        self.x += far * (not self.stacked)
        self.y += far * self.stacked

    def arrow(self, key: str, far: float, mark: str) -> tuple[float, float]:
        """Draw an arrow to what comes next; returns where it begins."""
        x, y = (22.0, self.y) if self.stacked else (self.x, self.y + _ARROW)
        way = f"V{far:g}m-4 -6l4 6l4 -6" if self.stacked else f"H{far:g}m-6 -4l6 4l-6 4"
        self.canvas.edge(key, f"M0 0{way}", mark, "w", x=x, y=y)
        self.go(far)
        return x, y

    def box(self, key: str, wide: float, mark: str, head: str, text: str = "") -> None:
        """Draw a box, with the first lines of a text in it."""
        some = text[:2000].splitlines()[: 4 * _LINES]
        parts = [part for one in some for part in wrapped(one, wide - 16, "m", _LINES)]
        if len(parts) > _LINES:
            parts[_LINES - 1 :] = ["…"]
        tall, style = 24 + 16 * len(parts) + 2 * bool(parts), "m" if mark else "md"
        says = f"{key}, {head}: {one_line(text, 1000)}" if text else ""
        self.canvas.box(key, self.x, self.y, wide, tall, mark, [head], style, says=says)
        self.canvas.rows(f"{key} line", self.x + 8, self.y + 33, parts, "mn")
        self.end = max(self.end, self.y + tall)
        self.go(tall if self.stacked else wide)
