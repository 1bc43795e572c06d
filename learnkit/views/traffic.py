"""Traffic: a sequence diagram of the team's messages, and which of them have been read.

Each agent has a column, and time runs downwards. An arrow is dashed until its message is read. The
head of a column shows the agent's status and its number of unread messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from learnkit.core.events import Event
from learnkit.core.text import count, one_line
from learnkit.views import people as folk
from learnkit.views.drawing import static, theme
from learnkit.views.drawing.base import Drawn, css_beside
from learnkit.views.drawing.static import Picture
from learnkit.views.drawing.text import as_list, esc
from learnkit.views.drawing.time_axis import duration
from learnkit.views.people import People, Person, drawn

#: The most lines that are kept; older ones are only counted.
LINES = 80

_MARKS = {
    "shutdown_request": theme.CALL,
    "shutdown_response": theme.RESULT,
    "plan_approval_response": theme.ASSISTANT,
}
_WORDS = {
    "broadcast": "to all",
    "shutdown_response": "shutdown",
    "plan_approval_response": "plan",
}


@dataclass(frozen=True, slots=True)
class TrafficLine:
    """One line of the diagram: a message, or an agent that reads.

    Attributes:
        key: the key of its fragment.
        at: the time in seconds.
        sender: the agent that writes; empty when an agent reads.
        to: the recipients, or the agent that reads.
        type: the type of the message.
        text: its content.
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
    ids: tuple[str, ...]
    request: str = ""
    unread: tuple[str, ...] = ()

    @property
    def mark(self) -> theme.Mark:
        """Its mark."""
        return _MARKS.get(self.type, theme.INJECTED) if self.sender else theme.DONE

    @property
    def said(self) -> str:
        """The text beside the arrow."""
        if not self.sender:
            few = ", ".join(self.ids) if len(self.ids) < 4 else count(len(self.ids), "message")
            return f"{self.mark.glyph} reads {few}"
        if self.type == "shutdown_request":
            return f"{self.mark.glyph} shut down? {self.request}"
        kind = "" if self.type == "message" else f"{_WORDS.get(self.type, self.type)}: "
        return f"{self.mark.glyph} {kind}{self.text}"

    @property
    def same(self) -> tuple[str, str, str, float]:
        """What all messages of one broadcast have in common."""
        return self.type, self.sender, self.text, self.at

    @property
    def pairs(self) -> str:
        """The ids of its messages and its request, for ``data-pair``."""
        return " ".join([*self.ids, self.request]).strip()


@dataclass(frozen=True, slots=True)
class State(Drawn):
    """The agents, and the lines of the diagram."""

    people: People = field(default_factory=dict)
    lines: tuple[TrafficLine, ...] = ()
    gone: int = 0
    sent: int = 0

    @property
    def said(self) -> str:
        """How many messages were sent, and how many are unread."""
        waiting = sum(len(person.unread) for person in self.people.values())
        return f"{count(self.sent, 'message')} sent, {waiting} unread."


class Traffic(folk.TeamView[State]):
    """The messages of a team over time."""

    name = "inbox traffic"
    css = folk.CSS + css_beside(__file__)
    start = State()

    def fold(self, state: State, event: Event) -> State:
        people, lines, sent = folk.grown(state.people, event), state.lines, state.sent
        if event.type == "mail.sent" and isinstance(event.data.get("mail"), dict):
            lines, sent = _posted(lines, event, event.data["mail"]), sent + 1
        elif event.type == "mail.read":
            lines = _read(lines, event)
        gone = state.gone + max(0, len(lines) - LINES)
        return replace(state, people=people, lines=lines[-LINES:], gone=gone, sent=sent)

    def draw(self, state: State, old: State) -> dict[str, str]:
        there = drawn(state.people)
        places = {one.name: (n + 0.5) / len(there) for n, one in enumerate(there)}
        heads = "".join(folk.head_html(one, _mail_of(one, state.lines[-30:])) for one in there)
        style = f'style="--n:{len(there)}"'
        html = {"heads/all": f'<div class="heads" {style}><i></i><div>{heads}</div></div>'}
        if state.gone:
            html["lines/gone"] = f'<div class="sum">{count(state.gone, "earlier line")}</div>'
        for line in state.lines:
            html[f"lines/{line.key}"] = _row(line, places)
        html["lines/sum"] = f'<div class="sum" data-quiet>{esc(f"{state.said} {_LEGEND}")}</div>'
        return html

    def picture(self, state: State, rows: int) -> Picture:
        picture = Picture(f"{self.line(state)} Every message stands in the table below.")
        there = drawn(state.people)
        left, width = 68.0, static.WIDTH - 84.0
        each = width / max(1, len(there))
        middle = {one.name: left + each * (n + 0.5) for n, one in enumerate(there)}
        for number, person in enumerate(there):
            x = left + each * number
            picture.box(x + 2, 12, each - 6, 48, person.mark.key)
            picture.text(x + 7, 27, folk.tag(person), "b", each - 14, person.mark.key)
            picture.text(x + 7, 41, person.role or " ", "", each - 14, person.mark.key)
            said = folk.unread(person) or person.mark.word
            picture.text(x + 7, 55, said, "", each - 14, person.mark.key)
        y, shown = 66.0, state.lines[-rows:]
        hidden = len(state.lines) + state.gone - len(shown)
        y += picture.left_out(16, y + 12, hidden, "earlier line", 20)
        end = y + sum(34 if line.sender else 20 for line in shown)
        picture.path("".join(f"M{x:.0f} {y:g}V{end:g}" for x in middle.values()))
        for line in shown:
            _arrow(picture, line, middle, y)
            y += 34 if line.sender else 20
        picture.text(16, y + 18, f"{state.said} {_LEGEND}", "q")
        picture.height = y + 30
        return picture

    def facts(self, state: State, rows: int) -> str:
        body = []
        mails = [line for line in state.lines if line.sender]
        for line in mails[-rows:]:
            read = f"unread: {len(line.unread)}" if line.unread else "read"
            to, text = ", ".join(line.to), one_line(line.text, 60)
            body.append([duration(line.at), line.sender, to, line.type, text, read])
        before = static.more(len(mails) - rows, "earlier")
        roster = [[one.name, one.role, one.said] for one in drawn(state.people)]
        head = ["at", "from", "to", "type", "text", "read?"]
        table = static.table(head, body, before=before)
        return static.table(["who", "role", "state"], roster) + table


