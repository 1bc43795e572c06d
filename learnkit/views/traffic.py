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
from learnkit.core.text import count, listed, one_line
from learnkit.views import people as folk
from learnkit.views.drawing import static, theme
from learnkit.views.drawing.base import Diagram
from learnkit.views.drawing.display import Canvas
from learnkit.views.drawing.time_axis import duration
from learnkit.views.people import People

#: Height of a line, and of the head of a column, in pixels.
_LINE, _HEAD = 34, 38

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
        return ended(f"{count(state.sent, 'message')}, {waiting}: {shares}.")

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
        for line in shown:
            if line.type == "joins":
                tops[line.to[0]] = y
            places[line.key] = y
            y += _HEAD + 8 if line.type == "joins" else 22 if line.type == "ends" else _LINE
        ends = {line.to[0]: places[line.key] + 10 for line in shown if line.type == "ends"}
        for person in people:
            x, top = middle[person.name], tops[person.name]
            low = max(ends.get(person.name, y), top + _HEAD)
            canvas.edge(f"life {person.name}", f"M0 {_HEAD}V{low - top:g}", x=x, y=top)
        for person in people:
            lines = (person.name, person.role or " ")
            box = (middle[person.name] - each / 2 + 3, tops[person.name], each - 6, _HEAD)
            says = f"{person.name}, {person.role}" if person.role else person.name
            canvas.box(f"head {person.name}", *box, marks[person.name], lines, says=says)
        for line in shown:
            _draw(canvas, line, middle, marks, places[line.key], each)
        legend = "✓: the recipient has read it · dashed arrow: unread"
        canvas.text("legend", left, y + 16, legend, "q")
        canvas.height = y + 26
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
            room, fits = each / 2 + 40, x + 72 < canvas.width
            side, style = (x + 12, "q") if fits else (x - 12, "qe")
            canvas.text(f"ends {key}", side, y + 14, "shut down", style, width=room)
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
    if line.type == "joins" or begin is None or not spots:
        return
    low = min([begin, *(x for _, x in spots)])
    high = max([begin, *(x for _, x in spots)])
    if canvas.width - low >= high - 40:
        canvas.text(f"say {key}", low + 12, y + 12, line.said, "", mark)
    else:
        canvas.text(f"say {key}", high - 12, y + 12, line.said, "e", mark)
