"""Traffic: a sequence diagram of the team's messages, and which of them have been read.

Each agent has a column that begins where it joins, and time runs downwards. An arrow is dashed
until its message is read; then a tick stands at its end.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from learnkit.core import vocabulary
from learnkit.core.events import Event
from learnkit.core.sentences import ended
from learnkit.core.text import count, listed, one_line, quoted
from learnkit.views import people as folk
from learnkit.views.drawing import static, theme
from learnkit.views.drawing.base import Diagram
from learnkit.views.drawing.display import Canvas, text_width, wrapped
from learnkit.views.drawing.time_axis import duration
from learnkit.views.people import People

#: Height of a line with its text in one row, of each further row, and of the head of a column, in
#: pixels; the least room beside a lifeline that a text is kept in.
_LINE, _ROW, _HEAD, _LEAST = 34, 14, 38, 60

_ASKS = {
    "shutdown_request": "shut down?",
    "shutdown_response": "shutdown",
    "plan_approval_response": "plan",
}


@dataclass(frozen=True, slots=True)
class TrafficLine:
    """One line of the diagram: a message, an agent that joins, or one that shuts down.

    Attributes:
        key: the key of its shapes.
        at: the time in seconds.
        sender: the agent that writes; nobody if an agent joins or shuts down.
        to: the recipients, or the agent that joins or shuts down.
        type: the type of the message; ``joins`` or ``ends`` otherwise.
        text: its content; the role of an agent that joins.
        ids: the ids of the messages: several for a broadcast.
        request: the id of the request that it belongs to; empty for none.
        unread: ids of the messages that haven't been read yet.
    """

    key: str
    at: float
    sender: str
    to: tuple[str, ...]
    type: str
    text: str
    ids: tuple[str, ...] = ()
    request: str = ""
    unread: tuple[str, ...] = ()

    @property
    def said(self) -> str:
        """The text on the arrow."""
        if asks := _ASKS.get(self.type):
            return f"{asks} {self.request}: {self.text}".rstrip(" :")
        return self.text or self.type

    @property
    def same(self) -> tuple[str, str, str, float]:
        """What all messages of one broadcast have in common."""
        return self.type, self.sender, self.text, self.at


@dataclass(frozen=True, slots=True)
class State:
    """The agents, and the lines of the diagram."""

    people: People = field(default_factory=dict)
    lines: tuple[TrafficLine, ...] = ()
    sent: int = 0

    @property
    def waiting(self) -> int:
        """How many messages are unread."""
        return sum(len(person.unread) for person in self.people.values())


class Traffic(Diagram[State]):
    """The messages of a team over time."""

    name = "inbox traffic"
    start = State()

    def fold(self, state: State, event: Event) -> State:
        people, lines, sent = folk.grown(state.people, event), state.lines, state.sent
        at = f"{event.seq}", event.time
        match vocabulary.read(event):
            case vocabulary.MailSent(mail=mail):
                lines, sent = _posted(lines, event, mail), sent + 1
            case vocabulary.MailRead(ids=ids):
                lines = tuple(
                    replace(line, unread=tuple(id for id in line.unread if id not in ids))
                    for line in lines
                )
            case (
                vocabulary.TeamSpawned(name=name, role=role)
                | vocabulary.TeamJoined(name=name, role=role)
            ):
                lead = next(iter(people), "")  # who was there first lets the others join
                lines = (*lines, TrafficLine(*at, lead, (name,), "joins", role))
            case vocabulary.TeamStatus(name=name, status="shutdown"):
                lines = (*lines, TrafficLine(*at, "", (name,), "ends", ""))
            case _:  # who works and who is idle isn't shown here
                people = people if people.keys() != state.people.keys() else state.people
        return State(people, lines, sent)

    def finding(self, state: State) -> str:
        if not state.sent:
            return "No message has been sent yet."
        waiting = f"{state.waiting} unread" if state.waiting else "all read"
        if state.sent == 1:
            waiting = "unread" if state.waiting else "read"
        senders = Counter(line.sender for line in state.lines for _ in line.ids)
        shares = listed([f"{number} from {name}" for name, number in senders.items()])
        last = next(line for line in reversed(state.lines) if line.ids)
        ends = f"{last.sender} to {listed(list(last.to))}: {quoted(last.said)}"
        return ended(f"{count(state.sent, 'message')}, {waiting}: {shares}. The last, {ends}.")

    def draw(self, state: State, width: float, rows: int) -> Canvas:
        canvas = Canvas(width)
        people = folk.drawn(state.people)
        left = 46.0
        each = (width - left) / max(1, len(people))
        middle = {one.name: left + each * (n + 0.5) for n, one in enumerate(people)}
        marks = {one.name: theme.agent(n).key for n, one in enumerate(people)}
        shown = state.lines[-rows:]
        joining = {line.to[0]: line for line in shown if line.type == "joins"}
        tops = {}
        y = 8.0
        for person in people:
            if person.name not in joining:
                tops[person.name] = y
        y += _HEAD + 4 if tops else 0
        hidden = len(state.lines) - len(shown)
        y += 20 * canvas.left_out("gone", left, y + 14, hidden, "earlier line")
        places = {}
        texts = {line.key: _said(line, middle, width) for line in shown}
        for line in shown:
            if line.type == "joins":
                tops[line.to[0]] = y
            y += _ROW * max(0, len(texts[line.key].rows) - 1)
            places[line.key] = y
            y += _HEAD + 8 if line.type == "joins" else 22 if line.type == "ends" else _LINE
        ends = {line.to[0]: places[line.key] + 10 for line in shown if line.type == "ends"}
        for person in people:
            x, top = middle[person.name], tops[person.name]
            low = max(ends.get(person.name, y), top + _HEAD)
            over = [places[key] for key, text in texts.items() if text.covers(x)]
            gaps = "".join(f"V{y - top - 1:g}M0 {y - top + 17:g}" for y in over if top < y < low)
            canvas.edge(f"life {person.name}", f"M0 {_HEAD}{gaps}V{low - top:g}", x=x, y=top)
        for person in people:
            lines = (person.name, person.role or " ")
            box = (middle[person.name] - each / 2 + 3, tops[person.name], each - 6, _HEAD)
            says = f"{person.name}, {person.role}" if person.role else person.name
            canvas.box(f"head {person.name}", *box, marks[person.name], lines, says=says)
        for line in shown:
            _draw(canvas, line, middle, marks, places[line.key], each)
            texts[line.key].write(canvas, line.key, places[line.key], marks.get(line.sender, ""))
        legend = "✓: the recipient has read it · dashed arrow: unread"
        for number, row in enumerate(wrapped(legend, width - left, most=2)):
            canvas.text(f"legend {number}", left, y + 16, row, "q")
            y += 16
        canvas.height = y + 10
        return canvas

    def facts(self, state: State, rows: int) -> str:
        body = []
        mails = [line for line in state.lines if line.ids]
        for line in mails:
            read = f"unread: {len(line.unread)}" if line.unread else "read"
            to, text = ", ".join(line.to), one_line(line.text, 60)
            body.append([duration(line.at), line.sender, to, line.type, text, read])
        roster = [[one.name, one.role, one.said] for one in folk.drawn(state.people)]
        head = ["at", "from", "to", "type", "text", "read?"]
        table = static.table(head, body, rows, newest=True)
        return static.table(["who", "role", "state"], roster) + table


def _posted(
    lines: tuple[TrafficLine, ...], event: Event, mail: vocabulary.MailData
) -> tuple[TrafficLine, ...]:
    """The lines after a message; another recipient of the same broadcast joins its line."""
    text, to = mail.content, mail.to
    same = ("broadcast", mail.sender, text, event.time)
    if lines and mail.type == "broadcast" and lines[-1].same == same and to not in lines[-1].to:
        last, ids = lines[-1], (mail.id,)
        more = replace(last, to=(*last.to, to), ids=last.ids + ids, unread=last.unread + ids)
        return (*lines[:-1], more)
    ends = mail.sender, (to,), mail.type, text
    request = mail.request_id or ""
    return (*lines, TrafficLine(f"{event.seq}", event.time, *ends, (mail.id,), request, (mail.id,)))


@dataclass(frozen=True, slots=True)
class _Text:
    """The text on an arrow: where it begins, or ends with style ``e``, and its rows."""

    x: float
    style: str
    rows: tuple[str, ...]

    def covers(self, x: float) -> bool:
        """Whether it is written across a lifeline, which then has a gap."""
        wide = max((text_width(row) for row in self.rows), default=0)
        left = self.x - wide if self.style else self.x
        return left < x < left + wide

    def write(self, canvas: Canvas, key: str, y: float, mark: str) -> None:
        """Write it above its arrow; ``y`` is where its last row begins."""
        for number, row in enumerate(reversed(self.rows)):
            name = f"say {key} {len(self.rows) - number}" if number else f"say {key}"
            canvas.text(name, self.x, y + 12 - _ROW * number, row, self.style, mark)


def _said(line: TrafficLine, middle: dict[str, float], width: float) -> _Text:
    """The text of a line, between its sender's lifeline and the next one that the arrow reaches.

    So it crosses no lifeline. Only if they are too close does it go on across the others.
    """
    begin = middle.get(line.sender)
    ends = [middle[name] for name in line.to if middle.get(name, begin) != begin]
    if line.type in ("joins", "ends") or begin is None or not ends:
        return _Text(0, "", ())
    right = max(ends) > begin
    side = [x for x in middle.values() if (x > begin if right else x < begin)]
    near = min(side, key=lambda x: abs(x - begin))
    room, low = abs(near - begin) - 24, min(begin, near) + 12
    if room >= _LEAST:
        return _Text(low, "", tuple(wrapped(line.said, room)))
    low, high = min([begin, *ends]) + 12, max([begin, *ends]) - 12
    if width - low >= high - 52:
        return _Text(low, "", tuple(wrapped(line.said, width - low, most=1)))
    return _Text(high, "e", tuple(wrapped(line.said, high, most=1)))


def _draw(
    canvas: Canvas,
    line: TrafficLine,
    middle: dict[str, float],
    marks: dict[str, str],
    y: float,
    each: float,
) -> None:
    key = line.key
    canvas.text(
        f"at {key}", 2, y + (14 if line.type == "ends" else 24), duration(line.at), "q", width=44
    )
    begin = middle.get(line.sender)
    spots = [(name, middle[name]) for name in line.to if name in middle]
    mark = marks.get(line.sender, "system")
    if line.type == "ends":
        for name, x in spots:
            canvas.edge(f"end {key}", "M-6 -6L6 6M6 -6L-6 6", marks[name], "w", x=x, y=y + 10)
            side, style = (x + 12, "q") if x + 72 < canvas.width else (x - 12, "qe")
            said = "shut down" if each > 76 else "ended"
            canvas.text(f"ends {key}", side, y + 14, said, style)
        return
    for number, (_, x) in enumerate(spots):
        if begin is None or begin == x:
            continue
        side = 1 if x > begin else -1
        reach = x - begin - side * (each / 2 - 3 if line.type == "joins" else 0)
        unread = line.ids[number : number + 1] and line.ids[number] in line.unread
        style = "d" if unread else ""
        says = f"{duration(line.at)}: {line.sender} to {', '.join(line.to)}: {line.text}"
        arrow = (
            f"M0 0H{reach - side * 8 * bool(line.ids):g}m{-8 * side} -4l{8 * side} 4l{-8 * side} 4"
        )
        pair = " ".join([*line.ids, line.request]).strip()
        canvas.edge(
            f"arrow {key} {number}", arrow, mark, style, x=begin, y=y + 20, says=says, pair=pair
        )
        if line.ids and not unread:
            canvas.dot(f"read {key} {number}", x, y + 20, 7, "done", "✓")