def _posted(
    lines: tuple[TrafficLine, ...], event: Event, mail: dict[str, Any]
) -> tuple[TrafficLine, ...]:
    """The lines after a message; another recipient of the same broadcast joins its line."""
    fields = {key: str(mail.get(key, "")) for key in ("id", "type", "from", "to", "content")}
    id, type, sender, to, text = fields.values()
    same = ("broadcast", sender, text, event.time)
    if lines and (type, *same[1:]) == same and lines[-1].same == same and to not in lines[-1].to:
        last = lines[-1]
        more = replace(last, to=(*last.to, to), ids=(*last.ids, id), unread=(*last.unread, id))
        return (*lines[:-1], more)
    request = str(mail.get("request_id") or "")
    new = TrafficLine(f"{event.seq}", event.time, sender, (to,), type, text, (id,), request, (id,))
    return (*lines, new)


def _read(lines: tuple[TrafficLine, ...], event: Event) -> tuple[TrafficLine, ...]:
    """The lines after an agent has read."""
    ids = tuple(map(str, as_list(event.data.get("ids"))))
    if not ids:
        return lines
    by = str(event.data.get("by", "?"))
    marked = [
        replace(line, unread=tuple(id for id in line.unread if id not in ids)) for line in lines
    ]
    return (*marked, TrafficLine(f"{event.seq}", event.time, "", (by,), "read", "", ids))


_LEGEND = "Dashed: unread; solid: read."


def _mail_of(person: Person, lines: Sequence[TrafficLine]) -> str:
    """The ids of the messages that an agent has sent, received or read."""
    return " ".join(
        id for line in lines if person.name in (line.sender, *line.to) for id in line.ids
    )


def _row(line: TrafficLine, places: dict[str, float]) -> str:
    spots = [places[name] for name in line.to if name in places]
    begin = places.get(line.sender)
    parts = []
    if begin is None:
        spot = spots[0] if spots else 0.5
        side = f"right:{1 - spot:.1%}" if spot >= 0.8 else f"left:{spot:.1%}"
        place = f"{side};transform:{'translateX(-50%)' if 0.2 < spot < 0.8 else 'none'}"
    else:
        for id, spot in zip(line.ids, spots, strict=False):
            kind = f"{' back' if spot < begin else ''}{' wait' if id in line.unread else ''}"
            length = f"left:{min(begin, spot):.1%};width:{abs(spot - begin):.1%}"
            parts.append(f'<b class="ar t-{line.mark.key}{kind}" style="{length}"></b>')
        low, high = min([begin, *spots]), max([begin, *spots])
        place = (
            f"left:{low:.1%};max-width:{1 - low:.1%}"
            if low < 0.6
            else f"right:{1 - high:.1%};max-width:{high:.1%}"
        )
    parts.append(
        f'<span class="say m-{line.mark.key}" style="{place}">{esc(one_line(line.said, 90))}</span>'
    )
    title = f"{duration(line.at)}: {line.sender or line.to[0]} → {', '.join(line.to)}: {line.text}"
    return (
        f'<div class="ln{"" if line.sender else " read"}" style="--n:{max(1, len(places))}" '
        f'data-pair="{esc(line.pairs)}" title="{esc(one_line(title, 240))}" tabindex="0" '
        f'role="group"><span class="at">{duration(line.at)}</span>'
        f'<div class="lanes">{"".join(parts)}</div></div>'
    )


def _arrow(picture: Picture, line: TrafficLine, middle: dict[str, float], y: float) -> None:
    """Draw one line: 34 pixels, or 20 if an agent reads."""
    picture.text(58, y + 14, duration(line.at), "q e", 50)
    ends = [middle[name] for name in line.to if name in middle]
    key, begin = line.mark.key, middle.get(line.sender)
    if begin is None:
        x = ends[0] if ends else 68.0
        picture.text(min(x + 4, static.WIDTH - 150), y + 14, line.said, "", 140, key)
        return
    for id, end in zip(line.ids, ends, strict=False):
        side = -1 if end > begin else 1
        to, solid = end + 7 * side, f"M{begin:.0f} {y + 10:g}H{end + 7 * side:.0f}"
        picture.path(_dashes(begin, to, y + 10) if id in line.unread else solid, key)
        head = f"M{end:.0f} {y + 10:g}l{8 * side} -4v8z"
        picture.path(head, key)
        picture.areas(head, key)
    low, high = min([begin, *ends]), max([begin, *ends])
    text = one_line(line.said, 90)
    if low < static.WIDTH * 0.55:
        picture.text(low + 5, y + 26, text, "", static.WIDTH - low - 20, key)
    else:
        picture.text(high - 5, y + 26, text, "e", high - 80, key)


def _dashes(begin: float, end: float, y: float) -> str:
    """A dashed line as path data: one dash after another."""
    step = 9 if end > begin else -9
    marks = int(abs(end - begin) // 9)
    return "".join(f"M{begin + n * step:.0f} {y:g}h{step * 5 / 9:.0f}" for n in range(marks + 1))
