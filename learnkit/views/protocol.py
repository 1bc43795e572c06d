"""Protocols: the requests in each state of the state machine, and each request as a handshake.

A request starts as pending and changes state once, to one of four others. Below the machine, each
request has two arrows: the question and the answer. A request without an answer has only one.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from learnkit.core.events import Event
from learnkit.core.text import count, one_line
from learnkit.views import people as folk
from learnkit.views.drawing import static, theme
from learnkit.views.drawing.base import Drawn, css_beside
from learnkit.views.drawing.static import Picture
from learnkit.views.drawing.text import esc
from learnkit.views.drawing.time_axis import duration

#: Requests that are drawn; older ones are only counted.
REQUESTS = 40

#: State -> its mark. Every request starts in the first one.
STATES: dict[str, theme.Mark] = {
    "pending": theme.PENDING,
    "approved": theme.DONE,
    "rejected": theme.FAILED,
    "changes_requested": theme.BLOCKED,
    "expired": theme.SHUTDOWN,
}


@dataclass(frozen=True, slots=True)
class RequestCard:
    """A request as the log has it."""

    id: str
    kind: str
    sender: str
    to: str
    content: str
    asked: float
    state: str = "pending"
    note: str = ""
    answered: float | None = None

    @property
    def mark(self) -> theme.Mark:
        """The mark of its state."""
        return STATES.get(self.state, theme.PENDING)

    @property
    def question(self) -> str:
        """The question in a few words."""
        return "shut down?" if self.kind == "shutdown" else f"plan: {self.content}"

    @property
    def answer(self) -> str:
        """The answer in a few words."""
        note = f": {self.note}" if self.note.strip() else ""
        return f"{_word(self.state)}{note}"


@dataclass(frozen=True, slots=True)
class State(Drawn):
    """The requests in order, and the number of dropped requests and refused answers."""

    requests: dict[str, RequestCard] = field(default_factory=dict)
    gone: int = 0
    refused: int = 0

    @property
    def said(self) -> str:
        """How many requests are in each state."""
        if not self.requests:
            return "No request so far."
        standing = [one.state for one in self.requests.values()]
        parts = [f"{standing.count(s)} {_word(s)}" for s in STATES if s in standing]
        extra = f"; {count(self.refused, 'answer')} did not count" if self.refused else ""
        return f"{count(len(standing) + self.gone, 'request')}: {', '.join(parts)}{extra}."


class Protocol(folk.TeamView[State]):
    """The requests of a team: the state machine, the tracker and the handshakes."""

    name = "protocols"
    css = css_beside(__file__)
    start = State()

    def fold(self, state: State, event: Event) -> State:
        if event.type == "request.refused":
            return replace(state, refused=state.refused + 1)
        found = event.data.get("request")
        if not event.type.startswith("request.") or not isinstance(found, dict):
            return state
        seen = _seen(found, event, state.requests.get(str(found.get("id", "?"))))
        requests = {**state.requests, seen.id: seen}
        hidden = list(requests)[:-REQUESTS]
        shown = {id: one for id, one in requests.items() if id not in hidden}
        return replace(state, requests=shown, gone=state.gone + len(hidden))

    def draw(self, state: State, old: State) -> dict[str, str]:
        nodes = []
        for name, mark in STATES.items():
            standing = _standing(state, name)
            first = " first" if name == "pending" else ""
            pairs = esc(" ".join(one.id for one in standing))
            if not first:
                nodes.append(f'<div class="way">{_BY[name]}</div>')
            nodes.append(
                f'<div class="st m-{mark.key}{first}" data-pair="{pairs}">'
                f"<b>{_label(name, standing)}</b>{esc(_ids(standing))}</div>"
            )
        html = {"machine/all": f'<div class="machine">{"".join(nodes)}</div>'}
        if state.gone:
            html["list/gone"] = f'<div class="sum">{count(state.gone, "earlier request")}</div>'
        for one in state.requests.values():
            steps = [f'<span class="step">{esc(one_line(s, 160))}</span>' for s in _steps(one)]
            title = esc(one_line(f"{one.id}: {one.question} {one.answer}", 240))
            html[f"list/{one.id}"] = (
                f'<div class="ask m-{one.mark.key}" data-pair="{esc(one.id)}" title="{title}" '
                f'tabindex="0" role="group"><b>{one.mark.glyph} {esc(one.id)} '
                f"{esc(one_line(one.kind, 10))}</b>{''.join(steps)}</div>"
            )
        html["list/sum"] = f'<div class="sum" data-quiet>{esc(state.said)}</div>'
        return html

    def frame(self, state: State) -> dict[str, str]:
        return state.html or self.draw(state, state)

    def picture(self, state: State, rows: int) -> Picture:
        picture = Picture(f"{self.line(state)} Every request stands in the table below.")
        _node(picture, state, "pending", 16, 57, 170)
        for number, name in enumerate(list(STATES)[1:]):
            y = 12 + 42.0 * number
            picture.path(f"M186 75C226 75 226 {y + 16:g} 260 {y + 16:g}H372l-6 -4m6 4l-6 4")
            picture.text(262, y + 12, _BY[name], "q", 110)
            _node(picture, state, name, 376, y, static.WIDTH - 392)
        y = 190.0
        shown = list(state.requests.values())[-max(2, rows // 2) :]
        hidden = len(state.requests) + state.gone - len(shown)
        y += picture.left_out(16, y + 10, hidden, "earlier request", 20)
        for one in shown:
            key = one.mark.key
            picture.bar(16, y, 3, 34, key)
            picture.text(26, y + 13, f"{one.mark.glyph} {one.id}", "b", 150, key)
            picture.text(26, y + 29, f"{one.kind}, {_word(one.state)}", "", 150, key)
            for place, text in enumerate(_steps(one)):
                picture.text(190, y + 13 + 16 * place, text, "", static.WIDTH - 206)
            y += 42
        picture.text(16, y + 12, state.said, "q")
        picture.height = y + 24
        return picture

    def facts(self, state: State, rows: int) -> str:
        body: list[list[object]] = []
        for one in list(state.requests.values())[-rows:]:
            ended = "" if one.answered is None else duration(one.answered)
            what = one_line(one.question, 50)
            state_of = f"{one.mark.glyph} {one_line(one.answer, 60)}"
            body.append([one.id, one.sender, one.to, what, duration(one.asked), state_of, ended])
        head = ["request", "who asks", "whom", "what", "at", "state", "since"]
        return static.table(head, body) + f"<p>{esc(state.said)}</p>"


#: Who moves a request into a state.
_BY = {
    "approved": "addressee",
    "rejected": "addressee",
    "changes_requested": "addressee",
    "expired": "harness",
}


def _word(state: str) -> str:
    return state.replace("_", " ")


def _seen(request: dict[str, Any], event: Event, old: RequestCard | None) -> RequestCard:
    fields = {key: str(request.get(key, "?")) for key in ("id", "kind", "sender", "to", "content")}
    asked = old.asked if old else event.time
    state, note = str(request.get("state", "pending")), str(request.get("note") or "")
    answered = None if event.type == "request.opened" else event.time
    return RequestCard(**fields, asked=asked, state=state, note=note, answered=answered)


def _steps(one: RequestCard) -> list[str]:
    """The handshake: the question, and the answer if there is one."""
    steps = [f"{duration(one.asked)}  {one.sender} ─▶ {one.to}:  {one.question}"]
    if one.answered is not None:
        who = f"{one.sender} ◀─ {one.to}" if one.state != "expired" else "the harness"
        steps.append(f"{duration(one.answered)}  {who}:  {one.answer}")
    return steps


def _standing(state: State, name: str) -> list[RequestCard]:
    return [one for one in state.requests.values() if one.state == name]


def _ids(standing: list[RequestCard]) -> str:
    return ", ".join(one.id for one in standing[-4:]) + (" …" if len(standing) > 4 else "") or "–"


def _label(name: str, standing: list[RequestCard]) -> str:
    return f"{STATES[name].glyph} {_word(name)} · {len(standing)}"


def _node(picture: Picture, state: State, name: str, x: float, y: float, wide: float) -> None:
    standing, key = _standing(state, name), STATES[name].key
    picture.box(x, y, wide, 36, key)
    picture.text(x + 8, y + 15, _label(name, standing), "b", wide - 16, key)
    picture.text(x + 8, y + 30, _ids(standing), "", wide - 16, key)
