"""Lesson 3's picture of drift: the part of a message array in which a run leaves its task."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from learnkit.events.log import Event
from learnkit.events.text import blocks_of, listed
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
    """A run's first message, its detour, and the reply with which it returns to its task.

    The detour begins with the first reply that speaks of the distraction, and ends before the next
    one that edits a file. Without such a reply, this is the whole array.
    """

    css = (
        f"{Messages.css} .detour{{border-left:5px solid var(--lk-cause-edge)}}"
        # The reply to look for is the last one: the whole picture is shown, without a scroll bar.
        ".picture:has(.detour){max-height:none}"
        ".detour>.line{padding-left:8px}"
    )

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
        whole, first = super().frame(state, width), self.messages.start
        if not self.messages:
            return whole
        shown = {key: html for key, html in whole.items() if key == "lead/0"}
        if f"lead/{first}" in whole:
            shown["lead/left out"] = f'<div class="note">… messages 1 to {first - 1} …</div>'
            name = f'<div class="line"><span class="label t-cause">{NAME}</span></div>'
            for place in self.messages:
                if html := whole.get(f"lead/{place}"):
                    above = name if place == first else ""
                    shown[f"lead/{place}"] = f'<div class="detour">{above}{html}</div>'
        back = f"lead/{self.messages.stop}"
        return shown | {key: html for key, html in whole.items() if key == back}

    def draw(self, state: State, width: float, rows: int) -> Canvas:
        canvas = super().draw(self._part(state), width, rows)
        drawn = [canvas[key] for n in self.messages if (key := f"edge lead {n}") in canvas]
        if drawn:
            top, low = drawn[0].y, drawn[-1].y + drawn[-1].height
            canvas.bar("detour", 2, top, 5, low - top, theme.CAUSE.key)
            canvas.text("the detour", 44, top + 36, NAME, "b", theme.CAUSE.key, width=94)
        return canvas

    def facts(self, state: State, rows: int) -> str:
        return super().facts(self._part(state), rows)

    def _part(self, state: State) -> State:
        """The state with only the messages that are shown, and no requests."""
        if not self.messages or not state.arrays:
            return state
        whole = state.arrays["lead"]
        cards = (*whole.cards[:1], *whole.cards[self.messages.start :])
        tokens = sum(one.tokens for one in cards)
        part = replace(whole, cards=cards, tokens=tokens, requests=(), system_tokens=0)
        return State({"lead": part})


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
