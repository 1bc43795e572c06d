"""Tool dispatch: the way of a call to its tool, and of the result back.

The loop passes on a name and an input. The gate lets the call through or refuses it, and the tool
with that name answers. Each tool counts how its calls ended; a name without a tool gets a row, too.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from learnkit.events.log import Event
from learnkit.events.loop import RunStarted, ToolEnded, ToolStarted
from learnkit.events.text import arguments, count, listed, one_line
from learnkit.events.vocabulary import read
from learnkit.views.drawing import blocks, theme
from learnkit.views.drawing.base import Diagram
from learnkit.views.drawing.display import Canvas, fitting, text_width, wrapped

#: In pixels: from one tool to the next, their left edge, and how wide a picture gets.
_ROW, _TOOLS, _WIDEST = 28, 24, 560
#: The most lines of a call or a result.
_LINES = 4
#: What the columns count, in order; a call is in exactly one of the last four.
COLUMNS = ("calls", "running", "ok", "errors", "refused")


@dataclass(frozen=True, slots=True)
class ToolRow:
    """How many calls to one name there were, and how they ended."""

    name: str
    known: bool = True
    running: int = 0
    ok: int = 0
    errors: int = 0
    refused: int = 0

    @property
    def counts(self) -> tuple[int, int, int, int, int]:
        """Numbers in the order of ``COLUMNS``."""
        ended = self.ok + self.errors + self.refused
        return self.running + ended, self.running, self.ok, self.errors, self.refused

    @property
    def label(self) -> str:
        """The name, and whether there is such a tool."""
        return self.name if self.known else f"no tool {self.name}"


@dataclass(frozen=True, slots=True)
class Current:
    """The call shown in detail: the one that started or ended last."""

    lane: str
    id: str
    name: str
    input: Any = None
    refused: str = ""
    ended: ToolEnded | None = None


@dataclass(frozen=True, slots=True)
class State:
    """Rows by name, running calls by lane and id, and the call shown in detail."""

    rows: dict[str, ToolRow] = field(default_factory=dict)
    running: dict[tuple[str, str], Current] = field(default_factory=dict)
    current: Current | None = None


class Dispatch(Diagram[State]):
    """The current call on its way through the gate to its tool and back, and the calls before."""

    name = "tool dispatch"
    start = State()

    def fold(self, state: State, event: Event) -> State:
        typed = read(event)
        if isinstance(typed, RunStarted):
            names = [str(tool.get("name", "?")) for tool in typed.tools]
            new = {name: ToolRow(name) for name in names if name not in state.rows}
            return replace(state, rows={**state.rows, **new})
        if not isinstance(typed, ToolStarted | ToolEnded):
            return state
        key, name = (event.lane, typed.id), typed.name
        row = state.rows.get(name) or ToolRow(name)
        running = {**state.running}
        if isinstance(typed, ToolStarted):
            kind = "refused" if typed.refused else "running"
            row = replace(row, **{kind: getattr(row, kind) + 1})
            current = running[key] = Current(*key, name, typed.input, typed.refused)
        else:
            started = running.pop(key, None)
            current = replace(started or Current(*key, name), ended=typed)
            kind = "refused" if typed.how == "refused" else "ok" if typed.done else "errors"
            known = row.known and typed.how != "unknown"
            if not current.refused:  # that is counted
                counted = {kind: getattr(row, kind) + 1}
                row = replace(row, known=known, running=row.running - bool(started), **counted)
        return replace(state, rows={**state.rows, name: row}, running=running, current=current)

    def says(self, state: State) -> list[str]:
        rows = [row for row in state.rows.values() if row.counts[0]]
        if not rows:
            return [f"{count(len(state.rows), 'tool')} to call, and no call yet."]
        calls, running, *_ = map(sum, zip(*(row.counts for row in rows), strict=True))
        failed = [row for row in rows if row.errors and row.known]
        refused = [row for row in rows if row.refused]
        gone = _names([row for row in rows if not row.known])
        some = [
            name + f" ({row.errors} of {row.errors + row.ok})" * bool(row.ok)
            for name, row in zip(_names(failed), failed, strict=True)
        ]
        said = [f"{listed(some)} failed"] if failed else []
        said += [f"{listed(_names(refused))} was refused"] if refused else []
        said += [f"there is no tool {' or '.join(gone)}"] if gone else []
        if said:
            first = f": {listed(said)}"
        elif running:
            first = f", {running} still running"
        else:
            first = f" to {count(len(rows), 'tool')}, {'all ' * (calls > 1)}ok"
        return [f"{count(calls, 'call')}{first}."]

    def draw(self, state: State, width: float, rows: int) -> Canvas:
        canvas = Canvas(width)
        _Sheet(canvas, state).draw(_ordered(state)[:rows])
        return canvas


def _names(rows: list[ToolRow]) -> list[str]:
    return [one_line(row.name, 30) for row in rows]


#: How calls end -> the mark that is counted with.
_ENDS = {
    **{"running": theme.WORKING, "ok": theme.DONE},
    **{"errors": theme.ERROR, "refused": theme.BLOCKED},
}


def _ordered(state: State) -> list[ToolRow]:
    """The tools in the order they were offered, then the names without a tool."""
    return sorted(state.rows.values(), key=lambda row: not row.known)


def _call_lines(current: Current | None) -> list[blocks.BlockLine]:
    """The current call as lines: its input, and its result once there is one."""
    if current is None:
        return []
    asked = blocks.BlockLine(theme.CALL, arguments(current.input or {}), name=current.name)
    ended = current.ended
    if ended is None and not current.refused:
        return [asked]
    mark = theme.RESULT if ended and ended.done else theme.ERROR
    text = ended.output if ended else current.refused
    return [asked, blocks.BlockLine(mark, text or "(empty)")]


class _Sheet:
    """The way of a call, downwards: from the model through the gate to a tool, and its result."""

    def __init__(self, canvas: Canvas, state: State) -> None:
        self.canvas, self.state, self.now = canvas, state, state.current
        self.width = min(canvas.width, _WIDEST)

    @property
    def refused(self) -> bool:
        """Whether the gate has not let the call through."""
        now = self.now
        return bool(now and (now.refused or (now.ended and now.ended.how == "refused")))

    def draw(self, rows: list[ToolRow]) -> None:
        canvas, call = self.canvas, _call_lines(self.now)
        low = self.block(0, call[0], 2) if call else 2.0
        top = low + 36
        spots = {row.name: top + _ROW * number for number, row in enumerate(rows)}
        for number, row in enumerate(rows):
            self.row(number, row, spots[row.name])
        bottom = top + _ROW * len(rows)
        hidden = len(self.state.rows) - len(rows)
        bottom += 22 * canvas.left_out("gone", _TOOLS, bottom + 14, hidden, "more tool")
        self.gate(low + 16)
        at = spots.get(self.now.name) if self.now else None
        if at is not None:
            path, mark = f"M0 0V{at + 12 - low:.1f}H8m-6 -4l6 4l-6 4", "call"
            if self.refused:
                path, mark = "M0 0V12m-4 -6l4 6l4 -6", "error"
            canvas.edge("way", path, mark, "w", x=_TOOLS - 10, y=low)
        if len(call) > 1:
            begin, y = self.width - _TOOLS, low + 18  # from the gate, or from the tool
            if not self.refused and at is not None:
                y = at + 12
            side = f"H{self.width - 12 - begin:.1f}V{bottom + 28 - y:.1f}m-4 -6l4 6l4 -6"
            end = self.block(1, call[1], bottom + 30)
            mark = canvas["block 1"].mark
            canvas.edge("back", f"M0 0{side}", mark, "w", x=begin, y=y)
            if self.now and self.now.ended:
                canvas.text("outcome", 2, end + 16, self.now.ended.outcome, "q")
            bottom = end + 20
        canvas.height = bottom + 12

    def row(self, number: int, row: ToolRow, y: float) -> None:
        """A tool: its name, and how its calls ended."""
        x, wide, now = _TOOLS, self.width - 2 * _TOOLS, self.now and row.name == self.now.name
        counts = dict(zip(COLUMNS, row.counts, strict=True))
        each = ", ".join(f"{n} {what}" for what, n in counts.items() if n)
        says = f"{row.label}: {each or 'not called'}"
        style = "mlb" if now else "ml" if row.counts[0] else "mlq"
        mark = "call" if now and not self.refused else ""
        dash = "" if row.known else "d"
        self.canvas.box(f"box {number}", x, y, wide, 24, mark, (), dash, says=says)
        end = x + wide - 8
        for kind in ("refused", "errors", "ok", "running"):
            if counts[kind]:
                text = f"{_ENDS[kind].glyph} {counts[kind]:,}"
                key = f"cell {number} {kind}"
                self.canvas.text(key, end, y + 16, text, "en", _ENDS[kind].key, width=60)
                end -= text_width(text) + 9
        room = end - x - 10
        self.canvas.text(f"row {number}", x + 8, y + 16, row.label, f"{style}n", width=room)

    def block(self, number: int, line: blocks.BlockLine, y: float) -> float:
        """The call or its result as a box; returns where it ends, in pixels."""
        wide, mark = self.width - 4, line.mark or theme.SYSTEM
        parts = [p for one in line.text.splitlines() for p in wrapped(one, wide - 16, "m")]
        if len(parts) > _LINES:
            cut = fitting(parts[_LINES - 1], wide - 36, "m").removesuffix("…")
            parts = [*parts[: _LINES - 1], f"{cut} …"]
        lines = [f"{mark.label} {line.name}".rstrip(), *parts]
        tall, says = 9 + 16 * len(lines), f"{lines[0]}: {one_line(line.text, 1000)}"
        self.canvas.box(f"block {number}", 2, y, wide, tall, mark.key, lines, "m", says=says)
        return y + tall

    def gate(self, y: float) -> None:
        """The gate: open where the call goes through, or closed."""
        mark, said, quiet = "system", "gate", "q"
        if self.refused:
            mark, said, quiet = "error", f"{theme.BLOCKED.glyph} refused", ""
        closed, end = self.refused or not self.now, self.width - 90
        path = f"M0 -3H{end:.1f}v6H0z" if closed else f"M0 -3H4v6H0zM20 -3H{end:.1f}v6H20z"
        self.canvas.edge("gate", path, mark, "f", x=2, y=y)
        self.canvas.text("gate is", end + 8, y + 4, said, quiet, mark)
