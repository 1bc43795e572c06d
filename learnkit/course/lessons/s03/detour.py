"""Lesson 3's picture of drift: the beginning of a message array, with a detour marked in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from learnkit.core.events import Event
from learnkit.core.text import blocks_of, listed
from learnkit.views import Messages
from learnkit.views.drawing import display, theme
from learnkit.views.drawing.array import MessageCard
from learnkit.views.drawing.display import Canvas
from learnkit.views.messages import State

#: What distracts the replies of the recording.
DISTRACTION = "-9999"
#: What marks the messages.
NAME = f"{theme.CAUSE.glyph} the detour"
_EDITS = ("edit_file", "write_file")


class Detour(Messages):
    """The message array up to the reply with which a run returns to its task.

    The detour begins with the first reply that speaks of the distraction, and ends before the next
    one that edits a file. Without such a reply, this is the whole array.

    Args:
        events: of the run.
    """

    css = f"{Messages.css} .detour{{border-left:5px solid var(--lk-cause-edge)}}"

    def __init__(self, events: Iterable[Event]) -> None:
        events = list(events)
        array = Messages(events).at().arrays.get("lead")
        cards = array.cards if array else ()
        speaks = (one.index for one in cards if _says(one, DISTRACTION))
        first = next(speaks, len(cards))
        back = (one.index for one in cards[first:] if _edits(one))
        self.messages = range(first, next(back, len(cards)))
        super().__init__(_until(events, self.messages.stop))

    def finding(self, state: State) -> str:
        replies = [str(place // 2 + 1) for place in self.messages if place % 2]
        if not replies or not state.arrays:
            return super().finding(state)
        return (
            f"A detour: replies {listed(replies)} follow a reading of {DISTRACTION}, "
            "and edit no file."
        )

    def frame(self, state: State, width: float = display.WIDE) -> dict[str, str]:
        shown = {}
        inside = {f"lead/{place}" for place in self.messages}
        for key, html in super().frame(state, width).items():
            if key == f"lead/{self.messages.start}" and inside:
                html = f'<div class="line"><span class="label t-cause">{NAME}</span></div>{html}'
            shown[key] = f'<div class="detour">{html}</div>' if key in inside else html
        return shown

    def draw(self, state: State, width: float, rows: int) -> Canvas:
        canvas = super().draw(state, width, rows)
        drawn = [canvas[key] for n in self.messages if (key := f"edge lead {n}") in canvas]
        if drawn:
            top, low = drawn[0].y, drawn[-1].y + drawn[-1].height
            canvas.bar("detour", 2, top, 5, low - top, theme.CAUSE.key)
            canvas.text("the detour", 44, top + 36, NAME, "b", theme.CAUSE.key, width=94)
        return canvas


def _says(card: MessageCard, what: str) -> bool:
    texts = (one for one in blocks_of(card.message["content"]) if one["type"] == "text")
    return card.mark is theme.ASSISTANT and any(what in one["text"] for one in texts)


def _edits(card: MessageCard) -> bool:
    return any(one.get("name") in _EDITS for one in blocks_of(card.message["content"]))


def _until(events: Sequence[Event], message: int) -> list[Event]:
    """The events up to the one that adds a message."""
    shown, added = list[Event](), 0
    for event in events:
        shown.append(event)
        added += event.type == "message.added"
        if added > message:
            break
    return shown
