"""The message array that is sent to the model, with one card for each message.

Read this view first: an agent is this array and a loop. Calls are paired with their results, each
message shows its length in tokens on a common scale, and text injected by the harness is marked, so
that it can't be mistaken for the user's.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from learnkit.core.events import Event
from learnkit.core.sentences import ended
from learnkit.core.text import clean, columns, count, listed, one_line, quoted
from learnkit.views.drawing import blocks, static, theme
from learnkit.views.drawing.array import Array, grow
from learnkit.views.drawing.base import Drawn, DrawnView, css_beside
from learnkit.views.drawing.static import Picture
from learnkit.views.drawing.text import esc
from learnkit.views.words import describe

#: Lengths that the scale can show at most, in tokens.
SCALES: list[int] = [step * 10**power for power in range(1, 8) for step in (1, 2, 5)][3:]
#: Length of a full bar, in pixels.
BAR = 112
#: In the static picture, in pixels: room for the number beside a bar, and where content starts.
LABEL, WHAT = 56, 146
#: The most lines of one message in the static picture.
MOST = 4


@dataclass(frozen=True, slots=True)
class State(Drawn):
    """The arrays that are shown, by agent."""

    arrays: dict[str, Array] = field(default_factory=dict)

    @property
    def scale(self) -> int:
        """The tokens that a full bar represents; it grows in steps, so that bars rarely change."""
        return scale_for(max((array.longest for array in self.arrays.values()), default=0))


class Messages(DrawnView[State]):
    """The live message array of one agent, or of every agent in the log, side by side."""

    name = "message array"
    css = css_beside(__file__)
    start = State()

    def fold(self, state: State, event: Event) -> State:
        array = state.arrays.get(event.lane) or Array(event.lane)
        grown = grow(array, event)
        if grown is array:
            return state
        return replace(state, arrays={**state.arrays, event.lane: grown})

    def sentence(self, state: State, event: Event) -> str:
        said = _said(state.arrays.get(event.lane) or Array(event.lane), event)
        alone = not state.arrays.keys() - {event.lane}
        return said if alone else f"{one_line(event.lane, 40)}: {said}"

    def draw(self, state: State, old: State) -> dict[str, str]:
        shown = {"ruler": ruler(state.scale, '<span class="note">≈ tokens: characters / 4</span>')}
        for raw, array in state.arrays.items():
            lane = clean(raw)
            shown[f"{lane}/summary"] = _summary(array)
            if array.system:
                shown[f"{lane}/system"] = array.system
            shown |= {f"{lane}/{place}": card.html for place, card in enumerate(array.cards)}
        return shown

    def frame(self, state: State) -> dict[str, str]:
        return state.html or self.draw(state, state)

    def line(self, state: State) -> str:
        sizes = [f"{one_line(lane, 40)} {array.size}" for lane, array in state.arrays.items()]
        return f"{self.name}: {'; '.join([*sizes, state.head])}"

    def picture(self, state: State, rows: int) -> Picture:
        picture = Picture(f"{self.line(state)} Every line of it stands in the table below.")
        ruler = static.WIDTH - 16 - LABEL - BAR
        picture.text(ruler - 8, 26, f"{state.scale:,} tokens", "q e")
        picture.path(f"M{ruler}.5 20v5h{BAR - 1}v-5")
        y = 26.0
        for lane, array in state.arrays.items():
            picture.text(16, y, f"{lane}: {array.size}", "b", 440)
            y = _draw(picture, array, y + 14, rows // len(state.arrays), state.scale) + 30
        picture.height = max(y - 22, 40)
        return picture

    def facts(self, state: State, rows: int) -> str:
        head, tables = ["#", "role", "block", "content", "≈ tokens"], ""
        for lane, array in state.arrays.items():
            room = rows // len(state.arrays)
            tables += f"<p>{esc(one_line(lane, 40))}: {array.size} (≈: characters / 4)</p>"
            tables += static.table(head, block_rows(array, room, 30 + 3 * room))
        return tables or "<p>empty</p>"


def _summary(array: Array) -> str:
    waiting = f" · {theme.ACTIVE.glyph} the model has the array" if array.waiting else ""
    return f'<div class="sum" data-quiet>{esc(array.lane)} <span>{array.size}{waiting}</span></div>'


def scale_for(longest: int) -> int:
    """The tokens that a full bar represents, so that the longest part fits.

    Args:
        longest: tokens of the longest part.
    """
    return next((one for one in SCALES if one >= longest), SCALES[-1])


def ruler(scale: int, left: str) -> str:
    """The fragment that sets the scale of a page, and shows it.

    Args:
        scale: tokens that a full bar represents.
        left: HTML to show beside the scale.
    """
    return (
        f'<div class="line" data-quiet><style>:host{{--lk-unit:{BAR / scale:.6g}px}}</style>'
        f'{left}<span class="tokens ruler">{scale:,} tokens<i></i><b></b></span></div>'
    )


def _said(array: Array, event: Event) -> str:
    """The header sentence, with details that only the array has."""
    if event.type == "model.requested":
        turn, size = event.data.get("turn", "?"), count(len(array.cards), "message")
        return f"Turn {turn}: the model gets {size}, ≈ {array.tokens:,} tokens."
    if event.type != "message.added" or not array.cards:
        return describe(event)
    card = array.cards[-1]
    lines = blocks.lines(card.message, card.injected)
    if card.injected:
        return ended(f"The harness injects message {card.index}: {quoted(lines[0].text)}.")
    marks = [line.mark for line in lines]
    if marks[0] in (theme.RESULT, theme.ERROR) and marks.count(marks[0]) == len(marks):
        names = listed([array.calls.get(line.pair, ("a call", None))[0] for line in lines])
        what = count(len(lines), "error") if marks[0] is theme.ERROR else ""
        several = "the results of" if len(lines) > 1 else "the result of"
        return f"Message {card.index} brings back {f'{what} from' if what else several} {names}."
    return describe(event)


def _draw(picture: Picture, array: Array, top: float, rows: int, scale: int) -> float:
    """Draw an array below ``top``; return where it ends."""
    shown = [(card, blocks.lines(card.message, card.injected)) for card in array.cards]
    costs = [min(len(lines), MOST) for _, lines in shown]
    ends: dict[str, float] = {}
    y, joints = top, 0
    right = static.WIDTH - 16 - LABEL - BAR
    for one in static.cut(shown, rows, costs):
        if isinstance(one, static.Gap):
            picture.text(WHAT, y + 18, f"… {count(one.hidden, 'message')} left out …", "q")
            y += 28
            continue
        card, lines = one
        cut = lines[: MOST - 1] if len(lines) > MOST else lines
        height = 22 * min(len(lines), MOST) - 2
        picture.bar(44, y + 3, 3, height, card.mark.key)
        picture.text(36, y + 18, str(card.index), "m q e", 24)
        picture.text(56, y + 18, card.mark.label, "", 0, card.mark.key)
        picture.bar(right, y + 10, max(card.tokens * BAR / scale, 1), 6, "system")
        picture.text(static.WIDTH - 16, y + 18, f"≈ {card.tokens:,}", "q e", LABEL)
        for line in cut:
            key = line.mark.key if line.mark else ""
            if line.mark and line.mark is not card.mark:
                picture.box(WHAT - 6, y + 3, right - WHAT - 26, 20, key)
                picture.text(WHAT, y + 18, line.mark.label, "", 0, key)
                x = WHAT + 76.0
                if line.name:
                    picture.text(x, y + 18, line.name, "m b", 170)
                    x += (min(columns(line.name), 23) + 1) * static.COLUMN
                picture.text(x, y + 18, line.text, "m", right - x - 36)
            else:
                picture.text(WHAT, y + 18, line.text, "", right - WHAT - 36)
            if line.pair in ends:
                x, up, slot = right - 28.5, ends.pop(line.pair), 5 + joints % 3 * 4
                picture.path(f"M{x:g} {up:g}h{slot}V{y + 13:g}h-{slot}", "call")
                joints += 1
            elif line.mark is theme.CALL:
                ends[line.pair] = y + 13
            y += 22
        if len(cut) < len(lines):
            picture.text(WHAT, y + 18, f"… {count(len(lines) - len(cut), 'more block')} …", "q")
            y += 22
        y += 6
    return y


def block_rows(array: Array, rows: int, width: int, plain: str = "") -> list[list[object]]:
    """The cells of a table with a row a block: index, role, kind, content and tokens.

    Index, role and tokens are in the first row of each message.

    Args:
        array: the messages.
        rows: about how many rows there may be; what doesn't fit is left out in the middle.
        width: columns of the content.
        plain: the kind of a block whose role says it all.
    """
    shown = [(card, blocks.lines(card.message, card.injected)) for card in array.cards]
    body: list[list[object]] = []
    for one in static.cut(shown, rows, [len(lines) for _, lines in shown]):
        if isinstance(one, static.Gap):
            body.append(["…", "", "", f"{count(one.hidden, 'message')} left out", ""])
            continue
        card, lines = one
        for place, line in enumerate(lines):
            kind = line.mark.label if line.mark and line.mark is not card.mark else plain
            first = (card.index, card.mark.label, card.tokens) if place == 0 else ("", "", "")
            index, role, size = first
            body.append([index, role, kind, one_line(str(line), width), size])
    return body
