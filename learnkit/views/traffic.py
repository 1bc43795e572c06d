"""Traffic: a sequence diagram of the team's messages, and which of them have been read.

Time runs downwards. On the left each agent has a lifeline that begins where it joins and ends where
it shuts down or is lost, and an arrow leads from sender to recipient; beside it, the message is
written out. An arrow is dashed until its message is read; then a tick stands at its end.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from learnkit.events.log import Event
from learnkit.events.loop import ModelPaused
from learnkit.events.mail import MailData, MailRead, MailSent
from learnkit.events.teams import TeamJoined, TeamLost, TeamSpawned, TeamStatus
from learnkit.events.text import count, listed, one_line
from learnkit.events.vocabulary import read
from learnkit.views import people as folk
from learnkit.views.drawing import theme
from learnkit.views.drawing.base import Diagram
from learnkit.views.drawing.display import Canvas, text_width, wrapped
from learnkit.views.drawing.time_axis import duration
from learnkit.views.people import People

#: Height of a row of text, of the room below a line, and of the box with an agent's name; the
#: greatest distance of two lifelines; all in pixels.
_ROW, _GAP, _HEAD, _APART = 16, 8, 24, 96

_ASKS = {
    "shutdown_request": "shut down?",
    "shutdown_response": "shutdown",
    "plan_approval_response": "plan",
}


@dataclass(frozen=True, slots=True)
class TrafficLine:
    """One line of the diagram: a message, an agent that joins, or one that is gone.

    Attributes:
        key: the key of its shapes.
        at: the time in seconds.
        sender: the agent that writes, or that starts another one; empty for nobody.
        to: the recipients, or the agent that joins or is gone.
        type: the type of the message; ``joins``, ``ends`` or ``lost`` otherwise.
        text: its content; the role of an agent that joins; why one is lost.
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
    def title(self) -> str:
        """Who does what to whom, in a few words."""
        who = listed(list(self.to))
        if self.type == "joins":
            return f"{self.sender} starts {who}" if self.sender else f"{who} joins"
        gone = {"ends": "shuts down", "lost": "is lost"}.get(self.type)
        return f"{who} {gone}" if gone else f"{self.sender} to {who}"

    @property
    def said(self) -> str:
        """The text below the title."""
        if asks := _ASKS.get(self.type):
            return f"{asks} {self.request}: {self.text}".rstrip(" :")
        return self.text or (self.type if self.ids else "")


@dataclass(frozen=True, slots=True)
class State:
    """The agents, the lines of the diagram, and who waits for your reply; empty for nobody."""

    people: People = field(default_factory=dict)
    lines: tuple[TrafficLine, ...] = ()
    waits: str = ""


class Traffic(Diagram[State]):
    """The messages of a team over time."""

    name = "inbox traffic"
    start = State()

    def fold(self, state: State, event: Event) -> State:
        if state.waits:  # what follows is the run's end, until it runs again with your reply
            return state
        people, lines = folk.grown(state.people, event), state.lines
        at = f"{event.seq}", event.time
        match read(event):
            case MailSent(mail=mail):
                lines = _posted(lines, event, mail)
            case MailRead(ids=ids):
                lines = tuple(
                    replace(line, unread=tuple(id for id in line.unread if id not in ids))
                    for line in lines
                )
            case TeamSpawned(name=name, role=role):
                lead = next(iter(people), "")  # who was there first starts the others
                lines = (*lines, TrafficLine(*at, lead, (name,), "joins", role))
            case TeamJoined(name=name, role=role, where=where):
                what = f"{role} on {where}" if where else role
                lines = (*lines, TrafficLine(*at, "", (name,), "joins", what))
            case TeamStatus(name=name, status="shutdown"):
                lines = (*lines, TrafficLine(*at, "", (name,), "ends", ""))
            case TeamLost(name=name, seconds=silent) if name in people:
                why = f"not heard from for {duration(silent)}"
                lines = (*lines, TrafficLine(*at, "", (name,), "lost", why))
            case ModelPaused(waits=waits):
                return replace(state, waits=waits)
            case _:  # who works and who is idle isn't shown here
                people = people if people.keys() != state.people.keys() else state.people
        return State(people, lines)

    def says(self, state: State) -> list[str]:
        waits = [f"{one_line(state.waits, 40)} waits for your reply."] if state.waits else []
        mails = [line for line in state.lines if line.ids]
        if not mails:
            return [*waits, "No message has been sent yet."]
        unread = [one.name for one in state.people.values() if one.unread]
        does = f"{_listed(unread)} {'have' if unread[1:] else 'has'} unread mail" if unread else ""
        senders = list(dict.fromkeys(line.sender for line in mails))
        whom = list(dict.fromkeys(to for line in mails for to in line.to))
        both = {line.sender for line in mails if {*line.to} & {*senders} - {line.sender}}
        if senders[1:] and both == {*senders}:  # each of them writes to another one
            whom = ["each other", *(f"to {one}" for one in whom if one not in senders)]
        said = f"{_listed(senders)} write{'s' * (not senders[1:])} to {_listed(whom)}"
        sent = count(sum(len(line.ids) for line in mails), "message")
        return [*waits, f"{said}; {does or 'all is read'}.", f"{sent}."]

    def draw(self, state: State, width: float, rows: int) -> Canvas:
        canvas, people = Canvas(width), folk.drawn(state.people)
        each = min(_APART, 0.47 * width / max(1, len(people)))
        left = each * len(people) + 8
        middle = {one.name: each * (n + 0.5) for n, one in enumerate(people)}
        marks = {one.name: theme.agent(n).key for n, one in enumerate(people)}
        shown = state.lines[-rows:]
        coming = {line.to[0] for line in shown if line.type == "joins"}
        here = [one.name for one in people if one.name not in coming]
        y = 4.0 + (_HEAD + _GAP if here else 0)
        hidden = len(state.lines) - len(shown)
        y += 20 * canvas.left_out("gone", left, y + 12, hidden, "earlier line")
        # Lifelines lie below everything, but only what follows tells where they end.
        tops, ends = dict.fromkeys(here, 4.0), dict[str, float]()
        places = {}
        for line in shown:
            places[line.key] = y
            name = line.to[0]
            if line.type == "joins":
                tops.setdefault(name, y - 4)
                ends.pop(name, None)
            elif not line.ids:
                ends[name] = y + 8
            y += _GAP + _ROW * (1 + len(_texts(line, width - left)))
        for name, top in tops.items():
            path = f"M0 {_HEAD}V{ends.get(name, y) - top:g}"
            canvas.edge(f"life {name}", path, x=middle[name], y=top)
        for person in people:
            x, top, mark = middle[person.name], tops[person.name], marks[person.name]
            says = f"{person.name}, {person.role}" if person.role else person.name
            place = (x - each / 2 + 2, top, each - 4, _HEAD)
            canvas.box(f"head {person.name}", *place, mark, says=says)
            if each > 28:
                name = person.name
                canvas.text(f"name {name}", x, top + 16, name, "bcn", mark, width=each - 6)
        for line in shown:
            _draw(canvas, line, middle, marks, places[line.key], left, each)
        if any(line.ids for line in state.lines):
            canvas.text("legend", 2, y + 14, "✓ read · ○ unread, in the inbox", "q")
            y += 14
        canvas.height = y + 10
        return canvas


