"""Tool dispatch: which tool each call went to, and how it ended.

Each tool has a row, which shows how the registry works: the loop passes on a name and an input, and
the tool with that name answers. A name without a tool gets a row, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from learnkit.events.log import Event
from learnkit.events.loop import RunStarted, ToolEnded, ToolStarted
from learnkit.events.text import arguments, count, listed, one_line
from learnkit.events.vocabulary import read
from learnkit.views.drawing import blocks, static, theme
from learnkit.views.drawing.base import Diagram
from learnkit.views.drawing.display import Canvas, fitting, wrapped

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
        """The name, with a note if there is no such tool."""
        return self.name if self.known else f"{self.name} ({theme.BLOCKED.glyph} no such tool)"


@dataclass(frozen=True, slots=True)
class Current:
    """The call shown in detail: the one that started or ended last."""

    lane: str
    id: str
    name: str
    input: Any = None
    ended: ToolEnded | None = None


@dataclass(frozen=True, slots=True)
class State:
    """Rows by name, running calls by lane and id, and the call shown in detail."""

    rows: dict[str, ToolRow] = field(default_factory=dict)
    running: dict[tuple[str, str], Current] = field(default_factory=dict)
    current: Current | None = None


class Dispatch(Diagram[State]):
    """The table of tools with their calls, beside the current call's input and result."""

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
            row = replace(row, running=row.running + 1)
            current = running[key] = Current(*key, name, typed.input)
        else:
            started = running.pop(key, None)
            current = replace(started or Current(*key, name), ended=typed)
            kind, known = _kind(typed), row.known and typed.how != "unknown"
            counted = {kind: getattr(row, kind) + 1}
            row = replace(row, known=known, running=row.running - bool(started), **counted)
        return replace(state, rows={**state.rows, name: row}, running=running, current=current)

    def finding(self, state: State) -> str:
        names = [row for row in state.rows.values() if row.counts[0]]
        calls, running, *ended = (sum(column) for column in _columns(state))
        if not calls:
            return f"{count(len(state.rows), 'tool')} to call, and no call yet."
        known = [row for row in state.rows.values() if row.known]
        used = sum(row.known for row in names)
        ok, failed, refused = ended
        said = [f"{'all' if ok == calls > 1 else ok} ok"] if ok else []
        for number, kind in ((failed, "errors"), (refused, "refused")):
            where = _named(row for row in known if getattr(row, kind))
            word = "failed" if kind == "errors" else kind
            said += [f"{number} {word}{f' ({where})' if where else ''}"] if number else []
        said += [f"{running} running"] if running else []
        idle = [row for row in known if not row.counts[0]]
        if gone := [one_line(row.name, 30) for row in names if not row.known]:
            more = f"; there is no tool called {' or '.join(gone)}"
        elif ok == calls and 0 < len(idle) < 3:
            more = f"; {_named(idle)} {'was' if len(idle) == 1 else 'were'} not used"
        else:
            more = ""
        what = f"{count(calls, 'call')} to {used} of {count(len(known), 'tool')}"
        return f"{what}: {', '.join(said)}{more}."

    def draw(self, state: State, width: float, rows: int) -> Canvas:
        canvas, shown, y = Canvas(width), _ordered(state)[:rows], 16.0
        columns = [one for one in COLUMNS if one != "running" or width >= 480]
        each = 76 if width >= 480 else 54
        edges = {one: width - 10 - each * n for n, one in enumerate(columns[::-1])}
        room = min(edges.values()) - 50
        canvas.text("tool", 10, y, "tool", "q", width=80)
        for column, x in edges.items():
            canvas.text(f"column {column}", x, y, column, "qe", width=70)
        canvas.edge("line", f"M0 0H{width - 4:g}", x=2, y=y + 9)
        y += 12
        for number, row in enumerate(shown):
            now = state.current is not None and row.name == state.current.name
            if now:
                canvas.box("now", 2, y + 1, width - 4, 23, "call")
            counts = dict(zip(COLUMNS, row.counts, strict=True))
            says = f"{row.label}: {', '.join(f'{what} {n}' for what, n in counts.items())}"
            canvas.text(f"row {number}", 10, y + 17, row.label, "mn", width=room, says=says)
            for column, x in edges.items():
                text, key = _cell(column, counts[column])
                style = "en" if counts[column] or now else "qen"
                canvas.text(f"cell {number} {column}", x, y + 17, text, style, key, width=70)
            y += 24
        y += 24 * canvas.left_out("gone", 10, y + 17, len(state.rows) - len(shown), "more tool")
        for number, line in enumerate(_call_lines(state.current)):
            mark = line.mark or theme.SYSTEM
            parts = [p for one in line.text.splitlines() for p in wrapped(one, width - 20, "m")]
            if len(parts) > 3:
                parts[2] = f"{fitting(parts[2], width - 40, 'm').removesuffix('…')} …"
            lines = [f"{mark.label}  {line.name}".rstrip(), *parts[:3]]
            tall = 9 + 16 * len(lines)
            canvas.box(f"block {number}", 2, y + 10, width - 4, tall, mark.key, lines, "m")
            y += tall + 4
        if state.current and state.current.ended:
            canvas.text("outcome", 2, y + 24, state.current.ended.outcome, "q")
        canvas.height = y + 30
        return canvas

    def facts(self, state: State, rows: int) -> str:
        body = [[one_line(row.label, 60), *row.counts] for row in _ordered(state)]
        table = static.table(["tool", *COLUMNS], body, rows)
        call = [
            [line.mark.label if line.mark else "", one_line(str(line), 12 * rows)]
            for line in _call_lines(state.current)
        ]
        return table + static.table(["current call", ""], call) if call else table


def _named(rows: Iterable[ToolRow]) -> str:
    return listed([one_line(row.name, 30) for row in rows])


_MARKS = {"running": theme.WORKING, "ok": theme.DONE, "errors": theme.ERROR}
_MARKS["refused"] = theme.BLOCKED


def _kind(ended: ToolEnded) -> str:
    if ended.how == "refused":
        return "refused"
    return "ok" if ended.done else "errors"


def _cell(column: str, number: int) -> tuple[str, str]:
    """A number as text, and the key of its mark; zero is a dot without a mark."""
    mark = _MARKS.get(column) if number else None
    return (
        (f"{mark.glyph} {number:,}", mark.key) if mark else (f"{number:,}" if number else "·", "")
    )


def _columns(state: State) -> list[list[int]]:
    """The numbers of all rows, a list a column."""
    return [[row.counts[place] for row in state.rows.values()] for place in range(len(COLUMNS))]


def _ordered(state: State) -> list[ToolRow]:
    """The tools in the order they were offered, then the names without a tool."""
    return sorted(state.rows.values(), key=lambda row: not row.known)


def _call_lines(current: Current | None) -> list[blocks.BlockLine]:
    """The current call as lines: its input, and its result once there is one."""
    if current is None:
        return []
    asked = blocks.BlockLine(theme.CALL, arguments(current.input or {}), name=current.name)
    if current.ended is None:
        return [asked]
    mark = theme.RESULT if current.ended.done else theme.ERROR
    text = current.ended.output or "(empty)"
    return [asked, blocks.BlockLine(mark, text)]
