"""Protocols: each request as a handshake of its own, side by side.

A handshake has two lifelines: who asks and who may answer. The question goes one way, the answer
comes back, and below stand the states that may follow for this kind of request, with the one it is
in filled. A request without an answer has only one arrow.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from learnkit.events.log import Event
from learnkit.events.protocols import RequestData, RequestEvent, RequestOpened, RequestRefused
from learnkit.events.sentences import ended
from learnkit.events.text import count, one_line, quoted
from learnkit.events.vocabulary import read
from learnkit.views import people as folk
from learnkit.views.drawing import static, theme
from learnkit.views.drawing.base import Diagram
from learnkit.views.drawing.display import Canvas, wrapped
from learnkit.views.drawing.time_axis import duration
from learnkit.views.people import People

#: State -> its mark. Every request starts in the first one.
STATES: dict[str, theme.Mark] = {
    "pending": theme.PENDING,
    "approved": theme.DONE,
    "rejected": theme.FAILED,
    "changes_requested": theme.BLOCKED,
    "expired": theme.SHUTDOWN,
}
#: Kind of a request -> the states that may follow the first one.
AFTER = {
    "shutdown": ("approved", "rejected", "expired"),
    "plan": ("approved", "rejected", "expired", "changes_requested"),
}
#: What somebody does who brings a request into a state.
_VERBS = {
    "approved": "approves",
    "rejected": "rejects",
    "changes_requested": "asks for changes to",
}
#: Height of a line of text, of a lifeline's head and of a state, in pixels.
_LINE, _HEAD, _STATE = 16, 26, 24


@dataclass(frozen=True, slots=True)
class RequestCard:
    """A request, when it was asked, and when it was answered or expired, in seconds."""

    request: RequestData
    asked: float
    answered: float | None = None

    @property
    def mark(self) -> theme.Mark:
        """The mark of its state."""
        return STATES[self.request.state]

    @property
    def question(self) -> str:
        """The question in a few words."""
        return "shut down?" if self.request.kind == "shutdown" else f"plan: {self.request.content}"

    @property
    def answer(self) -> str:
        """The answer in a few words."""
        note = f": {self.request.note}" if self.request.note.strip() else ""
        return f"{_word(self.request.state)}{note}"

    @property
    def said(self) -> str:
        """What became of it, as the part of a sentence."""
        one = self.request
        note = f" ({quoted(one.note, 80)})" if one.note.strip() else ""
        if one.state in _VERBS:
            return f"{one.to} {_VERBS[one.state]} {one.kind} {one.id}{note}"
        after = "expires" if one.state == "expired" else f"waits for {one.to}"
        return f"{one.kind} {one.id} {after}{note}"


@dataclass(frozen=True, slots=True)
class State:
    """The agents, the requests in order, and the answers that don't count.

    An answer that doesn't count is there with why.
    """

    people: People = field(default_factory=dict)
    requests: dict[str, RequestCard] = field(default_factory=dict)
    refused: tuple[str, ...] = ()


class Protocol(Diagram[State]):
    """The requests of a team as handshakes."""

    name = "protocols"
    start = State()

    def fold(self, state: State, event: Event) -> State:
        people = folk.grown(state.people, event)
        if people.keys() != state.people.keys():  # what else becomes of them isn't shown here
            state = replace(state, people=people)
        match read(event):
            case RequestRefused(problem=problem):
                return replace(state, refused=(*state.refused, problem))
            case RequestEvent(request=request) as happened:
                old = state.requests.get(request.id)
                waits = isinstance(happened, RequestOpened)
                times = old.asked if old else event.time, None if waits else event.time
                card = RequestCard(request, *times)
                return replace(state, requests={**state.requests, request.id: card})
        return state

    def finding(self, state: State) -> str:
        found = list(state.requests.values())
        if not found:
            return "Nobody has asked for anything yet."
        extra = f"; {count(len(state.refused), 'answer')} did not count" if state.refused else ""
        if len(found) > 3:
            standing = [one.request.state for one in found]
            parts = [f"{standing.count(s)} {_word(s)}" for s in STATES if s in standing]
            return f"{count(len(found), 'request')}: {', '.join(parts)}{extra}."
        parts = [one.said for one in found]
        for number in range(len(parts) - 1, 0, -1):  # who does the next thing too is named once
            who = f"{found[number].request.to} "
            if parts[number].startswith(who) and parts[number - 1].startswith(who):
                parts[number] = parts[number].removeprefix(who)
        return ended(f"{', then '.join(parts)}{extra}.")

    def draw(self, state: State, width: float, rows: int) -> Canvas:
        canvas, y = Canvas(width), 0.0
        requests = list(state.requests.values())
        shown = requests[-max(2, rows // 4) :]
        hidden = len(requests) - len(shown)
        y += 20 * canvas.left_out("gone", 2, 14, hidden, "earlier request")
        columns = min(len(shown), 2 if width >= 560 else 1) or 1
        each = (width - 4 - 24 * (columns - 1)) / columns
        for start in range(0, len(shown), columns):
            lows = [
                _handshake(canvas, one, state.people, 2 + (each + 24) * place, y, each)
                for place, one in enumerate(shown[start : start + columns])
            ]
            y = max(lows) + 22
        for number, why in enumerate(state.refused[-3:]):
            text = f"{theme.ERROR.glyph} An answer did not count: {one_line(why, 300)}"
            for place, line in enumerate(wrapped(text, width - 4, most=2)):
                key, mark = f"refused {number} {place}", theme.ERROR.key
                canvas.text(key, 2, y + 14, line, "", mark, says=text if not place else "")
                y += _LINE
        canvas.height = max(y, 24)
        return canvas

    def facts(self, state: State, rows: int) -> str:
        body: list[list[object]] = []
        for one in list(state.requests.values())[-rows:]:
            ended = "" if one.answered is None else duration(one.answered)
            what = one_line(one.question, 50)
            state_of = f"{one.mark.glyph} {one_line(one.answer, 60)}"
            body.append(
                [
                    one.request.id,
                    one.request.sender,
                    one.request.to,
                    what,
                    duration(one.asked),
                    state_of,
                    ended,
                ]
            )
        head = ["request", "who asks", "whom", "what", "at", "state", "since"]
        return static.table(head, body)


def _word(state: str) -> str:
    return state.replace("_", " ")


def _handshake(
    canvas: Canvas, one: RequestCard, people: People, x: float, y: float, width: float
) -> float:
    """One request as a sequence; returns where it ends, in pixels from the top."""
    id, marks = one.request.id, {name: theme.agent(n).key for n, name in enumerate(people)}
    half = min(52.0, width / 6)
    spots = {"asks": x + half, "answers": x + width - half}
    names = {"asks": one.request.sender, "answers": one.request.to}
    canvas.text(
        f"id {id}", x, y + 14, f"{one.request.id} · {one.request.kind}", "b", width=width, pair=id
    )
    head, y = y + 22, y + 22 + _HEAD
    said = [("asks", "answers", one.asked, one.question)]
    if one.answered is not None and one.request.state != "expired":
        said.append(("answers", "asks", one.answered, one.answer))
    lines: list[tuple[float, str, str, str]] = []
    for sender, to, at, text in said:
        colour = marks.get(names[sender], "system")
        full = f"{duration(at)}: {text}"
        for number, line in enumerate(wrapped(full, width - 2 * half - 24, most=6)):
            y += _LINE
            lines.append((y, f"{sender} {id} {number}", line, colour))
        reach = spots[to] - spots[sender]
        side = 1 if reach > 0 else -1
        path = f"M0 0H{reach:.1f}m{-8 * side} -4l{8 * side} 4l{-8 * side} 4"
        says = f"{full} ({names[sender]} to {names[to]})"
        where = spots[sender], y + 9
        canvas.edge(
            f"arrow {sender} {id}", path, colour, x=where[0], y=where[1], says=says, pair=id
        )
        y += 18
    if len(said) < 2:
        late = f"{duration(one.answered)}: " if one.answered is not None else ""
        text = f"{late}no answer, {one.answer}" if late else "no answer yet"
        y += _LINE
        lines.append((y, f"none {id}", text, one.mark.key))
        y += 8
    for part, spot in spots.items():
        canvas.edge(f"life {part} {id}", f"M0 0V{y - head - _HEAD:.1f}", x=spot, y=head + _HEAD)
        colour = marks.get(names[part], "system")
        box = (spot - half, head, 2 * half, _HEAD)
        canvas.box(f"head {part} {id}", *box, colour, [names[part]], says=names[part], pair=id)
    for at, key, line, colour in lines:
        canvas.text(key, x + half + 12, at, line, "", colour, width=width - 2 * half - 20)
    return _states(canvas, one, x, y + 8, width)


def _states(canvas: Canvas, one: RequestCard, x: float, y: float, width: float) -> float:
    """The states that such a request may get, and the one that it has; returns where they end."""
    left, at = x, x
    for name in ("pending", *AFTER.get(one.request.kind, tuple(STATES)[1:])):
        mark, here = STATES[name], one.request.state == name
        text = f"{mark.glyph} {_word(name)}"
        wide = 7.8 * len(text) + 16
        if at + wide > x + width + 1:
            at, y = left, y + _STATE + 6
        style, colour = ("", mark.key) if here else ("ql", "")
        says = f"request {one.request.id} is {_word(name)}" if here else ""
        key = f"state {one.request.id} {name}"
        canvas.box(key, at, y, wide, _STATE, colour, [text], style, says=says, pair=one.request.id)
        at += wide + 6
        if name == "pending":
            canvas.text(f"to {one.request.id}", at, y + 16, "→", "q", width=16)
            left = at = at + 20
    return y + _STATE
