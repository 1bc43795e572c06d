"""Protocols: each request as the area between its question and its answer, on one clock.

Two agents that ask each other have two lifelines. A question is an arrow from one to the other, an
answer the arrow back, and the area between them has the colour of the answer. A request without an
answer is an outline that ends where the clock is. What was said stands below, with the request's
number.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from learnkit.events.log import Event
from learnkit.events.loop import RunEnded
from learnkit.events.protocols import RequestData, RequestEvent, RequestOpened, RequestRefused
from learnkit.events.text import count, listed, one_line, quoted
from learnkit.events.vocabulary import read
from learnkit.views import people as folk
from learnkit.views.drawing import theme
from learnkit.views.drawing.base import Diagram
from learnkit.views.drawing.display import Canvas, text_width, wrapped
from learnkit.views.drawing.time_axis import Axis, duration
from learnkit.views.people import People

#: State -> its mark. Every request starts in the first one.
STATES: dict[str, theme.Mark] = {
    "pending": theme.PENDING,
    "approved": theme.DONE,
    "rejected": theme.FAILED,
    "changes_requested": theme.BLOCKED,
    "expired": theme.SHUTDOWN,
}
#: What somebody does who brings a request into a state.
_VERBS = {"approved": "approves", "rejected": "rejects", "changes_requested": "asks for changes to"}
#: From one lifeline to the other, and from the top to the first one, in pixels.
_APART, _ABOVE = 76, 24


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
        """The answer, or that there is none; and what was said with it."""
        state = self.request.state
        words = {"pending": "no answer yet", "expired": "expired, no answer"}
        note = f" {quoted(self.request.note, 300)}" if self.request.note.strip() else ""
        return f"{self.mark.glyph} {words.get(state, _word(state))}{note}"

    @property
    def back(self) -> bool:
        """Whether somebody has answered."""
        return self.request.state in _VERBS


#: Requests, each with its number.
Numbered = list[tuple[int, RequestCard]]


@dataclass(frozen=True, slots=True)
class State:
    """The agents, the requests in order, why some answers don't count, and when a run ended."""

    people: People = field(default_factory=dict)
    requests: dict[str, RequestCard] = field(default_factory=dict)
    refused: tuple[str, ...] = ()
    ended: float = 0.0

    @property
    def now(self) -> float:
        """When something happened last, in seconds."""
        return max([self.ended, *(one.answered or one.asked for one in self.requests.values())])