def _listed(names: list[str]) -> str:
    return listed(names) if len(names) < 3 else f"{len(names)} agents"


def _posted(
    lines: tuple[TrafficLine, ...], event: Event, mail: MailData
) -> tuple[TrafficLine, ...]:
    """The lines after a message; another recipient of the same broadcast joins its line."""
    what, ids = (mail.type, mail.sender, mail.content, event.time), (mail.id,)
    last = lines[-1] if lines and mail.type == "broadcast" else None
    if last and what == (last.type, last.sender, last.text, last.at) and mail.to not in last.to:
        more = replace(last, to=(*last.to, mail.to), ids=last.ids + ids, unread=last.unread + ids)
        return (*lines[:-1], more)
    ends = mail.sender, (mail.to,), mail.type, mail.content, ids, mail.request_id or "", ids
    return (*lines, TrafficLine(f"{event.seq}", event.time, *ends))


def _texts(line: TrafficLine, room: float) -> list[str]:
    """What stands below a line's title, in rows."""
    return wrapped(line.said, room, most=3 if room > 250 else 6)


def _draw(
    canvas: Canvas,
    line: TrafficLine,
    middle: dict[str, float],
    marks: dict[str, str],
    y: float,
    left: float,
    each: float,
) -> None:
    """An arrow, or the end of a lifeline; and beside it what happened, and when."""
    key, begin, at = line.key, middle.get(line.sender), duration(line.at)
    mark = marks.get(line.sender or line.to[0], "system")
    room = canvas.width - left - text_width(at) - 8
    canvas.text(f"who {key}", left, y + 12, line.title, "b", mark, width=room)
    canvas.text(f"at {key}", canvas.width - 2, y + 12, at, "qe")
    canvas.rows(f"say {key}", left, y + 12 + _ROW, _texts(line, canvas.width - left))
    for number, name in enumerate(line.to):
        if name not in middle:
            continue
        x, unread = middle[name], line.ids[number : number + 1] and line.ids[number] in line.unread
        if line.type in ("ends", "lost"):
            canvas.edge(f"end {key}", *folk.end_of(line.type == "lost", mark), x=x, y=y + 8)
        if begin is None or begin == x:
            continue
        side = 1 if x > begin else -1
        short = 8 if line.ids else each / 2 - 2
        reach = x - begin - side * short
        arrow = f"M0 0H{reach:g}m{-6 * side} -4l{6 * side} 4l{-6 * side} 4"
        says = f"{at}: {line.title}: {line.text}"
        pair, style = " ".join([*line.ids, line.request]).strip(), "d" if unread else ""
        place = {"x": begin, "y": y + 8}
        canvas.edge(f"arrow {key} {number}", arrow, mark, style, **place, says=says, pair=pair)
        if unread:
            canvas.dot(f"unread {key} {number}", x, y + 8, 7, "pending", style="cg")
        elif line.ids:
            canvas.dot(f"read {key} {number}", x, y + 8, 7, "done", "✓")
