"""The timeline: when each agent and each background job was busy, and what ran at the same time.

An agent's row has its turns and its tool calls; a job's row runs from its start to its end. The sum
of all lengths is the time that the same work would have taken one step after another.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from learnkit.core.events import Event
from learnkit.core.text import count, one_line
from learnkit.views.drawing import static, theme
from learnkit.views.drawing.base import Drawn, DrawnView, css_beside
from learnkit.views.drawing.static import Picture
from learnkit.views.drawing.text import as_list, esc
from learnkit.views.drawing.time_axis import Axis, TimeRow, duration

_ENDS = {
    "completed": theme.DONE,
    "failed": theme.FAILED,
    "timeout": theme.FAILED,
    "error": theme.FAILED,
    "stopped": theme.SHUTDOWN,
}
_WORDS = {"assistant": "the model thinks", "call": "a tool runs"}


@dataclass(frozen=True, slots=True)
class State(Drawn):
    """Rows by key in the order in which they began, and the time of the last event."""

    rows: dict[str, TimeRow] = field(default_factory=dict)
    now: float = 0.0

    @property
    def serial(self) -> float:
        """Seconds that all work takes if it is done one step after another."""
        open = sum(self.now - since for row in self.rows.values() for _, _, since in row.open)
        return open + sum(row.busy for row in self.rows.values())

    @property
    def axis(self) -> Axis:
        """The scale of time."""
        return Axis(self.now)

    @property
    def said(self) -> str:
        """Elapsed time against the sum of all work."""
        if not self.serial:
            return "No work so far."
        saved = self.serial - self.now
        text = f"{duration(self.now)} passed; one after the other it is {duration(self.serial)}"
        return f"{text}: {saved / self.serial:.0%} saved." if saved > 0.005 else f"{text}."


class Timeline(DrawnView[State]):
    """Turns, tool calls and background jobs over time."""

    name = "timeline"
    css = css_beside(__file__)
    start = State()

    def fold(self, state: State, event: Event) -> State:
        data, lane, now = event.data, event.lane, max(event.time, state.now)
        rows, id = state.rows, str(data.get("id", ""))
        own = rows.get(lane) or TimeRow(lane)
        match event.type:
            case "model.requested":
                rows = {**rows, lane: _working(own.begun("assistant", "turn", now))}
            case "model.replied" | "model.failed":
                rows = {**rows, lane: own.over("turn", now)}
            case "tool.started":
                rows = {**rows, lane: _working(own.begun("call", f"call {id}", now))}
            case "tool.ended":
                rows = {**rows, lane: own.over(f"call {id}", now)}
            case "run.ended":
                rows = {**rows, lane: replace(own, mark=theme.DONE, state="done")}
            case "job.started":
                title, counted = str(data.get("command", "")), bool(data.get("counted"))
                new = TimeRow(id, title, lane, mark=theme.ACTIVE, state="running", counted=counted)
                rows = {**rows, f"job {id}": new.begun("active", id, now)}
            case "job.ended" if job := rows.get(f"job {id}"):
                status = str(data.get("status", ""))
                ended = replace(job.over(id, now), mark=_ENDS.get(status, theme.DONE), state=status)
                rows = {**rows, f"job {id}": _coloured(ended)}
            case "job.delivered":
                keys = [f"job {one}" for one in as_list(data.get("ids"))]
                told = {k: replace(rows[k], delivered=(now,)) for k in keys if k in rows}
                rows = {**rows, **told}
                if told:
                    rows[lane] = replace(own, delivered=(*own.delivered, now))
        return replace(state, now=now, rows=rows)

    def changed(self, state: State, old: State) -> bool:
        moves = any(row.open for row in state.rows.values())  # a span grows with time
        return moves or state.rows is not old.rows

    def draw(self, state: State, old: State) -> dict[str, str]:
        html = {"lines/axis": state.axis.html}
        for place, (key, row) in enumerate(state.rows.items()):
            html[f"lines/{place}"] = _line(row, state, old.rows.get(key) == row)
        html["lines/sum"] = f'<div class="sum" data-quiet>{esc(state.said)}</div>'
        html["lines/legend"] = f'<div class="legend" data-quiet>{esc(_legend(state))}</div>'
        return html

    def line(self, state: State) -> str:
        jobs = sum(bool(row.agent) for row in state.rows.values())
        return f"{self.name}: {count(jobs, 'job')}; {state.said} {state.head}"

    def picture(self, state: State, rows: int) -> Picture:
        picture = Picture(f"{self.line(state)} All times stand in the table below.")
        left, right, scale = 196, 128, state.axis.scale
        width = static.WIDTH - left - right
        picture.text(16, 24, state.said, "b", 640)
        state.axis.draw(picture, left, width, 38.0)
        y = 56.0
        shown = list(state.rows.values())[:rows]
        for row in shown:
            indent = 14 if row.agent else 0
            picture.text(16 + indent, y + 15, row.mark.glyph, "", 20, row.mark.key)
            picture.text(34 + indent, y + 15, _who(row), "" if row.agent else "b", 140 - indent)
            picture.path(f"M{left} {y + 20:g}h{width}")
            for key, begin, end in row.drawn(state.now):
                x, w = left + width * begin / scale, width * (end - begin) / scale
                picture.bar(round(x, 1), y + 3, max(w, 1.5), 14, key)
            for at in row.delivered[-20:]:
                x = round(left + width * at / scale, 1)
                picture.box(x - 7, y + 2, 15, 16, "injected")
                picture.text(x - 5, y + 14.5, theme.INJECTED.glyph, "", 20, "injected")
            picture.text(static.WIDTH - 16, y + 15, _time(row, state.now), "q e", right - 20)
            y += 24
        y += picture.left_out(34, y + 15, len(state.rows) - len(shown), "", 24)
        picture.text(16, y + 16, _legend(state), "q")
        picture.height = y + 28
        return picture

    def facts(self, state: State, rows: int) -> str:
        body: list[list[object]] = []
        for row in list(state.rows.values())[:rows]:
            spans = row.drawn(state.now)
            begin = duration(min(one[1] for one in spans)) if spans else ""
            end = duration(max(one[2] for one in spans)) if spans else ""
            delivered = ", ".join(duration(at) for at in row.delivered[-5:])
            busy = duration(_busy(row, state.now))
            what = one_line(row.title, 50) or "turns and calls"
            state_of = f"{row.mark.glyph} {row.state}"
            body.append([row.name, what, state_of, begin, end, busy, delivered])
        after = static.more(len(state.rows) - rows)
        head = ["who", "what", "state", "from", "to", "busy", "told at"]
        return static.table(head, body, after=after) + f"<p>{esc(state.said)}</p>"


def _working(row: TimeRow) -> TimeRow:
    return replace(row, mark=theme.WORKING, state="working")


def _coloured(row: TimeRow) -> TimeRow:
    """A job that has ended, in the colour of its outcome."""
    return replace(row, spans=tuple((row.mark.key, a, b) for _, a, b in row.spans))


def _busy(row: TimeRow, now: float) -> float:
    return row.busy + sum(now - since for _, _, since in row.open)


def _who(row: TimeRow) -> str:
    return one_line(row.title, 40) if row.agent else row.name


def _time(row: TimeRow, now: float) -> str:
    return f"{row.state if row.agent else 'busy'} {duration(_busy(row, now))}"


def _legend(state: State) -> str:
    used = {key for row in state.rows.values() for key, _, _ in row.drawn(state.now)}
    parts = [f"{theme.MARKS[key].glyph} {word}" for key, word in _WORDS.items() if key in used]
    if any(row.agent for row in state.rows.values()):
        parts.append(f"{theme.ACTIVE.glyph} a job runs")
    if any(row.delivered for row in state.rows.values()):
        parts.append(f"{theme.INJECTED.glyph} the model is told")
    if any(row.counted for row in state.rows.values()):
        parts.append("⏱\ufe0e sleep only counts: this takes no real time")
    return " · ".join(parts)


def _line(row: TimeRow, state: State, grown: bool) -> str:
    """A row; one that has only grown with time isn't marked as changed."""
    now, scale = state.now, state.axis.scale
    bars = "".join(
        f'<i class="m-{key}" style="left:{begin / scale:.2%};width:{(end - begin) / scale:.2%};'
        f'background:var(--lk-{key}-edge)"></i>'
        for key, begin, end in row.drawn(now)
    )
    bars += "".join(
        f'<b style="left:{at / scale:.2%}" title="the model is told at {duration(at)}">'
        f"{theme.INJECTED.glyph}</b>"
        for at in row.delivered[-20:]
    )
    says = f"{row.title or row.name}: {_time(row, now)}"
    return (
        f'<div class="track{" job" if row.agent else ""}"{" data-quiet" if grown else ""} '
        f'title="{esc(one_line(says, 200))}">'
        f'<span class="who"><span class="t-{row.mark.key}">{row.mark.glyph}</span> '
        f'{esc(_who(row))}</span><div class="bar">{bars}</div>'
        f'<span class="n">{esc(_time(row, now))}</span></div>'
    )