class Protocol(Diagram[State]):
    """The requests of a team on one clock."""

    name = "protocols"
    start = State()

    def fold(self, state: State, event: Event) -> State:
        people = folk.grown(state.people, event)
        if people.keys() != state.people.keys():  # what else becomes of them isn't shown here
            state = replace(state, people=people)
        match read(event):
            case RunEnded():
                return replace(state, ended=event.time)
            case RequestRefused(problem=problem):
                return replace(state, refused=(*state.refused, problem))
            case RequestEvent(request=request) as happened:
                old = state.requests.get(request.id)
                waits = isinstance(happened, RequestOpened)
                times = old.asked if old else event.time, None if waits else event.time
                card = RequestCard(request, *times)
                return replace(state, requests={**state.requests, request.id: card})
        return state

    def says(self, state: State) -> list[str]:
        every = list(state.requests.values())
        bad = f"{count(len(state.refused), 'answer')} did not count." if state.refused else ""
        if not every:
            return ["Nobody has asked for anything yet.", bad]
        if len(every) > 3:
            standing = [one.request.state for one in every]
            waits = standing.count("pending")
            some = f"{waits} of {count(len(every), 'request')} still wait for an answer."
            first = some if waits else f"All {len(every)} requests are answered or expired."
            each = [f"{standing.count(s)} {_word(s)}" for s in STATES if s in standing]
            return [first, f"{listed(each)}.", bad]
        parts: list[str] = []
        before: tuple[str, str] = "", ""
        for one in every:
            who, what = one.request.to if one.back else "", one.request.kind
            thing = "the next one" if before[1] == what else f"a {what}"
            if one.back:
                does = f"{_VERBS[one.request.state]} {thing}"
                parts.append(does if who == before[0] else f"{who} {does}")
            elif one.request.state == "expired":
                parts.append(f"{thing} expires")
            else:
                parts.append(f"{thing} waits for {one.request.to}")
            before = who, what
        return [f"{', then '.join(parts).removeprefix('a ')}.", bad]

    def draw(self, state: State, width: float, rows: int) -> Canvas:
        canvas = Canvas(width)
        requests = list(enumerate(state.requests.values(), start=1))
        shown = requests[-max(2, rows // 2) :]
        y = 20.0 * canvas.left_out("gone", 2, 14, len(requests) - len(shown), "earlier request")
        pairs: dict[frozenset[str], Numbered] = {}
        for number, one in shown:
            both = frozenset((one.request.sender, one.request.to))
            pairs.setdefault(both, []).append((number, one))
        names = {one for both in pairs for one in both}
        left = 16 + min(max([text_width(one, "b") for one in names], default=0), width / 4)
        waits = any(one.answered is None for _, one in shown)
        time = Axis(state.now * (1 + waits / 8), left, width - left - 40)
        written: set[str] = set()
        for its in pairs.values():
            pair = _Pair(canvas, state, its, time)
            y = pair.draw(y)
            written |= pair.written
        if pairs:
            time.ruled(canvas, y, (y, y + 12))
            y += 22
        for number, one in shown:
            if one.request.id not in written:
                y = _written(canvas, number, one, state, y)
        for number, why in enumerate(state.refused[-3:]):
            text = f"{theme.ERROR.glyph} An answer did not count: {one_line(why, 300)}"
            lines = wrapped(text, width - 4, most=2)
            key, mark = f"refused {number}", theme.ERROR.key
            y = canvas.rows(key, 2, y + 14, lines, "", mark, says=text) - 14
        canvas.height = max(y + 4, 24)
        return canvas


def _word(state: str) -> str:
    return state.replace("_", " ")


def _colour(state: State, name: str) -> str:
    return theme.agent([*state.people].index(name)).key if name in state.people else "system"


def _written(canvas: Canvas, number: int, one: RequestCard, state: State, y: float) -> float:
    """A request in words, below the clock; returns where it ends, in pixels from the top."""
    key, room = one.request.id, canvas.width - 22
    asked = wrapped(f"{number}: {one.question}", room, "b")
    answer = wrapped(one.answer, room, most=4)
    y = canvas.rows(f"asks {key}", 2, y + 14, asked, "b", _colour(state, one.request.sender))
    return canvas.rows(f"answer {key}", 16, y, answer, "", one.mark.key) - 6


class _Pair:
    """Two agents and their requests: where things stand, and what is drawn there."""

    def __init__(self, canvas: Canvas, state: State, its: Numbered, time: Axis):
        self.canvas, self.state, self.requests, self.time = canvas, state, its, time
        first = its[0][1].request
        asked = first.sender, first.to
        #: The upper lifeline is the lead's, or that of who came first.
        self.names = list(dict.fromkeys([*(one for one in state.people if one in asked), *asked]))
        self.lines: dict[str, float] = {}
        #: The ids of the requests that are written out where they are drawn.
        self.written: set[str] = set()

    def span(self, one: RequestCard) -> tuple[float, float]:
        """Where a request begins and ends, in pixels; what has no answer yet goes on."""
        begin = self.time.x(one.asked)
        at = self.time.scale if one.answered is None else one.answered
        return begin, max(self.time.x(at), begin + 6)

    def draw(self, y: float) -> float:
        """Draw them; returns where they end."""
        canvas, ends, key = self.canvas, dict[str, float](), " ".join(self.names)
        self.lines = {name: y + _ABOVE + _APART * place for place, name in enumerate(self.names)}
        for number, one in self.requests:
            if (one.request.kind, one.request.state) == ("shutdown", "approved"):
                ends[one.request.to] = one.answered or 0.0
            else:  # there may be another agent with this name
                ends.pop(one.request.to, None)
            self.area(number, one)
        for name, y in self.lines.items():
            mark, left = _colour(self.state, name), self.time.left
            canvas.text(f"name {name} of {key}", 2, y + 4, name, "b", mark, width=left - 12)
            reach = self.time.x(ends.get(name, self.time.scale)) - left
            canvas.edge(f"life {name} of {key}", f"M0 0H{reach:.1f}", mark, x=left, y=y)
        for _, one in self.requests:
            self.arrows(one)
        for name, at in ends.items():
            x, y, mark = self.time.x(at), self.lines[name], _colour(self.state, name)
            canvas.edge(f"end {name} of {key}", *folk.end_of(False, mark), x=x, y=y)
            if canvas.width - x > 86:
                canvas.text(f"leaves {name} of {key}", x + 11, y + 4, "shuts down", "q")
        return max(self.lines.values()) + 22

    def area(self, number: int, one: RequestCard) -> None:
        """What lies between question and answer."""
        (x, end), id = self.span(one), one.request.id
        top, low = min(self.lines.values()), max(self.lines.values())
        says, style = f"request {id} is {_word(one.request.state)}", "p" if one.back else "p d"
        mark = one.mark.key
        self.canvas.bar(f"area {id}", x, top, end - x, low - top, mark, style, says=says, pair=id)
        starts = [self.span(other)[0] for _, other in self.requests]
        room = min([at for at in starts if at >= end], default=self.time.x(self.time.scale)) - 8
        lines = wrapped(one.answer, room - end - 10, most=4) if room - end > 70 else []
        asks = text_width(one.question) < room - x
        if not lines or lines[-1].endswith("…") or not asks:
            self.canvas.text(f"number {id}", (x + end) / 2, top - 8, f"{number}", "q c", width=40)
            return
        self.written.add(id)
        self.canvas.text(f"asks {id}", x, top - 8, one.question, "q")
        y = (top + low) / 2 + 12 - 8 * len(lines)
        self.canvas.rows(f"answer {id}", end + 10, y, lines, "", mark)

    def arrows(self, one: RequestCard) -> None:
        """The question, and the answer, if there is one."""
        request, (x, end) = one.request, self.span(one)
        asker = _colour(self.state, request.sender)
        self.arrow(f"asks {request.id}", x, request.sender, asker, one.asked, one.question)
        if one.back and one.answered is not None:
            key = f"answers {request.id}"
            self.arrow(key, end, request.to, one.mark.key, one.answered, one.answer)

    def arrow(self, key: str, x: float, who: str, mark: str, at: float, said: str) -> None:
        """An arrow from an agent's lifeline to the other one."""
        y = self.lines[who]
        reach = sum(self.lines.values()) - 2 * y
        head = 7 if reach > 0 else -7
        path = f"M0 0V{reach:.1f}m-4 {-head}l4 {head}l4 {-head}"
        says, pair = f"{duration(at)}: {said}", key.split()[-1]
        self.canvas.edge(f"arrow {key}", path, mark, "w", x=x, y=y, says=says, pair=pair)
