"""The lines of a sequence diagram: messages, and who has read which."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from learnkit.core.events import Event
from learnkit.views.drawing import theme
from learnkit.views.drawing.text import count


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the diagram: a message, or somebody reading.

    Attributes:
        key: of its fragment.
        at: seconds.
        sender: who writes; empty when somebody reads.
        to: who is written to, or who reads.
        type: of the message.
        text: what it says.
        ids: of the messages: several for a broadcast.
        request: id of the request that it is about.
        unread: ids of those that were not read yet.
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
        """Its colour and glyph."""
        return _MARKS.get(self.type, theme.INJECTED) if self.sender else theme.DONE

    @property
    def said(self) -> str:
        """What stands beside the arrow."""
        if not self.sender:
            few = ", ".join(self.ids) if len(self.ids) < 4 else count(len(self.ids), "message")
            return f"{self.mark.glyph} reads {few}"
        if self.type == "shutdown_request":
            return f"{self.mark.glyph} shut down? {self.request}"
        kind = "" if self.type == "message" else f"{_WORDS.get(self.type, self.type)}: "
        return f"{self.mark.glyph} {kind}{self.text}"

    @property
    def same(self) -> tuple[str, str, str, float]:
        """What several messages of one broadcast have in common."""
        return self.type, self.sender, self.text, self.at

    @property
    def pairs(self) -> str:
        """What it belongs to: its messages, its request."""
        return " ".join([*self.ids, self.request]).strip()


def posted(lines: tuple[Line, ...], event: Event, mail: dict[str, Any]) -> tuple[Line, ...]:
    """The lines with a message more; one more recipient of a broadcast joins its line."""
    fields = {key: str(mail.get(key, "")) for key in ("id", "type", "from", "to", "content")}
    id, type, sender, to, text = fields.values()
    same = ("broadcast", sender, text, event.time)
    if lines and (type, *same[1:]) == same and lines[-1].same == same and to not in lines[-1].to:
        last = lines[-1]
        more = replace(last, to=(*last.to, to), ids=(*last.ids, id), unread=(*last.unread, id))
        return (*lines[:-1], more)
    request = str(mail.get("request_id") or "")
    new = Line(f"{event.seq}", event.time, sender, (to,), type, text, (id,), request, (id,))
    return (*lines, new)


def read(lines: tuple[Line, ...], event: Event) -> tuple[Line, ...]:
    """The lines after somebody has read."""
    named = event.data.get("ids")
    ids = tuple(str(id) for id in named) if isinstance(named, list) else ()
    if not ids:
        return lines
    by = str(event.data.get("by", "?"))
    marked = [
        replace(line, unread=tuple(id for id in line.unread if id not in ids))
        if any(id in ids for id in line.unread)
        else line
        for line in lines
    ]
    return (*marked, Line(f"{event.seq}", event.time, "", (by,), "read", "", ids))


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
